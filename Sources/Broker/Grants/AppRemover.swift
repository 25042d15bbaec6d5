internal import AppModel
internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Removes an app: ends everything between it and the user's documents, in both directions, and takes its container out of use.
@BrokerLoop
final class AppRemover {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let revoker: GrantRevoker
  private let jobs: Jobs
  private let loop: EventLoop
  private let index: IndexService

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ revoker: GrantRevoker,
    _ jobs: Jobs, _ loop: EventLoop, _ index: IndexService
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.revoker, self.jobs, self.loop) = (revoker, jobs, loop)
    self.index = index
  }

  /// Ends everything between an app and the user's documents, in both directions, and takes its container out of use.
  func remove(_ request: GrantsInterface.RemoveCall) async throws -> GrantsInterface.RemoveReply {
    let app = request.app
    guard BundleIdentifier.check(app) == nil, try grants.knownApps().contains(where: { $0.bundleIdentifier == app })
    else {
      throw GrantsInterface.Failure.notFound("No app is called \(app); “ambit app list” has those that there are.")
    }
    // The kernel ends a sandbox's processes before its init counts as ended; it may take its time, and others have questions.
    while try end(request) { try await ended(app) }
    let others = try await foreignGrants(inContainerOf: app)
    guard !sessions.isPresent(app) else { throw GrantsInterface.Failure.running(app, 1) }
    #if AMBIT_MUTANTS
      let own = Mutant.removedAppKeeps.isActive ? [] : try grants.records(of: app).map(\.grant)
    #else
      let own = try grants.records(of: app).map(\.grant)
    #endif
    let reason = "the app \(app) was removed"
    var ended = try revoker.end(own, GrantEnding(how: "removed", rule: "AUD-1", reason: reason))
    ended += try revoker.end(
      others, GrantEnding(how: "removed", rule: "AUD-1", reason: "\(reason), and the document lay in its container"))
    let leftovers = request.keepData ? nil : try retire(containerOf: app)
    trail.keep([
      AuditEvent(
        .appRemoved, app: app, how: "user", reason: request.keepData ? "its container was kept" : nil,
        detail: ["grants": "\(own.count)", "others": "\(others.count)"])
    ])
    index.forget(app)
    DrawnPictures(folder: host.folders.drawnPictures).forget(app)
    grants.noteRemoval(of: app, at: host.clock.realtime)
    // With a container its references go anyway.
    if request.keepData { try await revoker.settled(ended) }
    return .init(ended: ended.map(GrantsInterface.Ended.init), leftovers: leftovers, note: trail.owedNote)
  }

  /// Ends the running launches of an app.
  ///
  /// - Returns: whether something has yet to end.
  private func end(_ request: GrantsInterface.RemoveCall) throws -> Bool {
    let present = sessions.running(request.app)
    guard !sessions.isPreparing(request.app), request.kill || present.isEmpty else {
      throw GrantsInterface.Failure.running(request.app, max(1, present.count))
    }
    for instance in present {
      instance.ending.reason = "it was removed"
      try? instance.process.signalProcess(SIGKILL)
    }
    return !present.isEmpty
  }

  private func ended(_ app: String) async throws {
    let wait = sessions.whenEnded(Set(sessions.running(app).map(\.id)))
    loop.end(wait, at: host.clock.monotonic + Self.patience)
    guard try await wait.get() else {
      throw GrantsInterface.Failure.failed("\(app) does not end; try again in a moment.")
    }
  }

  /// Nanoseconds for which the end of an app is waited for.
  private static let patience: Int64 = 5_000_000_000

  /// Documents that were granted to other apps and now lie in this one's container: the user may have moved them there.
  private func foreignGrants(inContainerOf app: String) async throws -> [Grant] {
    guard let container = host.openContainer(app) else { return [] }
    let candidates = Dictionary(
      grouping: try grants.records().map(\.grant).filter { $0.bundleIdentifier != app }, by: \.identity.inode)
    guard !candidates.isEmpty else { return [] }
    let found = try await jobs.run(owner: "", subject: "the container of \(app)") { heartbeat in
      var found: [Grant] = []
      func look(_ folder: Descriptor, _ name: String, _ inode: UInt64) {
        guard let grants = candidates[inode],
          let file = try? Descriptor.open(name, below: folder, flags: [.path, .noFollow]),
          let identity = try? FileIdentity(of: file)
        else { return }
        found += grants.filter { $0.identity == identity }
      }
      var walk = ContainerWalk(budget: 2_000_000, while: heartbeat.beat)
      _ = walk.run(from: container, folders: look) { folder, entry in look(folder, entry.name, entry.inode) }
      return found
    }
    guard let found else {
      throw GrantsInterface.Failure.failed("the container of \(app) cannot be looked through: its disk does not answer")
    }
    return found
  }

  /// Gives the container another name, under which no app is launched in it; the caller deletes it.
  private func retire(containerOf app: String) throws -> String? {
    let all = try host.containers()
    let name = "\(Self.retiredPrefix)\(Grant.makeID())"
    do throws(KernelError) {
      try all.rename(app, to: name)
      return name
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw GrantsInterface.Failure.failed("the container of \(app) cannot be taken away: \(error)")
    }
  }

  /// Deletes the rest of containers whose deletion was broken off.
  func removeRetired() {
    guard let all = try? host.containers(), let entries = try? DirectoryReader.entries(of: all) else { return }
    let names = entries.map(\.name).filter { $0.hasPrefix(Self.retiredPrefix) }
    guard !names.isEmpty else { return }
    try? Worker.start { for name in names { try? all.removeTree(name) } }
  }

  /// No bundle identifier begins with a point.
  static let retiredPrefix = ".removed-"
}
