package import BrokerCore
internal import CloudSync
internal import Folders
internal import Foundation
package import Kernel
internal import Paths
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The weather between devices and a cloud.
package struct CloudConditions: Sendable, Equatable {
  package var isOffline = false
  /// Nanoseconds before each answer.
  package var latency: Int64 = 0
  /// Bytes a second of each transfer; `nil`: no limit.
  package var bandwidth: Int?
  /// Of a million calls, so many get no answer.
  package var faults = 0
  /// Bytes of all documents together; `nil`: no limit.
  package var quota: Int64?

  package init() {}
}

extension CloudConditions {
  /// Nanoseconds.
  private static let longestLatency = 86_400_000_000_000

  mutating func set(_ new: CloudInterface.Conditions) {
    isOffline = new.offline
    latency = Int64(min(max(0, new.latency), Self.longestLatency))
    (bandwidth, faults, quota) = (new.bandwidth, new.faults, new.quota.map { Int64($0) })
  }
}

/// Devices that have signed in. A device that comes under ever new names makes the cloud forget the oldest ones.
struct SeenDevices {
  static let most = 256
  /// Oldest first.
  private(set) var names: [String] = []

  mutating func add(_ name: String) {
    names.removeAll { $0 == name }
    if names.count >= Self.most { names.removeFirst() }
    names.append(name)
  }
}

/// A simulated cloud: a process that keeps a ledger for the devices of one user (`io.ambit.Cloud`).
///
/// It has the broker's shape: one loop, and requests that wait. All changes of one turn are one transaction, and are answered after it.
@BrokerLoop
package final class CloudServer: LoopMember {
  private let endpoint: WireEndpoint
  private let store: CloudStore
  private let token: String?
  private let loop: EventLoop
  private let jobs: Jobs
  private let signals: SignalQueue
  private var conditions: CloudConditions
  private var ledger: CloudLedger
  private var requests = RequestTable()
  /// Devices by their connections.
  private var devices: [Int: String] = [:]
  private var seen = SeenDevices()
  /// Changes that are decided, and not on the disk.
  private var items: [CloudItem] = []
  private var receipts: [CloudReceipt] = []
  private var stored: [Wait<Bool>] = []
  private var awaiting: [Wait<Bool>] = []
  private var chance: SystemRandomNumberGenerator = .init()
  private var isStopped = false
  /// Changes or contents of one call.
  static let mostContents = 250
  /// Nanoseconds.
  private var idleLimit: Int64?
  private var lastUsed: Int64 = 0

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Parameters:
  ///   - socket: the path of a Unix socket, which is made.
  ///   - folder: where the cloud keeps everything.
  ///   - token: the token of a sign-in; `nil`: none is asked for.
  ///   - idleLimit: it leaves when no device was connected for so long; `nil`: it stays.
  ///   - ready: called when the socket can be connected to.
  /// - Throws: where it cannot serve.
  package nonisolated static func run(
    socket: String, folder: String, token: String?, _ conditions: CloudConditions, idleLimit: Duration? = nil,
    ready: @Sendable () throws -> Void
  ) throws {
    let signals = try SignalQueue([SIGTERM, SIGINT])
    umask(0o077)
    raiseDescriptorLimit()
    BrokerLoop.adoptThread()
    let store = try CloudStore(folder: folder)
    let name = socket.lastPathName
    let place = try Descriptor.open(socket.parentPath ?? "/", flags: [.read, .directory])
    if (try? UnixSocket.connect(in: place, name: name)) != nil {
      throw StateError("another cloud serves at \(socket)")
    }
    try makeRoom(name, in: place)
    let listener = try UnixSocket.listen(in: place, name: name)
    let own = try? Descriptor.open(name, below: place, flags: .place).status().inode
    try BrokerLoop.assumeIsolated {
      let server = try CloudServer(listener, store, token, conditions, signals)
      server.idleLimit = idleLimit.map { Int64($0 / .nanoseconds(1)) }
      try ready()
      try server.loop.run { !server.isStopped }
    }
    if let own, (try? Descriptor.open(name, below: place, flags: .place).status().inode) == own {
      try? place.removeFile(name)
    }
  }

  /// Removes the socket of a cloud that was killed. Anything else is somebody's file.
  nonisolated static func makeRoom(_ name: String, in place: Descriptor) throws {
    guard let found = try? Descriptor.open(name, below: place, flags: .place).status() else { return }
    guard found.isSocket else { throw StateError("“\(name)” is there, and is no socket") }
    try place.removeFile(name)
  }

  private init(
    _ listener: Descriptor, _ store: CloudStore, _ token: String?, _ conditions: CloudConditions, _ signals: SignalQueue
  ) throws {
    (self.store, self.token, self.conditions, self.signals) = (store, token, conditions, signals)
    let clock = SystemClock()
    loop = EventLoop(clock: clock)
    jobs = Jobs(clock: clock)
    endpoint = WireEndpoint(
      listener: listener,
      service: WireService(
        info: ServiceInfo(version: AmbitVersion.current, url: "https://github.com/ambit-sandbox/ambit"),
        interfaces: [.cloud]), limits: .user, now: clock.monotonic)
    ledger = try store.ledger()
    ledger.quota = conditions.quota
    loop.add(self)
    loop.add(jobs)
  }

  // MARK: Calls

  private func serve(_ call: CheckedCall, on connection: WireConnection) {
    // Half of the lost calls have taken effect.
    let isLost = Int.random(in: 0..<1_000_000, using: &chance) < conditions.faults && call.member != "SetConditions"
    if isLost, Bool.random(using: &chance) { return connection.close() }
    Request.begin(
      on: connection, waits: { requests.begin($0) }, failure: { CloudInterface.Failure.unavailable("\($0)") }
    ) {
      .waits { try await self.answer(call, on: connection) }
    } answer: { reply, descriptors in
      if isLost { connection.close() } else { connection.send(reply, descriptors: descriptors) }
    }
  }

  private func answer(_ call: CheckedCall, on connection: WireConnection) async throws -> Answer {
    switch call.member {
    case "SetConditions":
      set(try CloudInterface.SetConditionsCall(json: call.parameters).conditions)
      return Answer([:])
    case "Show": return Answer(show)
    default: break
    }
    guard !conditions.isOffline else { throw CloudInterface.Failure.unavailable("the cloud is offline") }
    if call.member == "SignIn" {
      let request = try CloudInterface.SignInCall(json: call.parameters)
      try await pause(conditions.latency)
      guard token == nil || request.token == token else { throw CloudInterface.Failure.notAuthenticated }
      guard !request.device.isEmpty, request.device.utf8.count <= CloudBounds.device else {
        throw ErrorReply.invalidParameter("device")
      }
      devices[connection.id] = request.device
      seen.add(request.device)
      return Answer(CloudInterface.SignInReply(cloud: store.identity, revision: ledger.revision))
    }
    guard let device = devices[connection.id] else { throw CloudInterface.Failure.notSignedIn }
    switch call.member {
    case "Await": return try await awaitChange(try CloudInterface.AwaitCall(json: call.parameters).revision)
    case "Changes":
      try await pause(conditions.latency)
      return try await changes(try CloudInterface.ChangesCall(json: call.parameters))
    case "Apply":
      try await pause(conditions.latency)
      return try await apply(try CloudInterface.ApplyCall(json: call.parameters), device)
    case "Upload": return try await upload(call.call.descriptors)
    default: return try await download(try CloudInterface.DownloadCall(json: call.parameters).contents)
    }
  }

  private func pause(_ nanoseconds: Int64) async throws {
    guard nanoseconds > 0 else { return }
    let wait = Wait<Bool>()
    loop.end(wait, at: loop.clock.monotonic + nanoseconds)
    _ = try await wait.get()
  }

  private func transfer(_ bytes: Int) async throws {
    let time = conditions.bandwidth.map { Double(bytes) / Double(max(1, $0)) * 1e9 } ?? 0
    try await pause(conditions.latency + Int64(min(time, 3.6e12)))
    guard !conditions.isOffline else { throw CloudInterface.Failure.unavailable("the cloud is offline") }
  }

  private func awaitChange(_ revision: Int) async throws -> Answer {
    if ledger.revision == revision {
      let wait = Wait<Bool>()
      awaiting.append(wait)
      loop.end(wait, at: loop.clock.monotonic + 30_000_000_000)
      defer { awaiting.removeAll { $0 === wait } }
      _ = try await wait.get()
    }
    try await pause(conditions.latency)
    return Answer(CloudInterface.AwaitReply(revision: ledger.revision))
  }

  /// Tells nothing that is not stored: a cloud that is killed now does not have it when it comes back.
  private func changes(_ request: CloudInterface.ChangesCall) async throws -> Answer {
    guard !ledger.isTooOld(request.deletionsSince) else { throw CloudInterface.Failure.tooOld }
    let page = ledger.changes(since: request.since, limit: min(max(1, request.limit), 1000))
    if !stored.isEmpty { try await store() }
    return Answer(
      CloudInterface.ChangesReply(
        items: page.items.map { .init($0) }, next: page.next, more: page.more, revision: page.revision))
  }

  private func apply(_ request: CloudInterface.ApplyCall, _ device: String) async throws -> Answer {
    guard request.changes.count <= Self.mostContents else { throw ErrorReply.invalidParameter("changes") }
    // All are looked at before the first one is decided: a call takes effect as a whole, or not at all.
    let changes = try request.changes.map { keyed in
      guard let change = keyed.change.change, !keyed.key.isEmpty, keyed.key.utf8.count <= 300 else {
        throw ErrorReply.invalidParameter("changes")
      }
      return (key: keyed.key, change: change, missing: try missingContent(keyed))
    }
    var answers: [CloudAnswer] = []
    for (key, change, missing) in changes {
      if let missing {
        answers.append(.missing(missing))
        continue
      }
      let isKnown = ledger.receipt(for: key) != nil
      let (answer, changed) = ledger.apply(change, device: device, key: key)
      if !isKnown {
        items += changed
        receipts.append(.init(key: key, answer: answer))
      }
      answers.append(answer)
    }
    // Also the answer to a repeated call waits for the first one's entry.
    try await store()
    return Answer(CloudInterface.ApplyReply(answers: answers.map { .init($0) }))
  }

  /// Waits until the decisions of this turn are stored.
  private func store() async throws {
    let wait = Wait<Bool>()
    stored.append(wait)
    guard try await wait.get() else { throw CloudInterface.Failure.unavailable("the cloud's disk cannot be written") }
  }

  /// - Returns: the content of a new change that the cloud does not have.
  private func missingContent(_ keyed: CloudInterface.KeyedChange) throws -> String? {
    guard let content = keyed.change.content, ledger.receipt(for: keyed.key) == nil else { return nil }
    guard let file = store.open(content) else { return content }
    // The stored contents count against the quota.
    guard try Int(clamping: file.status().size) == keyed.change.size else { throw ErrorReply.invalidParameter("size") }
    return nil
  }

  private func upload(_ files: [Descriptor]) async throws -> Answer {
    guard (1...Self.mostContents).contains(files.count), let sources = try CloudStore.measured(files) else {
      throw ErrorReply.invalidParameter("descriptor")
    }
    try await transfer(sources.reduce(0) { $0 + $1.size })
    let store = store
    let kept = try await jobs.run(owner: "contents", subject: UUID().uuidString) { beat in
      Result { () throws(KernelError) in try store.keep(sources) { beat.beat() } }
    }
    guard let contents = try kept?.get() else {
      throw CloudInterface.Failure.unavailable("the contents made no progress")
    }
    return Answer(CloudInterface.UploadReply(contents: contents.map { .init(content: $0.name, size: $0.size) }))
  }

  private func download(_ contents: [String]) async throws -> Answer {
    guard (1...Self.mostContents).contains(contents.count) else { throw ErrorReply.invalidParameter("contents") }
    let files = try contents.map { content in
      guard let file = store.open(content) else { throw CloudInterface.Failure.noSuchContent(content: content) }
      return file
    }
    try await transfer(try files.reduce(0) { try $0 + Int(clamping: $1.status().size) })
    return Answer([:], descriptors: files)
  }

  private var show: CloudInterface.ShowReply {
    .init(
      revision: ledger.revision, items: ledger.items.count, used: Int(ledger.used), devices: seen.names.sorted(),
      conditions: .init(
        offline: conditions.isOffline, latency: Int(conditions.latency), bandwidth: conditions.bandwidth,
        faults: conditions.faults, quota: conditions.quota.map { Int($0) }))
  }

  private func set(_ new: CloudInterface.Conditions) {
    conditions.set(new)
    ledger.quota = conditions.quota
  }

  // MARK: LoopMember

  package func appendEntries(to entries: inout [PollEntry], now: Int64) {
    _ = endpoint.appendEntries(to: &entries, now: now)
    entries.append(PollEntry(signals.descriptor, .read, tag: -1))
  }

  package func nextDue(now: Int64) -> Int64? {
    stored.isEmpty ? endpoint.timeout(now: now).map { now + Int64($0 / .nanoseconds(1)) } : now
  }

  package func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    if let last = entries.last, last.hasHappened { isStopped = true }
    if lastUsed == 0 || !endpoint.connections.isEmpty { lastUsed = now }
    if let idleLimit, now - lastUsed > idleLimit { isStopped = true }
    for event in endpoint.process(entries.dropLast(), now: now) {
      switch event {
      case .call(let connection, let call): serve(call, on: connection)
      case .closed(let connection):
        requests.end(connection)
        devices[connection.id] = nil
      case .broken, .refused, .failed: break
      }
    }
  }

  /// The decisions of this turn are stored, and only then answered.
  package func finishTurn(now: Int64) {
    guard !stored.isEmpty else { return }
    var isStored = true
    do { try self.store.store(items, receipts) } catch {
      isStored = false
      complain("\(error)")
      // A decision that was not stored never was.
      if let again = try? store.ledger() {
        ledger = again
        ledger.quota = conditions.quota
      } else {
        isStopped = true
      }
    }
    (items, receipts) = ([], [])
    for wait in awaiting where isStored { wait.finish(true) }
    let waits = stored
    stored = []
    for wait in waits { wait.finish(isStored) }
  }

  private func complain(_ sentence: String) {
    try? FileHandle.standardError.write(contentsOf: Data("ambit cloud: \(sentence)\n".utf8))
  }
}
