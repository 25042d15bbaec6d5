internal import AppModel
internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Thrown where apps have to end first, which were told to: the request is begun anew then.
struct WaitingForEnd: Error {
  let app: String
  let instances: Set<String>
  /// Nanoseconds.
  static let patience: Int64 = 5_000_000_000
}

/// The apps that the user has, and removing one.
extension Broker {
  func apps() throws -> [GrantsInterface.App] {
    let records = try grants.records()
    return try grants.knownApps().map { app in
      let identity = try grants.identity(of: app.bundleIdentifier)
      return GrantsInterface.App(
        bundleIdentifier: app.bundleIdentifier, name: app.name, version: app.version,
        grants: records.count { $0.grant.bundleIdentifier == app.bundleIdentifier },
        running: running(app.bundleIdentifier).count, container: openContainer(app.bundleIdentifier) != nil,
        path: identity?.path, digest: identity?.digest.description)
    }
  }

  private func running(_ app: String) -> [Instance] {
    instances.values.filter { $0.app.bundleIdentifier == app }
  }

  private func openContainer(_ app: String) -> Descriptor? {
    try? Descriptor.open(app, below: containers(), flags: [.read, .directory, .noFollow])
  }

  func containers() throws(KernelError) -> Descriptor {
    try Descriptor.open(folders.containers, flags: [.read, .directory, .noFollow])
  }

  /// Ends everything between an app and the user's documents, in both directions, and takes its container out of use.
  func remove(_ request: GrantsInterface.RemoveCall) throws -> GrantsInterface.RemoveReply {
    let app = request.app
    guard BundleIdentifier.check(app) == nil, try grants.knownApps().contains(where: { $0.bundleIdentifier == app })
    else {
      throw GrantsInterface.Failure.notFound("No app is called \(app); “ambit app list” has those that there are.")
    }
    let present = running(app)
    let isPreparing = prepared.values.contains { $0.bundleIdentifier == app }
    guard !isPreparing, request.kill || present.isEmpty else {
      throw GrantsInterface.Failure.running(app, max(1, present.count))
    }
    for instance in present {
      instance.endedBecause = "it was removed"
      try? instance.process.signalProcess(SIGKILL)
    }
    // The kernel ends a sandbox's processes before its init counts as ended; it may take its time, and others have questions.
    if !present.isEmpty { throw WaitingForEnd(app: app, instances: Set(present.map(\.id))) }

    let own = try grants.records(of: app).map(\.grant)
    let others = try foreignGrants(inContainerOf: app)
    let reason = "the app \(app) was removed"
    // With a container its references go anyway.
    self.request?.awaitsWhatFollows = request.keepData
    var ended = try end(own, GrantEnding(how: "removed", rule: "AUD-1", reason: reason))
    ended += try end(
      others, GrantEnding(how: "removed", rule: "AUD-1", reason: "\(reason), and the document lay in its container"))
    let leftovers = request.keepData ? nil : try retire(containerOf: app)
    keep([
      AuditEvent(
        .appRemoved, app: app, how: "user", reason: request.keepData ? "its container was kept" : nil,
        detail: ["grants": "\(own.count)", "others": "\(others.count)"])
    ])
    grants.noteRemoval(of: app, at: Clock.realtime())
    return .init(ended: ended.map(Self.describe), leftovers: leftovers, note: owedNote)
  }

  /// What other apps were granted and now lies in this one's container: the user may have moved it there.
  private func foreignGrants(inContainerOf app: String) throws -> [Grant] {
    guard let container = openContainer(app) else { return [] }
    let candidates = Dictionary(
      grouping: try grants.records().map(\.grant).filter { $0.bundleIdentifier != app }, by: \.identity.inode)
    guard !candidates.isEmpty else { return [] }
    let found = try outcome(of: "the container of \(app)") { pulse in
      var found: [Grant] = []
      func look(_ folder: Descriptor, _ name: String, _ inode: UInt64) {
        guard let grants = candidates[inode],
          let file = try? Descriptor.open(name, below: folder, flags: [.path, .noFollow]),
          let identity = try? FileIdentity(of: file)
        else { return }
        found += grants.filter { $0.identity == identity }
      }
      var walk = ContainerWalk(budget: 2_000_000, while: pulse.beat)
      _ = walk.run(from: container, folders: look) { folder, entry in look(folder, entry.name, entry.inode) }
      return found
    }
    guard let found else {
      throw GrantsInterface.Failure.failed("the container of \(app) cannot be looked through: its disk does not answer")
    }
    return found
  }

  /// Gives the container another name, under which no app is launched in it; whoever asked deletes it.
  private func retire(containerOf app: String) throws -> String? {
    let all = try containers()
    let name = "\(Self.retiredPrefix)\(Grant.makeID())"
    do throws(KernelError) {
      try all.rename(app, to: name)
      return name
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw GrantsInterface.Failure.failed("the container of \(app) cannot be taken away: \(error)")
    }
  }

  /// Deletes what is left of containers whose deletion was broken off.
  func removeRetired() {
    guard let all = try? containers(), let entries = try? DirectoryReader.entries(of: all) else { return }
    let names = entries.map(\.name).filter { $0.hasPrefix(Self.retiredPrefix) }
    guard !names.isEmpty else { return }
    try? Worker.start { for name in names { try? all.removeTree(name) } }
  }

  /// Goes on with the requests that waited for apps to end.
  func continueEnds(now: Int64) {
    guard !awaitedEnds.isEmpty else { return }
    let all = awaitedEnds
    awaitedEnds = []
    for each in all {
      if each.wait.instances.isDisjoint(with: instances.keys) {
        serve(each.request)
      } else if now < each.due {
        awaitedEnds.append(each)
      } else {
        each.request.connection.send(
          Reply(GrantsInterface.Failure.failed("\(each.wait.app) does not end; try again in a moment.")))
      }
    }
  }

  /// No bundle identifier begins with a point.
  package static let retiredPrefix = ".removed-"
}
