internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess

/// The end of grants: at once, everywhere, and with everything that was made from them. Also by themselves: when their time is up, or
/// with the launch that they were made in.
@BrokerLoop
final class GrantRevoker: LoopMember {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let scopes: ActiveScopes
  private let locator: DocumentLocator
  private let references: ReferenceFiles
  private let sidecars: SidecarKeeper
  private let clock: any LoopClock
  private let events: AppEvents
  /// Before this, in nanoseconds of CLOCK_MONOTONIC, grants that could not be ended are not tried again.
  private var endsAgain: Int64 = 0

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ scopes: ActiveScopes,
    _ locator: DocumentLocator, _ references: ReferenceFiles, _ sidecars: SidecarKeeper, _ clock: any LoopClock,
    _ events: AppEvents
  ) {
    (self.grants, self.trail, self.sessions, self.scopes) = (grants, trail, sessions, scopes)
    (self.locator, self.references, self.sidecars, self.clock) = (locator, references, sidecars, clock)
    self.events = events
  }

  /// Ends grants, and those that were made from them. Nothing has ended if this throws: it only does where the grants that were
  /// made from them cannot be read. A grant whose end cannot be written down ends all the same (`AUD-12`).
  ///
  /// - Parameter time: for the searches of all of them: an app may have thousands started.
  @discardableResult
  func end(
    _ given: [Grant], _ ending: GrantEnding, within time: SearchTime = SearchTime()
  ) throws -> [EndedGrant] {
    let all = given + (try grants.descendants(of: given.map(\.id)))
    guard !all.isEmpty else { return [] }
    trail.keep(
      all.enumerated().map { index, grant in
        AuditEvent(
          .revoke, about: grant, how: ending.how, rule: ending.rule,
          reason: index < given.count ? ending.reason : "\(ending.reason): of what it was made from")
      })
    grants.withdraw(all.map(\.id), at: clock.realtime)
    FaultPoint.grantsRevoked.pass()
    var ended: [EndedGrant] = []
    for grant in all {
      locator.unpin(grant.id)
      var result = EndedGrant(grant: grant)
      if ending.endsScopes {
        scopes.endScopes(of: grant, ending, in: Array(sessions.instances.values), &result, within: time)
      }
      events.tell(sessions.instances.values, endOf: grant, cause: ending.how)
      ended.append(result)
    }
    references.remove(of: all)
    return ended
  }

  /// Waits until nothing is left of grants that have ended: their references are removed, and the files that belong to their
  /// documents are beside them.
  func settled(_ ended: [EndedGrant]) async throws(CancellationError) {
    let ids = Set(ended.map(\.grant.id))
    try await references.settled(ids)
    try await sidecars.settled(grants: ids)
  }

  // MARK: By themselves

  /// Nanoseconds of CLOCK_REALTIME until something ends; `nil`: nothing will.
  private func nextEnd() -> Int64? {
    var next = (try? grants.nextEnd()) ?? nil
    for instance in sessions.instances.values {
      for end in instance.scopes.ends.values { next = min(next ?? end, end) }
    }
    return next
  }

  /// Ends the due grants. One that cannot be ended now, because that cannot be written down, is tried again;
  /// nor can it be started then.
  func endDue() {
    let now = clock.realtime
    guard clock.monotonic >= endsAgain, let next = nextEnd(), next <= now else { return }
    let time = SearchTime()
    if let due = try? grants.due(at: now), !due.isEmpty {
      for grant in due {
        let ending = GrantEnding(
          how: Self.lifetime, rule: "AUD-1", reason: "its time was up at \(Instance.rfc3339(grant.term.until ?? now))")
        // With one that it was made from it may have ended already.
        guard (try? grants.grant(grant.id))??.revoked == .some(nil) else { continue }
        do { try end([grant], ending, within: time) } catch { endsAgain = clock.monotonic + 1_000_000_000 }
      }
    }
    for instance in sessions.instances.values {
      for (id, end) in instance.scopes.ends where end <= now {
        instance.scopes.ends[id] = nil
        guard instance.scopes.owners.isActive(id), let grant = try? grants.grant(id) else { continue }
        var result = EndedGrant(grant: grant)
        scopes.endScopes(
          of: grant, GrantEnding(how: Self.lifetime, rule: "AUD-1", reason: "the policy allows it no longer"),
          in: [instance], &result, within: time)
      }
    }
  }

  /// Ends the grants for launches that are over.
  ///
  /// - Parameters:
  ///   - launches: these; `nil`: all that are not known to run.
  ///   - unsettled: launches that may still be handed over.
  ///   - time: for the searches of all of them.
  func endLaunches(
    _ launches: [String]? = nil, besides unsettled: Set<String> = [], within time: SearchTime = SearchTime()
  ) {
    guard let all = try? grants.launches() else { return }
    for launch in launches ?? Array(all)
    where all.contains(launch) && (launches != nil || sessions.instances[launch] == nil && !unsettled.contains(launch))
    {
      guard let due = try? grants.grants(ofLaunch: launch), !due.isEmpty else { continue }
      _ = try? end(
        due, GrantEnding(how: Self.lifetime, rule: "AUD-1", reason: "the launch that it was made in is over"),
        within: time)
    }
  }

  static let lifetime = "lifetime"

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? {
    guard now >= endsAgain, let next = nextEnd() else { return nil }
    return now + next - clock.realtime
  }

  /// Before any request is answered.
  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) { endDue() }
}
