internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// How a grant comes to its end.
struct GrantEnding {
  /// `user`, `app`, `quota`, `reference`, `removed`, `lifetime`.
  let how: String
  let rule: String
  let reason: String
  /// Active scopes end as well; otherwise what is started stays so until it is stopped.
  var endsScopes = true
}

/// A grant that has ended, and what that left.
struct EndedGrant {
  let grant: Grant
  var scopes = 0
  var outlived: [Hold] = []
  var killed = false
}

/// What an app may still have of a document that was taken away.
struct Held {
  /// Of which it has something, or in which others lie.
  var mount: BusyMount?
  /// It may have something of the very file by the mount of another launch.
  var isElsewhere = false
}

/// The end of grants: at once, everywhere, and with everything that was made from them.
extension Broker {
  /// Ends grants, and those that were made from them. Nothing has ended if this throws: it only does where it cannot be read what was
  /// made from them. What cannot be written down ends all the same (`AUD-12`).
  @discardableResult
  func end(_ given: [Grant], _ ending: GrantEnding) throws -> [EndedGrant] {
    let all = given + (try grants.descendants(of: given.map(\.id)))
    guard !all.isEmpty else { return [] }
    keep(
      all.enumerated().map { index, grant in
        event(
          .revoke, about: grant, how: ending.how, rule: ending.rule,
          reason: index < given.count ? ending.reason : "\(ending.reason): of what it was made from")
      })
    grants.withdraw(all.map(\.id), at: Clock.realtime())
    FaultPoint.grantsRevoked.pass()
    var ended: [EndedGrant] = []
    for grant in all {
      pinned.remove(grant.id)
      leaveCatalog(grant.id)
      var result = EndedGrant(grant: grant)
      if ending.endsScopes { endScopes(of: grant, ending, in: Array(instances.values), &result) }
      ended.append(result)
    }
    removeReferences(to: all)
    return ended
  }

  /// - Parameter some: running apps; those of them that have started it lose it.
  func endScopes(of grant: Grant, _ ending: GrantEnding, in some: [Instance], _ result: inout EndedGrant) {
    for instance in some where instance.owners.isActive(grant.id) {
      let document = instance.shown[grant.id]
      do {
        let held = try hide(grant.id, instance, atOnce: true)
        for owned in instance.owners.end(grant.id) {
          result.scopes += 1
          keep([
            event(
              .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.withdrawn, rule: ending.rule,
              reason: ending.reason,
              detail: facts(of: owned.holder, instance.number(of: owned.process)))
          ])
        }
        let left = outlived(held, document, grant, instance)
        result.outlived += left.holds
        if left.killed { result.killed = true }
      } catch {
        cannotHide(grant, instance, .scopeEnded, error)
        result.killed = true
      }
    }
  }

  /// An event about a grant, whoever of its app is running.
  func event(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result = .allowed, about grant: Grant, how: String, rule: String,
    reason: String, detail: [String: String] = [:]
  ) -> AuditEvent {
    AuditEvent(
      kind, result, app: grant.bundleIdentifier, grant: grant.id, document: Self.document(grant, nil), how: how,
      rule: rule, reason: reason, detail: detail)
  }
}
