import BrokerCore
import Folders
import Foundation
import Kernel
import ScopedAccess
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// A broker in this process: real sockets, a real store and log in a temporary folder, real files; a clock that the test sets, and
/// no kernel behind its mounts.
final class BrokerWorld {
  let temporary: TemporaryFolder
  let folders: AmbitFolders
  let clock = ManualClock()
  let finder = GatedFinder()
  let suspension = MemorySuspension()
  let user: WireClient
  private let broker: RunningBroker
  private static let gate = Gate(12)
  private let place: Gate.Place

  /// What has to be handled on the loop.
  private final class RunningBroker: @unchecked Sendable {
    @BrokerLoop let broker: Broker
    @BrokerLoop init(_ broker: Broker) {
      self.broker = broker
      TestLoop.root.add(broker.loop)
    }
    @BrokerLoop func end() {
      TestLoop.root.remove(broker.loop)
      try? broker.finish()
    }
  }

  init() async throws {
    TestLoop.start()
    place = await Self.gate.enter()
    temporary = try TemporaryFolder()
    folders = AmbitFolders(environment: ["AMBIT_HOME": "\(temporary.path)/ambit"], home: temporary.path)
    try folders.make()
    let listener = try UnixSocket.listen(
      in: try Descriptor.open(folders.runtime, flags: [.read, .directory]), name: AmbitFolders.socketName)
    let (folders, clock, finder, suspension) = (folders, clock, finder, suspension)
    broker = try await onLoop {
      let kernel = KernelEdge(
        finder: finder, mounts: { _, _ in MemoryMounts() }, processes: { _ in OwnProcess() },
        suspension: { _, _ in suspension })
      let home = try Descriptor.open("/", flags: [.path, .directory])
      let host = try BrokerHost(
        folders: folders, home: home, namespaces: [], privileged: false, kernel: kernel, clock: clock)
      return RunningBroker(try Broker(host, listener: listener, signals: nil, idleLimit: nil))
    }
    user = try WireClient(address: "unix:\(folders.runtime)/\(AmbitFolders.socketName)")
    user.setPatience(Self.patience)
  }

  static let patience = WireClient.Patience(.seconds(30)) { () throws(WireError) in
    throw .broken("no answer came for 30 seconds")
  }

  /// Ends the broker in order; the log is whole then.
  func end() async throws { try await onLoop { [broker] in broker.end() } }

  /// The clock goes on, and the loop looks at it.
  func wait(seconds: Int64) {
    clock.advance(seconds * 1_000_000_000)
    BrokerLoop.wake()
  }

  /// Has the broker tell a launch of one event after the other.
  func tell(_ app: TestApp, _ grant: String, times: Int) async throws {
    let instance = app.instance
    try await onLoop { [broker] in
      let running = try #require(broker.broker.sessions.instances[instance])
      for _ in 0..<times { broker.broker.events.tell(running, .replaced, grant, cause: "host") }
    }
  }

  // MARK: Leases

  private func onLeases<Value: Sendable>(
    _ path: String, _ body: @escaping @BrokerLoop @Sendable (LeaseKeeper, FoundDocument) -> Value
  ) async throws -> Value {
    let document = try FoundDocument(try Descriptor.open(path, flags: .place))
    return try await onLoop { [broker] in body(broker.broker.leases, document) }
  }

  /// As for an app that has unsaved changes, or none. A child in the making may have the file open for a moment.
  func hold(_ path: String, as kind: LeaseKeeper.Kind = .write) async throws {
    let deadline = Deadline(in: .seconds(10))
    while try await onLeases(path, { $0.hold($1, as: kind) }) != .leased(kind) {
      if deadline.isOver { throw HarnessError("no lease on \(path)") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  func awaitBreak(of path: String) async throws {
    let deadline = Deadline(in: .seconds(10))
    while try await onLeases(path, { $0.held.contains { $0.sinceBreak != nil } && $0.isBreaking($1.identity) }) == false
    {
      if deadline.isOver { throw HarnessError("no program waits for \(path)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  func release(_ path: String) async throws { try await onLeases(path) { $0.release($1.identity) } }

  /// Notes the calls of the table's hooks from now on, as `suspend INSTANCE` and `resume INSTANCE`.
  func hear(_ calls: Calls) async throws {
    try await onLoop { [broker] in
      let sessions = broker.broker.sessions
      sessions.onSuspend = { instance in calls.add("suspend \(instance.id) \(instance.isSuspended)") }
      sessions.onResume = { instance in calls.add("resume \(instance.id) \(instance.isSuspended)") }
    }
  }

  final class Calls: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ word: String) { words.withLock { $0.append(word) } }
    var all: [String] { words.withLock { $0 } }
  }

  /// How many clients listen to events.
  func listeners() async throws -> Int { try await onLoop { [broker] in broker.broker.events.listeners.count } }

  /// The log's entries of one kind so far.
  func events(_ kind: AuditEvent.Kind) throws -> [AuditEvent] {
    try AuditReader(path: folders.auditLog).events(matching: AuditQuery(kind: kind), limit: .max)
  }

  /// A file of the user's.
  func file(_ name: String, _ content: String = "text") throws -> String { try temporary.write(name, content) }

  /// A launch of an app.
  func launch(
    _ identifier: String = "org.example.app", limit: Int = 4, rules: LauncherInterface.GrantRules = .init(),
    instance: String = UUID().uuidString.lowercased()
  ) throws -> TestApp {
    try TestApp(self, identifier, limit, rules, instance)
  }
}

/// An app and its launcher, as the broker sees them: connections.
final class TestApp {
  let instance: String
  let identifier: String
  let launcher: WireClient
  let app: WireClient
  private let world: BrokerWorld
  private let prompts: WireClient
  private let socketFolder: Descriptor

  init(
    _ world: BrokerWorld, _ identifier: String, _ limit: Int, _ rules: LauncherInterface.GrantRules, _ instance: String
  ) throws {
    (self.world, self.identifier, self.instance) = (world, identifier, instance)
    let path = try world.temporary.folder(instance)
    socketFolder = try Descriptor.open(path, flags: [.read, .directory])
    let listener = try UnixSocket.listen(in: socketFolder, name: "broker")
    func connect() throws -> WireClient {
      let client = try WireClient(address: "unix:\(world.folders.runtime)/\(AmbitFolders.socketName)")
      client.setPatience(BrokerWorld.patience)
      return client
    }
    launcher = try connect()
    prompts = try connect()
    let call = LauncherInterface.AttachCall(
      instance: instance, bundleIdentifier: identifier, name: "App", policy: "test", scopeLimit: limit,
      references: false, replaced: "refuse", pid: Int(getpid()), resume: true, degraded: [], grants: rules,
      path: "/nowhere/App.app", digest: "")
    _ = try launcher.call(
      "io.ambit.Launcher.Attach", call.json,
      descriptors: [try .process(getpid()), socketFolder, socketFolder, listener, socketFolder])
    try prompts.send(
      "io.ambit.Launcher.Prompts", LauncherInterface.PromptsCall(instance: instance).json, more: true)
    app = WireClient(socket: try UnixSocket.connect(in: socketFolder, name: "broker"))
    app.setPatience(BrokerWorld.patience)
  }

  /// Another connection of the app.
  func connect() throws -> WireClient {
    let client = WireClient(socket: try UnixSocket.connect(in: socketFolder, name: "broker"))
    client.setPatience(BrokerWorld.patience)
    // It is accepted now.
    _ = try client.call(AccessInterface.status, AccessInterface.StatusCall(process: nil).json)
    return client
  }

  /// Another connection of the user's side.
  func userSide() throws -> WireClient {
    let client = try WireClient(address: "unix:\(world.folders.runtime)/\(AmbitFolders.socketName)")
    client.setPatience(BrokerWorld.patience)
    return client
  }

  /// Waits until the broker has read what was sent on other connections: each call takes it a turn.
  func settle() throws { for _ in 0..<2 { _ = try status() } }

  /// The user picks documents for the app.
  func pick(_ paths: [String], _ call: PickerInterface.PickCall = .init(multiple: true)) throws -> [DocumentMessage] {
    try app.send("io.ambit.Picker.Pick", call.json)
    try choose(paths)
    guard let answer = try app.receive(wait: true) else { throw HarnessError("no answer") }
    return try PickerInterface.PickReply(json: answer.parameters).documents
  }

  /// The next question for the user; nil: the one before was closed.
  func question() throws -> LauncherInterface.PickRequest? {
    guard let asked = try prompts.receive(wait: true) else { throw HarnessError("no question") }
    return try LauncherInterface.PromptsReply(json: asked.parameters).request
  }

  /// The user's answer to the question that is asked.
  func choose(_ paths: [String]) throws {
    guard let question = try question() else { throw HarnessError("the question was closed") }
    _ = try launcher.call(
      "io.ambit.Launcher.Answer",
      LauncherInterface.AnswerCall(instance: instance, id: question.id, how: .user, paths: paths).json,
      descriptors: try paths.map { try .open($0, flags: .path) })
  }

  @discardableResult
  func start(_ document: DocumentMessage) throws -> AccessInterface.StartReply {
    let call = AccessInterface.StartCall(scope: document.scope)
    return try .init(json: try app.call(AccessInterface.start, call.json).parameters)
  }

  @discardableResult
  func stop(_ document: DocumentMessage) throws -> Int {
    let call = AccessInterface.StopCall(scope: document.scope, process: nil)
    return try AccessInterface.StopReply(json: try app.call(AccessInterface.stop, call.json).parameters).count
  }

  func status() throws -> AccessInterface.StatusReply {
    try .init(json: try app.call(AccessInterface.status, AccessInterface.StatusCall(process: nil).json).parameters)
  }

  func revokeAll() throws {
    _ = try world.user.call(
      "io.ambit.Grants.Revoke", GrantsInterface.RevokeCall(app: identifier).json)
  }
}

/// Whatever the broker shows is shown, in a table.
final class MemoryMounts: ScopeMounting {
  private(set) var shown: Set<String> = []
  var exitDue: Int64? { nil }

  func prepare(grant: String, name: String, kind: Folders.DocumentKind) {}
  func show(
    _ document: FoundDocument, grant: String, name: String, also others: [String], rights: AccessRights,
    in staging: Descriptor?
  ) throws(KernelError) -> BusyMount? {
    guard shown.insert(grant).inserted else { throw KernelError("move_mount", name, errno: .fileExists) }
    return nil
  }
  func replace(by document: FoundDocument, grant: String, name: String, rights: AccessRights) {}
  func hide(grant: String, name: String, atOnce: Bool) throws(KernelError) -> BusyMount? {
    guard shown.remove(grant) != nil else { throw KernelError("umount2", name, errno: .invalidArgument) }
    return nil
  }
  func showRelated(
    _ document: FoundDocument, grant: String, name: String, rights: AccessRights, in staging: Descriptor?
  ) throws(KernelError) {
    guard shown.insert("\(grant)/\(name)").inserted else { throw KernelError("move_mount", name, errno: .fileExists) }
  }
  func hideRelated(grant: String, name: String, in staging: Descriptor?) throws(KernelError) -> BusyMount? {
    guard shown.remove("\(grant)/\(name)") != nil else { throw KernelError("umount2", name, errno: .invalidArgument) }
    return nil
  }
  func beginEmptying() {}
  func emptyExit() {}
  func method(of grant: String) -> AccessMethod? { nil }
  func place(grant: String, name: String) throws(KernelError) -> ShownDocument {
    throw KernelError("open", name, errno: .notSupported)
  }
  func hideAll() -> [String] { [] }
  func placeholders() -> [(grant: String, name: String)] { [] }
}

/// Every call comes from this process.
struct OwnProcess: ProcessLookup {
  func process(_ sender: UnixSocket.Sender) -> SandboxProcess? {
    (try? Descriptor.process(sender.pid)).map { SandboxProcess(pid: sender.pid, inside: 2, descriptor: $0) }
  }
  func parent(of process: SandboxProcess) -> SandboxProcess? { nil }
}

/// The processes of every app stop and go on as a test wants.
final class MemorySuspension: ProcessSuspending {
  private let state = Mutex((isSuspended: false, count: Int?(2), gate: Wakeup?.none, resumes: 0, ends: 0))

  /// How many processes there are; nil: they do not stop in time.
  func have(_ count: Int?) { state.withLock { $0.count = count } }
  func set(suspended: Bool) { state.withLock { $0.isSuspended = suspended } }
  var memory: Int { 1 << 20 }
  func end() throws(KernelError) { state.withLock { $0.ends += 1 } }
  var ends: Int { state.withLock { $0.ends } }
  var resumes: Int { state.withLock { $0.resumes } }

  /// From now on it takes until ``open()``.
  func close() throws {
    let wakeup = try Wakeup()
    state.withLock { $0.gate = wakeup }
  }

  func open() { state.withLock { $0.gate?.signal() } }

  func suspend(while goesOn: () -> Bool) throws(KernelError) -> Int? {
    if let gate = state.withLock({ $0.gate }) {
      var entries = [PollEntry(gate.descriptor, .read)]
      _ = try Poll.wait(&entries, timeout: .seconds(30))
    }
    return state.withLock { state in
      state.isSuspended = state.count != nil
      return state.count
    }
  }

  func resume() {
    state.withLock { state in
      state.isSuspended = false
      state.resumes += 1
    }
  }

  var isSuspended: Bool { state.withLock { $0.isSuspended } }
}

/// Finds files, and takes its time over it while a test wants that.
final class GatedFinder: DocumentFinding {
  private let real = DocumentFinder(privileged: false)
  private let gate = Mutex<Wakeup?>(nil)

  /// From now on every lookup goes to a thread, and stays there.
  func close() throws {
    let wakeup = try Wakeup()
    gate.withLock { $0 = wakeup }
  }

  func open() {
    gate.withLock {
      $0?.signal()
      $0 = nil
    }
  }

  func findQuickly(_ lookup: Lookup) -> LookupResult? {
    gate.withLock { $0 != nil } ? nil : real.findQuickly(lookup)
  }

  func findThoroughly(_ lookup: Lookup, beside: Bool) -> LookupResult {
    if let closed = gate.withLock({ $0 }) {
      var entries = [PollEntry(closed.descriptor, .read)]
      _ = try? Poll.wait(&entries)
    }
    return real.findThoroughly(lookup, beside: beside)
  }

  func searches(for identity: FileIdentity) -> Bool { false }
  func isInPlace(_ identity: FileIdentity, at path: String) -> Bool { real.isInPlace(identity, at: path) }
  func isTaken(_ path: String) -> Bool { real.isTaken(path) }
  func search(
    _ lost: [FileIdentity: String], entries: Int, time: Int64
  ) -> (found: [FileIdentity: String], absent: Set<FileIdentity>) { real.search(lost, entries: entries, time: time) }
}
