import Audit
import Foundation
import TestSupport
import Testing

/// Group E of the catalogue: bookmarks.
@Suite(.serialized, .waiting)
struct BookmarkTests {
  /// Makes a bookmark of `letter.txt` in one launch, and hands the bytes to the body; that launch is over by then.
  private func withBookmark(
    _ user: TestUser, _ body: (Workspace, _ document: String, _ bookmark: String) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      try body(world, document, bookmark)
    }
  }

  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-20: a bookmark that was changed in any byte, or cut, is refused as a bad seal`(user: TestUser) throws {
    try withBookmark(user) { (world, _, bookmark) throws in
      let whole = try #require(Data(base64Encoded: bookmark))
      var damaged: [Data] = []
      for index in whole.indices {
        var copy = whole
        copy[index] ^= 1 << UInt8(index % 8)
        damaged.append(copy)
      }
      for length in 0..<whole.count { damaged.append(whole.prefix(length)) }
      damaged.append(whole + [0])
      damaged.append(whole + whole)

      let app = try world.probe()
      let broker = try #require(try world.brokerProcess())
      for bytes in damaged {
        let answer = try resolve(app, bytes.base64EncodedString())
        #expect(answer.url == nil && answer["code"] == 259, "\(bytes.base64EncodedString())")
      }
      // After a burst they are counted, and told of a second later at the latest.
      var refusals: [AuditEvent] = []
      try Deadline.wait(for: "every refusal to be told of") {
        refusals = try world.audit(.bookmarkResolved)
        return refusals.map(\.occurrences).reduce(0, +) >= damaged.count
      }
      #expect(refusals.map(\.occurrences).reduce(0, +) == damaged.count)
      #expect(
        refusals.allSatisfy { $0.result == .refused && $0.rule == "BMK-20" && $0.reason?.hasPrefix("bad seal") == true }
      )
      #expect(try app.tell("status")["used"] == 0)
      // The control: the whole one still resolves, by the same broker.
      #expect(try resolve(app, bookmark).url != nil)
      #expect(try world.brokerProcess() == broker)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-20: a reference's seal is no bookmark's, nor the other way round`(user: TestUser) throws {
    try withBookmark(user) { (world, _, bookmark) throws in
      let app = try world.probe()
      let documents = "\(world.container(Workspace.identifier("Probe")))/Documents"
      let reference = try Data(contentsOf: URL(fileURLWithPath: "\(documents)/letter.txt.ambitref"))
      #expect(try resolve(app, reference.base64EncodedString())["code"] == 259)
      let forged = #"{"method":"io.ambit.Bookmarks.ResolveReference","parameters":{"reference":"\#(bookmark)"}}"#
      #expect(try app.tell("raw", ["text": .string(forged)])["reply"]?.string?.contains("BadSeal") == true)
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-12: another file that took the document's name is not it while the document is there`(user: TestUser) throws
  {
    try withBookmark(user) { (world, document, bookmark) throws in
      try world.rename(document, to: "\(world.home)/kept.txt")
      try world.write("impostor", to: document)
      let app = try world.probe()
      let found = try resolve(app, bookmark)
      #expect(found["name"] == "kept.txt")
      #expect(found["matchedBy"] == "identity")
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "text")
      try app.stop("b")
      // A link under the old name is no file that could take its place.
      try FileManager.default.removeItem(atPath: document)
      try FileManager.default.createSymbolicLink(atPath: document, withDestinationPath: "/etc/passwd")
      try FileManager.default.removeItem(atPath: "\(world.home)/kept.txt")
      #expect(try resolve(app, bookmark).url == nil)
      #expect(try !app.start("b"))
      #expect(try world.audit(.bookmarkResolved).last?.result == .refused)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-13: a bookmark leads to the document, and says that another file stands at its old place`(
    user: TestUser
  ) throws {
    try withBookmark(user) { (world, document, bookmark) throws in
      try world.rename(document, to: "\(world.home)/kept.txt")
      let app = try world.probe()
      #expect(try resolve(app, bookmark)["taken"] == false)
      try world.write("another", to: document)
      let found = try resolve(app, bookmark)
      #expect(found["name"] == "kept.txt" && found["matchedBy"] == "identity" && found["taken"] == true)
      #expect(try world.audit(.bookmarkResolved).last?.detail["taken"] == document)
      // Another name of the very file is no other file.
      try FileManager.default.removeItem(atPath: document)
      try FileManager.default.linkItem(atPath: "\(world.home)/kept.txt", toPath: document)
      #expect(try resolve(app, bookmark)["taken"] == false)
      #expect(try app.finish() == .status(0))

    }
  }

  @Test func `BMK-13: ambitctl says that another file stands at the document's old place`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.start(
        saving: [document],
        """
        open; b=$(ambitctl bookmark create "$u"); cd /; ambitctl stop "$u"; echo ready; read -r line
        ambitctl bookmark resolve <<<"$b" 2>&1 >/dev/null; echo end
        """)
      #expect(try app.readLine() == "ready")
      try world.rename(document, to: "\(world.home)/kept.txt")
      try world.write("another", to: document)
      try app.send("\n")
      #expect(try app.wait(forOutput: "end\n").contains("another file stands at its old place"))
      _ = try app.outcome()
    }
  }

  /// Tells how often something was opened (`IN_OPEN`), or a socket in its place was called, since it was asked last.
  private static let watcher = """
    import ctypes, os, socket, struct, sys
    path, kind = sys.argv[1:]
    if kind == 'folder': os.mkdir(path)
    if kind == 'pipe': os.mkfifo(path)
    if kind == 'socket':
        place = socket.socket(socket.AF_UNIX)
        place.bind(path)
        place.listen()
        place.setblocking(False)
    libc = ctypes.CDLL(None)
    queue = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(queue, path.encode(), 0x20)
    print('ready', flush=True)
    for line in sys.stdin:
        count = 0
        try:
            data = os.read(queue, 65536)
            while data:
                count += 1
                data = data[16 + struct.unpack_from('IIII', data)[3]:]
        except BlockingIOError: pass
        try:
            if kind == 'socket':
                while place.accept(): count += 1
        except BlockingIOError: pass
        print(count, flush=True)
    """

  @Test(arguments: TestUser.all, ["folder", "pipe", "socket"])
  func `BMK-12: a folder, a pipe or a socket in the document's place is never followed, and never opened`(
    user: TestUser, kind: String
  ) throws {
    try withBookmark(user) { (world, document, bookmark) throws in
      let running = try world.probe("Second", picks: [document])
      try running.pick()
      try FileManager.default.removeItem(atPath: document)
      let place = try world.start(["/usr/bin/python3", "-I", "-c", Self.watcher, document, kind])
      #expect(try place.readLine() == "ready")
      func opened() throws -> Int? {
        try place.send("\n")
        return Int(try place.readLine())
      }
      let app = try world.probe()
      for _ in 1...2 {
        let answer = try resolve(app, bookmark)
        #expect(answer.url == nil && answer["code"] == 4, "\(answer.text)")
      }
      #expect(try !running.start())
      #expect(try running.read().errno == refused)
      #expect(try world.audit(.replaced).isEmpty)
      let refusals = try world.audit().filter { $0.result != .allowed }
      #expect(refusals.map(\.kind) == [.bookmarkResolved, .bookmarkResolved, .start], "\(refusals)")
      #expect(try opened() == 0)
      // The control: whoever opens it, or calls, is seen.
      let open = [
        "folder": "os.listdir(path)", "pipe": "os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))",
        "socket": "socket.socket(socket.AF_UNIX).connect(path)",
      ]
      let script = "import os, socket, sys; path = sys.argv[1]; \(open[kind] ?? "")"
      #expect(try world.run(["/usr/bin/python3", "-I", "-c", script, document]).exit == .status(0))
      #expect(try opened() == 1)
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-12: a start follows as well, and after a new broker`(user: TestUser) throws {
    try withBookmark(user) { (world, document, bookmark) throws in
      let app = try world.probe()
      _ = try resolve(app, bookmark)
      try world.write("second version", to: "\(document).new")
      try world.rename("\(document).new", to: document)
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "second version")
      #expect(try world.audit(.replaced).count == 1)
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      try world.write("third version", to: "\(document).new")
      try world.rename("\(document).new", to: document)
      let next = try world.probe()
      #expect(try resolve(next, bookmark)["matchedBy"] == "path")
      #expect(try next.start("b"))
      #expect(try next.read("b").content == "third version")
      #expect(try world.audit(.replaced).count == 2)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-12, SBX-12: another folder under the same path, and a file with another name, are no replacement`(
    user: TestUser
  )
    throws
  {
    try withBookmark(user) { (world, document, bookmark) throws in
      let secret = try world.document("secret.txt", "secret")
      try FileManager.default.removeItem(atPath: document)
      try FileManager.default.linkItem(atPath: secret, toPath: document)
      let app = try world.probe()
      #expect(try resolve(app, bookmark).url == nil)
      try FileManager.default.removeItem(atPath: "\(world.home)/Papers")
      try world.document("letter.txt", "impostor")
      #expect(try resolve(app, bookmark).url == nil)
      #expect(try world.audit(.bookmarkResolved).map(\.rule) == ["BMK-12", "BMK-12"])
      #expect(try world.audit(.replaced).isEmpty)
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-3, BMK-21: another file that took the document's inode is not the document`(user: TestUser) throws {
    try withBookmark(user) { (world, document, bookmark) throws in
      try stopBroker(world)
      func inode() throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: document)[.systemFileNumber] as? UInt64
      }
      let original = try inode()
      // File systems that number anew have no such case; others give the number back after a few tries.
      for attempt in 1...200 {
        try FileManager.default.removeItem(atPath: document)
        try world.write("impostor \(attempt)", to: document)
        if try inode() == original { break }
      }
      let strict = try world.probe(options: ["--policy", "apple-identity"])
      #expect(try resolve(strict, bookmark).url == nil)
      // As a backup that was put back it is in the document's place, and never taken for the very file.
      let app = try world.probe()
      let found = try resolve(app, bookmark)
      #expect(found["matchedBy"] == "path")
      #expect(found["stale"] == true)
    }
  }

  private func stopBroker(_ world: Workspace) throws {
    let broker = try #require(try world.brokerProcess())
    #expect(try world.ambit("broker", "stop").exit == .status(0))
    // It has said goodbye, and may need a moment to be gone.
    try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
  }
}
