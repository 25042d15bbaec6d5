import Foundation
import Kernel
import Synchronization
import Testing
import Wire

@testable import AmbitKit

#if canImport(Glibc)
  import Glibc
#endif

/// A broker for documents in one process: grants each access, and presents everything.
private final class DocumentBroker: Sendable {
  let folder: String
  /// Microseconds that an access for writing waits.
  let delay = Atomic<UInt32>(0)
  /// Accesses for writing wait until this is over.
  let holdsWriters = Atomic(false)
  private let isOver = Atomic(false)
  private let done = DispatchSemaphore(value: 0)

  init() throws {
    folder = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/ambit-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let listener = try UnixSocket.listen(
      in: Descriptor(owning: unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), name: "broker")
    Thread.detachNewThread { [self] in
      serve(listener)
      done.signal()
    }
    Broker.addressInTests.withLock { $0 = "unix:\(folder)/broker" }
  }

  func end() {
    Broker.addressInTests.withLock { $0 = nil }
    isOver.store(true, ordering: .relaxed)
    done.wait()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func serve(_ listener: Descriptor) {
    let service = WireService(info: ServiceInfo(version: "1", url: "https://example.org"), interfaces: Interface.app)
    func now() -> Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }
    let endpoint = WireEndpoint(listener: listener, service: service, limits: .app, now: now())
    var (last, presenters): (Int, [Int: WireConnection]) = (0, [:])
    while !isOver.load(ordering: .relaxed) {
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: now())
      _ = try? Poll.wait(&entries, timeout: min(endpoint.timeout(now: now()) ?? .milliseconds(5), .milliseconds(5)))
      for event in endpoint.process(entries[range], now: now()) {
        guard case .call(let connection, let call) = event else { continue }
        last += 1
        var reply: Reply? = Reply([:])
        switch call.member {
        case "Access":
          guard let access = try? CoordinationInterface.AccessCall(json: call.parameters) else { continue }
          if access.intents.contains(where: { $0.use == .write }) {
            usleep(delay.load(ordering: .relaxed))
            while holdsWriters.load(ordering: .relaxed), !isOver.load(ordering: .relaxed) { usleep(1000) }
          }
          reply = Reply(CoordinationInterface.AccessReply(access: last, paths: access.intents.map(\.path)))
        case "Present":
          presenters[last] = connection
          let message = CoordinationInterface.Message(kind: .presenting, presenter: last, conflicts: false)
          reply = Reply(CoordinationInterface.PresentReply(message: message), continues: true)
        case "Leave":
          if let id = try? CoordinationInterface.LeaveCall(json: call.parameters).presenter {
            presenters.removeValue(forKey: id)?
              .send(Reply(CoordinationInterface.PresentReply(message: .init(kind: .left))))
          }
        case "List": reply = Reply(VersionsInterface.ListReply(versions: []))
        default: break
        }
        if let reply, !call.call.oneway { connection.send(reply) }
      }
    }
  }
}

@MainActor private final class Note: Document {
  var text = ""
  private(set) var events: [String] = []
  /// Runs once, when the file has been read and not taken yet.
  var onLoad: (() -> Void)?
  var type: String?

  func type(_ new: String) {
    text = new
    updateChangeCount(.done)
  }

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }
  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    let act = onLoad
    onLoad = nil
    act?()
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
    events.append("load \(text)")
  }
  override func disableEditing() { events.append("disable") }
  override func enableEditing() { events.append("enable") }
  override var savingFileType: String? { type ?? fileType }
}

extension AmbitKitTests {
  @MainActor @Suite struct `A document's changes` {
    private func with(_ body: (DocumentBroker, URL) async throws -> Void) async throws {
      let broker = try DocumentBroker()
      defer { broker.end() }
      let url = URL(fileURLWithPath: "\(broker.folder)/note.txt")
      try Data("once".utf8).write(to: url)
      try await body(broker, url)
    }

    private func content(_ url: URL) -> String {
      (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func wait(_ what: String, until holds: () -> Bool) async throws {
      for _ in 0..<1000 where !holds() { try await Task.sleep(for: .milliseconds(10)) }
      #expect(holds(), "\(what)")
    }

    private func replace(_ url: URL, by text: String) throws {
      let other = url.deletingLastPathComponent().appendingPathComponent("other")
      try Data(text.utf8).write(to: other)
      #expect(unsafe rename(other.path, url.path) == 0)
    }

    @Test func `DOC-4: one that comes during a save is saved by itself as well`() async throws {
      try await with { broker, url in
        let note = Note(fileURL: url)
        note.autosavingDelay = 0.02
        #expect(await note.open())
        broker.delay.store(100_000, ordering: .relaxed)
        note.type("first")
        try await Task.sleep(for: .milliseconds(60))
        note.type("second")
        try await wait("the second one is in the file") { content(url) == "second" && !note.hasUnsavedChanges }
        #expect(await note.close())
      }
    }

    @Test func `DOC-4: one that comes while the document closes is saved`() async throws {
      try await with { broker, url in
        let note = Note(fileURL: url)
        note.autosavingDelay = 3600
        #expect(await note.open())
        broker.holdsWriters.store(true, ordering: .relaxed)
        note.type("first")
        async let closed = note.close()
        try await wait("the save has begun") { note.running > 0 }
        note.type("second")
        broker.holdsWriters.store(false, ordering: .relaxed)
        #expect(await closed && note.documentState == .closed)
        #expect(content(url) == "second")
      }
    }

    @Test func `DOC-6: two pieces of news of one change read the file once, and editing stays disabled until then`()
      async throws
    {
      try await with { _, url in
        let note = Note(fileURL: url)
        note.autosavingDelay = 3600
        #expect(await note.open())
        try replace(url, by: "theirs")
        note.presentedItemDidChange()
        note.presentedItemDidChange()
        try await wait("it is read") { note.text == "theirs" && !note.documentState.contains(.editingDisabled) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(note.events == ["load once", "disable", "load theirs", "enable"])
        #expect(await note.close())
      }
    }

    @Test func `what another program writes while the document is opened is read`() async throws {
      try await with { _, url in
        let note = Note(fileURL: url)
        note.onLoad = { try? self.replace(url, by: "newer") }
        #expect(await note.open())
        try await wait("it is read") { note.text == "newer" }
        #expect(await note.close())
      }
    }

    @Test func `DOC-12: a document that gets another name by its type replaces no other one`() async throws {
      try await with { broker, url in
        let other = URL(fileURLWithPath: "\(broker.folder)/note.md")
        try Data("other".utf8).write(to: other)
        let note = Note(fileURL: url)
        note.autosavingDelay = 3600
        #expect(await note.open())
        note.type = UTType(filenameExtension: "md")?.identifier
        note.type("mine")
        #expect(await !note.autosave())
        #expect((note.lastError as? CocoaError)?.code == .fileWriteFileExists)
        #expect(content(other) == "other" && content(url) == "once" && note.hasUnsavedChanges)
        try FileManager.default.removeItem(at: other)
        #expect(await note.autosave())
        #expect(content(other) == "mine" && note.fileURL == other && !FileManager.default.fileExists(atPath: url.path))
        #expect(await note.close())
      }
    }
  }

  @Suite struct `A stream of updates` {
    /// Answers the first call on a connection with some bytes, all in one go.
    private func serve(_ bytes: [UInt8], _ folder: String) throws -> Descriptor {
      let listener = try UnixSocket.listen(
        in: Descriptor(owning: unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), name: "broker")
      Thread.detachNewThread {
        while true {
          var entries = [PollEntry(listener, .read)]
          _ = try? Poll.wait(&entries, timeout: .seconds(10))
          guard let socket = try? UnixSocket.accept(listener) else { return }
          entries = [PollEntry(socket, .read)]
          _ = try? Poll.wait(&entries, timeout: .seconds(10))
          _ = try? UnixSocket.send(bytes, from: 0, descriptors: [], to: socket, wait: true)
          // Until the client has gone.
          entries = [PollEntry(socket, .read)]
          sleep(3)
          return
        }
      }
      return listener
    }

    @Test func `that comes together with its beginning is told`() async throws {
      let folder =
        URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/ambit-" + UUID().uuidString
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let updates: [QueryInterface.Update] = [
        .init(phase: .running, query: 1, present: [], removed: []), .init(phase: .gathered, present: [], removed: []),
      ]
      let bytes = updates.flatMap { update in
        let reply: JSONObject = [
          "parameters": .object(QueryInterface.RunReply(update: update).json), "continues": true,
        ]
        return Array(reply.text.utf8) + [0]
      }
      let listener = try serve(bytes, folder)
      Broker.addressInTests.withLock { $0 = "unix:\(folder)/broker" }
      defer { Broker.addressInTests.withLock { $0 = nil } }
      let query = NSMetadataQuery()
      query.predicate = NSPredicate(format: "TRUEPREDICATE")
      #expect(query.start())
      for _ in 0..<200 where query.isGathering { try await Task.sleep(for: .milliseconds(10)) }
      #expect(!query.isGathering && query.isStarted)
      query.stop()
      withExtendedLifetime(listener) {}
    }
  }
}
