import Audit
import Foundation
import Kernel
import TestSupport
import Testing

/// What a broker knows of where documents have gone before it is asked, and that it does not look twice for what is not there.
@Suite(.serialized, .waiting)
struct FindingTests {
  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  private func stopBroker(_ world: Workspace) throws {
    let broker = try #require(try world.brokerProcess())
    #expect(try world.ambit("broker", "stop").exit == .status(0))
    try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
  }

  /// Whether the broker watches a folder (`proc(5)`, the fdinfo of inotify).
  private func isWatched(_ folder: String, by broker: Int32) throws -> Bool {
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else { return false }
    let mark = " ino:\(String(status.st_ino, radix: 16)) "
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(broker)/fdinfo")) ?? [] {
      guard let text = try? String(contentsOfFile: "/proc/\(broker)/fdinfo/\(name)", encoding: .utf8) else { continue }
      if text.split(separator: "\n").contains(where: { $0.hasPrefix("inotify ") && $0.contains(mark) }) { return true }
    }
    return false
  }

  @Test(arguments: TestUser.all)
  func `BMK-1: where documents went is known before they are asked for, also what moved while no broker ran`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let names = ["first.txt", "second.txt", "third.txt"]
      let documents = try names.map { try world.document("\($0)-folder/\($0)", $0) }
      let app = try world.probe(picks: documents)
      let bookmarks = try names.map { name in
        try app.pick(as: name)
        #expect(try app.start(name))
        return try app.bookmark(name)
      }
      #expect(try app.finish() == .status(0))
      try stopBroker(world)

      let places = names.map { "\(world.home)/far/\($0)-moved" }
      for place in places { try world.makeFolder(place) }
      try world.rename(documents[0], to: "\(places[0])/a.txt")
      let next = try world.probe()
      #expect(try next.tell("status")["used"] == 0)
      let broker = try #require(try world.brokerProcess())
      // By its handle root finds it wherever it is, and watches nothing.
      let by = user == .root ? "handle" : "catalog"
      func awaitWatch(_ folder: String) throws {
        guard user != .root else { return }
        try Deadline.wait(for: "the broker to watch \(folder)") { try isWatched(folder, by: broker) }
      }
      try awaitWatch(places[0])
      try awaitWatch((documents[1] as NSString).deletingLastPathComponent)
      try awaitWatch((documents[2] as NSString).deletingLastPathComponent)
      // One while the broker watches; and one whose whole folder moves.
      try world.rename(documents[1], to: "\(places[1])/b.txt")
      try world.rename((documents[2] as NSString).deletingLastPathComponent, to: "\(places[2])/folder")
      try awaitWatch(places[1])
      if user != .root {
        try Deadline.wait(for: "the broker to have looked") { try isWatched("\(places[2])/folder", by: broker) }
      }
      if user == .root { #expect(!(try isWatched(places[1], by: broker))) }
      for (index, bookmark) in bookmarks.enumerated() {
        // A survey's answer may be on its way when its watch is there already.
        #expect(try resolve(next, bookmark)["matchedBy"] == "identity")
        #expect(try next.start("b"))
        #expect(try next.read("b").content == names[index])
      }
      let found = try world.audit(.bookmarkResolved).suffix(3).map { $0.detail["by"] }
      #expect(found.prefix(2) == [by, by])
      #expect(try next.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-9: an app that asks for a dead document again and again has it searched for once`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      let branch = "\(world.home)/Papers/branch"
      try world.makeFolder(branch)
      try FileManager.default.removeItem(atPath: document)

      let next = try world.probe()
      let looks = try Looks(at: branch)
      #expect(try resolve(next, bookmark)["code"] == 4)
      let first = looks.count()
      // The control: without privilege there is no other way.
      #expect((first > 0) == (user != .root))
      for _ in 0..<20 { #expect(try resolve(next, bookmark)["code"] == 4) }
      // One more, if this machine was so slow that the first has been forgotten.
      #expect(looks.count() <= first + 1)
      let refusals = try world.audit(.bookmarkResolved)
      #expect(refusals.count == 21 && refusals.allSatisfy { $0.rule == "BMK-9" && $0.result == .refused })
      // What was not found is found as soon as it is where it was: nothing is taken for known.
      try world.write("another", to: document)
      #expect(try resolve(next, bookmark)["matchedBy"] == "path")
      #expect(try next.finish() == .status(0))
    }
  }

  /// Counts how often a folder is opened (`inotify(7)`).
  private struct Looks {
    private let queue: Descriptor

    init(at folder: String) throws {
      queue = Descriptor(owning: try KernelError.check("inotify_init1") { inotify_init1(Int32(IN_NONBLOCK)) })
      try KernelError.check("inotify_add_watch", folder) {
        unsafe inotify_add_watch(queue.rawValue, folder, UInt32(IN_OPEN))
      }
    }

    func count() -> Int {
      var buffer = [UInt8](repeating: 0, count: 65536)
      // Without a name an event has sixteen bytes.
      return max(0, unsafe read(queue.rawValue, &buffer, buffer.count)) / 16
    }
  }
}
