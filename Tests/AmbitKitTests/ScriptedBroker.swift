import AmbitKit
import Foundation
import Kernel
import Synchronization
import Wire

/// A server made of the broker's own pieces, with a ledger instead of a kernel behind it: it counts, limits and refuses
/// as the interfaces say, and shows no documents.
final class ScriptedBroker: Sendable {
  struct Grant: Sendable {
    var name: String
    var kind: DocumentKind = .file
    var access: DocumentAccess = .readWrite
    var count = 0
    var isRevoked = false
    var caller: String?
    /// Goes up when the document is renamed; a bookmark of another version is stale.
    var version = 0
  }

  struct Ledger: Sendable {
    var limit = 8
    /// By number; the scope of grant 3 is `<launch>-3`.
    var grants: [Int: Grant] = [:]
    /// Changes with a relaunch, so that scopes of the last one are invalid.
    var launch = "launch1"
    /// What the user does at the next picks.
    var answers: [Result<[String], ErrorReply>] = []
    /// Where documents lie on the host: nobody is told, or it is not known, or there.
    var host: String?
    var lastPick: PickerInterface.PickCall?
    var lastCreation: BookmarksInterface.CreateCall?
    var lastResolution: BookmarksInterface.ResolveCall?
    var calls: [String] = []
    var connections = 0

    mutating func grant(_ name: String, _ kind: DocumentKind = .file, _ access: DocumentAccess = .readWrite)
      -> DocumentMessage
    {
      let number = grants.count + 1
      grants[number] = Grant(name: name, kind: kind, access: access)
      return document(number)
    }

    func document(_ number: Int) -> DocumentMessage {
      let grant = grants[number] ?? Grant(name: "")
      return DocumentMessage(
        scope: "\(launch)-\(number)", grant: "\(number)", name: grant.name, kind: grant.kind, access: grant.access)
    }

    var holders: [HolderMessage] {
      grants.filter { $0.value.count > 0 }.sorted { $0.key < $1.key }.map { number, grant in
        HolderMessage(
          grant: "\(number)", path: document(number).path, name: grant.name, count: grant.count,
          since: "2026-01-01T00:00:00Z", caller: grant.caller)
      }
    }
  }

  let ledger = Mutex(Ledger())
  let folder: String
  var address: String { "unix:\(folder)/broker" }
  private let stopping = Mutex(false)
  private let done = Mutex<DispatchSemaphore?>(nil)

  init() throws {
    folder = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/ambit-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try start()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Listens and serves on a thread of its own until `stop`.
  func start() throws {
    let directory = Descriptor(owning: unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    let listener = try UnixSocket.listen(in: directory, name: "broker")
    stopping.withLock { $0 = false }
    let finished = DispatchSemaphore(value: 0)
    done.withLock { $0 = finished }
    Thread.detachNewThread { [self] in
      serve(listener)
      finished.signal()
    }
  }

  func stop() throws {
    stopping.withLock { $0 = true }
    done.withLock { $0 }?.wait()
    try FileManager.default.removeItem(atPath: folder + "/broker")
  }

  private func serve(_ listener: Descriptor) {
    let service = WireService(info: ServiceInfo(version: "1", url: "https://example.org"), interfaces: Interface.app)
    func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }
    let endpoint = WireEndpoint(listener: listener, service: service, limits: .app, now: now())
    while !stopping.withLock({ $0 }) {
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: now())
      _ = try? Poll.wait(&entries, timeout: min(endpoint.timeout(now: now()) ?? .milliseconds(10), .milliseconds(10)))
      for event in endpoint.process(entries[range], now: now()) {
        guard case .call(let connection, let call) = event else { continue }
        let reply: Reply
        do throws(ErrorReply) {
          reply = try ledger.withLock { ledger throws(ErrorReply) in try Self.answer(call, &ledger) }
        } catch {
          reply = Reply(error)
        }
        precondition(
          service.fault(in: reply, to: call.call.method) == nil, "the test's own server breaks the interface")
        connection.send(reply)
      }
      ledger.withLock { $0.connections = max($0.connections, endpoint.connections.count) }
    }
  }

  private static func answer(_ call: CheckedCall, _ ledger: inout Ledger) throws(ErrorReply) -> Reply {
    ledger.calls.append(call.member)
    switch call.member {
    case "Pick": return try pick(try call.read(), &ledger)
    case "Start": return try start(try call.read(), &ledger)
    case "Stop":
      let number = try grant(try call.read(AccessInterface.StopCall.self).scope, ledger)
      let count = max(0, (ledger.grants[number]?.count ?? 0) - 1)
      ledger.grants[number]?.count = count
      return Reply(AccessInterface.StopReply(count: count))
    case "Path":
      let document = ledger.document(try grant(try call.read(AccessInterface.ScopeCall.self).scope, ledger))
      return Reply(
        AccessInterface.PathReply(
          path: document.path, name: document.name, kind: document.kind, access: document.access))
    case "HostPath":
      let document = ledger.document(try grant(try call.read(AccessInterface.ScopeCall.self).scope, ledger))
      guard let folder = ledger.host else { throw AccessInterface.Failure.notTold }
      return Reply(AccessInterface.HostPathReply(path: folder.isEmpty ? nil : "\(folder)/\(document.name)"))
    case "Kept":
      return Reply(
        AccessInterface.KeptReply(
          profile: "windows", kept: 2, maximum: 1000,
          recent: [.init(grant: "1", name: "a\u{1b}.txt", used: "2026-01-01T00:00:00Z", kept: true)], recentMaximum: 25)
      )
    case "Status":
      _ = try call.read(AccessInterface.StatusCall.self)
      return Reply(
        AccessInterface.StatusReply(used: ledger.holders.count, limit: ledger.limit, holders: ledger.holders))
    case "Create": return try create(try call.read(), &ledger)
    case "Resolve":
      let resolution = try call.read(BookmarksInterface.ResolveCall.self)
      ledger.lastResolution = resolution
      return try resolve(resolution.bookmark, ledger)
    case "Values":
      guard ledger.grants[1] != nil else { throw BookmarksInterface.Failure.badSeal("it was changed") }
      return Reply(
        BookmarksInterface.ValuesReply(
          keys: ["NSURLFileSizeKey", "NSURLTypeIdentifierKey"], name: "a.txt", path: "/documents/1/a.txt", kind: .file,
          access: .readWrite, size: 7, created: 1_500_000_000, modified: 2_000_000_000, volumeName: "Disk"))
    default: return try resolve(try call.read(BookmarksInterface.ResolveReferenceCall.self).reference, ledger)
    }
  }

  private static func grant(_ scope: String, _ ledger: Ledger) throws(ErrorReply) -> Int {
    let parts = scope.split(separator: "-")
    guard parts.count == 2, parts[0] == ledger.launch, let number = Int(parts[1]), ledger.grants[number] != nil else {
      throw AccessInterface.Failure.invalidScope
    }
    return number
  }

  private static func pick(_ call: PickerInterface.PickCall, _ ledger: inout Ledger) throws(ErrorReply) -> Reply {
    ledger.lastPick = call
    guard !ledger.answers.isEmpty else { throw PickerInterface.Failure.noUser("no answers are left") }
    var documents: [DocumentMessage] = []
    for name in try ledger.answers.removeFirst().get() { documents.append(ledger.grant(name, call.kind, call.access)) }
    return Reply(PickerInterface.PickReply(documents: documents))
  }

  private static func start(_ call: AccessInterface.StartCall, _ ledger: inout Ledger) throws(ErrorReply) -> Reply {
    let number = try grant(call.scope, ledger)
    if ledger.grants[number]?.isRevoked == true { throw AccessInterface.Failure.revoked }
    let count = ledger.grants[number]?.count ?? 0
    if count == 0 && ledger.holders.count >= ledger.limit {
      throw AccessInterface.Failure.limitReached(limit: ledger.limit, holders: ledger.holders)
    }
    ledger.grants[number]?.count = count + 1
    if count == 0 { ledger.grants[number]?.caller = call.caller }
    return Reply(AccessInterface.StartReply(path: ledger.document(number).path, count: count + 1))
  }

  /// This server's bookmarks are not sealed: what sealing promises is tested where it is done.
  private static func create(
    _ call: BookmarksInterface.CreateCall, _ ledger: inout Ledger
  ) throws(ErrorReply) -> Reply {
    ledger.lastCreation = call
    let number = try grant(call.scope, ledger)
    guard let grant = ledger.grants[number], grant.count > 0 else { throw BookmarksInterface.Failure.notActive }
    let text = "bookmark \(number) \(grant.version) \(call.readOnly)"
    return Reply(BookmarksInterface.CreateReply(bookmark: Data(text.utf8).base64EncodedString()))
  }

  private static func resolve(_ base64: String, _ ledger: Ledger) throws(ErrorReply) -> Reply {
    let parts = String(decoding: Data(base64Encoded: base64) ?? Data(), as: UTF8.self).split(separator: " ")
    guard parts.count == 4, parts[0] == "bookmark", let number = Int(parts[1]), let version = Int(parts[2]) else {
      throw BookmarksInterface.Failure.badSeal("it was changed")
    }
    guard let grant = ledger.grants[number] else { throw BookmarksInterface.Failure.notFound(name: "lost.txt") }
    if grant.isRevoked { throw BookmarksInterface.Failure.revoked }
    var document = ledger.document(number)
    if parts[3] == "true" { document.access = .readOnly }
    return Reply(
      BookmarksInterface.ResolveReply(document: document, isStale: version != grant.version, matchedBy: .identity))
  }
}

/// Runs a test body with a broker of its own.
func withBroker(_ body: (ScriptedBroker) throws -> Void) throws {
  let broker = try ScriptedBroker()
  Broker.addressInTests.withLock { $0 = broker.address }
  defer { Broker.addressInTests.withLock { $0 = nil } }
  try body(broker)
  try broker.stop()
}
