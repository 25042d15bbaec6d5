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

  @Test(arguments: TestUser.inTurn(["pipe", "folder", "socket"]))
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
