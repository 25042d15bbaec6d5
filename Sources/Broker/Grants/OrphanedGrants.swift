internal import Audit
internal import BrokerCore
internal import Kernel
internal import ScopedAccess

/// Orphaned grants: the app has deleted the last reference, and nothing else needs the grant (`REF-7`). Looked at when nothing of
/// the app runs: while it does, it may be moving a reference.
@BrokerLoop
final class OrphanedGrants: LoopMember {
  private let host: BrokerHost
  private let grants: GrantStore
  private let key: SealingKey
  private let sessions: SessionTable
  private let revoker: GrantRevoker
  private let jobs: Jobs
  /// Apps to look at when every request has been answered.
  private var apps: Set<String> = []
  private var allDue: Int64?

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ key: SealingKey, _ sessions: SessionTable, _ revoker: GrantRevoker,
    _ jobs: Jobs
  ) {
    (self.host, self.grants, self.key, self.sessions) = (host, grants, key, sessions)
    (self.revoker, self.jobs) = (revoker, jobs)
  }

  /// Something of an app has ended.
  func note(_ app: String) { apps.insert(app) }

  /// Looks at all apps once, some time after the broker has started: apps that still run are handed over first.
  func lookAtAll(at due: Int64) { allDue = due }

  /// Ends the grants of an app whose last reference it has deleted, unless a bookmark or another grant was made of them. Looked at
  /// when nothing of the app runs: while it does, it may be moving one.
  private func endOrphaned(of app: String) {
    #if AMBIT_MUTANTS
      if Mutant.orphansStay.isActive { return }
    #endif
    guard !sessions.isPresent(app), let held = try? grants.heldByReferences(of: app), !held.isEmpty,
      let container = host.openContainer(app)
    else { return }
    let inodes = Set(held.values.joined())
    let key = key
    // An app decides how much there is to look through.
    jobs.start(owner: app, subject: "references") { heartbeat -> Set<String>? in
      var missing = Set(held.keys)
      var walk = ContainerWalk(while: heartbeat.beat)
      let isComplete = walk.run(from: container) { folder, entry in
        // By its file as well: an app may give a reference any name.
        guard ReferenceFiles.mayBeReference(entry) || inodes.contains(entry.inode),
          let grant = ReferenceFiles.grant(ofReference: entry.name, in: folder, app: app, key)
        else { return }
        missing.remove(grant)
      }
      // Where something was not looked at, that may hold one.
      return isComplete ? missing : nil
    } then: { found in
      guard let missing = found ?? nil, !missing.isEmpty, !self.sessions.isPresent(app) else { return }
      let orphaned = missing.sorted().compactMap { try? self.grants.grant($0) ?? nil }.filter { $0.revoked == nil }
      _ = try? self.revoker.end(
        orphaned,
        GrantEnding(how: "reference", rule: "REF-7", reason: "the app deleted its last reference to the document"))
    }
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? { sessions.isIdle ? allDue : nil }

  func finishTurn(now: Int64) {
    for app in apps { endOrphaned(of: app) }
    apps = []
    if let due = allDue, due < now, sessions.isIdle {
      allDue = nil
      for app in (try? grants.knownApps()) ?? [] { endOrphaned(of: app.bundleIdentifier) }
    }
  }
}
