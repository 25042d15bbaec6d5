import Audit
import Foundation
import TestSupport
import Testing

/// File systems that do not answer, or only when they are asked for (`BMK-16`, `BMK-10`).
@Suite(.serialized, .waitingLong)
struct HangTests {
  private func resolve(_ bookmark: String, _ options: [String] = []) -> [String: JSON] {
    var fields: [String: JSON] = ["bookmark": .string(bookmark), "as": "b"]
    if !options.isEmpty { fields["options"] = .array(options.map { .string($0) }) }
    return fields
  }

  @Test(.enabled(if: try Feature.fuse.isHere(OddFileSystem.isPossible), "needs fuse"), arguments: TestUser.one(.root))
  func `BMK-16: a document on a file system that does not answer is refused in time, and others are served meanwhile`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (point, silence) = ("\(world.folder)/slow", "\(world.folder)/silence")
      let slow = try OddFileSystem.answering(in: world, at: point, silence: silence)
      defer { slow.end() }
      let local = try world.document("local.txt", "local")
      let app = try world.probe(picks: ["\(point)/letter.txt", local])
      try app.pick()
      try app.pick(as: "local")
      #expect(try app.start())
      #expect(try app.read().content == "text")
      let bookmark = try app.bookmark()
      try app.stop()
      // The control: while it answers, it is found and started.
      #expect(try app.tell("resolve", resolve(bookmark))["matchedBy"] == "identity")
      #expect(try app.start("b"))
      try app.stop("b")

      #expect(FileManager.default.createFile(atPath: silence, contents: nil))
      let request = JSON.object(resolve(bookmark).merging(["do": "resolve"]) { old, _ in old })
      try app.process.send(request.text + "\n")
      let other = try world.probe("Other", picks: [local])
      try other.pick()
      for _ in 0..<50 {
        #expect(try other.start())
        try other.stop()
      }
      #expect(try other.start())
      let mark = try other.bookmark()
      try world.rename(local, to: "\(world.home)/moved.txt")
      #expect(try other.tell("resolve", resolve(mark))["matchedBy"] == "identity")
      // All of that while the first one waits.
      #expect(!app.process.allOutput.contains("does not answer"))
      let answer = try #require(JSON(try app.process.readLine(patience: .seconds(40))))
      #expect(answer["sentence"]?.string?.contains("letter.txt is on a file system that does not answer") == true)
      let refusal = try #require(try world.audit(.bookmarkResolved).last { $0.result == .refused })
      #expect(refusal.rule == "BMK-16" && refusal.reason?.contains("last seen at \(point)/letter.txt") == true)
      #expect(try !app.start())
      // It has nothing to do with what is elsewhere.
      #expect(try app.start("local"))
      #expect(try app.read("local").content == "local")

      // Once it answers again, it is asked again.
      try FileManager.default.removeItem(atPath: silence)
      try Deadline.wait(for: "the document to be found again") {
        try app.tell("resolve", resolve(bookmark))["matchedBy"] == "identity"
      }
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "text")
      let broker = try #require(try world.brokerProcess())
      #expect(try app.finish() == .status(0))
      #expect(try other.finish() == .status(0))
      #expect(try world.brokerProcess() == broker)
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
    }
  }

  @Test(
    .enabled(if: try Feature.fuse.isHere(OddFileSystem.isPossible), "needs fuse"), arguments: TestUser.one(.ordinary))
  func `AUD-1: what is withdrawn while a document is looked for is not given when it is found`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let (point, silence) = ("\(world.folder)/slow", "\(world.folder)/silence")
      let slow = try OddFileSystem.answering(in: world, at: point, silence: silence)
      defer { slow.end() }
      let app = try world.probe(picks: ["\(point)/letter.txt"])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      try app.stop()
      #expect(FileManager.default.createFile(atPath: silence, contents: nil))
      let request = JSON.object(resolve(bookmark).merging(["do": "resolve"]) { old, _ in old })
      try app.process.send(request.text + "\n")
      let grant = try #require(try world.grants().first?["grant"]?.string)
      #expect(try world.ambit("revoke", grant).exit == .status(0))
      #expect(app.process.allOutput.split(separator: "\n").count == 4)
      try FileManager.default.removeItem(atPath: silence)
      let answer = try #require(JSON(try app.process.readLine(patience: .seconds(40))))
      #expect(answer["sentence"]?.string?.contains("withdrawn") == true, "\(answer.text)")
      #expect(try world.audit(.bookmarkResolved).map(\.rule) == ["AUD-1"])
      #expect(try app.finish() == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
    }
  }

  @Test(.enabled(if: try Feature.autofs.isHere(OddFileSystem.mountsOnDemand), "needs autofs"), arguments: TestUser.all)
  func `BMK-10: without mounting, a volume that is not mounted is not found and not mounted; with it, it is`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      // What is mounted here later arrives in an ordinary user's broker as well, as it does on most machines.
      let shared = "\(world.folder)/shared"
      try world.makeFolder(shared)
      try mount(shared, flags: MS_BIND)
      defer { _ = unsafe umount2(shared, Int32(MNT_DETACH)) }
      try mount(shared, flags: MS_SHARED)
      let image = "\(world.folder)/disk.image"
      for command in [["truncate", "--size=24M", image], ["/usr/sbin/mkfs.ext4", "-q", "-F", image]] {
        #expect(
          try ChildProcess(command, user: .root, environment: world.environment, directory: "/").waitForExit()
            == .status(0))
      }
      let automounter = try OddFileSystem.mountingOnDemand(in: world, at: "\(shared)/auto", image: image)
      defer { automounter.end() }
      let document = "\(shared)/auto/disk/letter.txt"
      try user.own("\(shared)/auto/disk")
      try world.write("text", to: document)
      #expect(try automounter.mounts() == 1)

      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      let broker = try #require(try world.brokerProcess())
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      let name = (world.folder as NSString).lastPathComponent
      try Deadline.wait(for: "sandboxes to end") { ProcessTable.sandboxes(showing: name).isEmpty }
      _ = try automounter.tell("unmount")

      let next = try world.probe()
      for _ in 0..<3 {
        #expect(try next.tell("resolve", resolve(bookmark, ["withSecurityScope", "withoutMounting"]))["code"] == 4)
      }
      #expect(try automounter.mounts() == 1)
      #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-10")
      #expect(try next.tell("resolve", resolve(bookmark))["matchedBy"] == "identity")
      #expect(try automounter.mounts() == 2)
      #expect(try next.start("b"))
      #expect(try next.read("b").content == "text")
      // Now that it is mounted, it is there without mounting as well.
      #expect(
        try next.tell("resolve", resolve(bookmark, ["withSecurityScope", "withoutMounting"]))["matchedBy"] == "identity"
      )
      #expect(try next.finish() == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "sandboxes to end") { ProcessTable.sandboxes(showing: name).isEmpty }
    }
  }

  private func mount(_ path: String, flags: Int) throws {
    guard unsafe Glibc.mount(path, path, nil, UInt(flags), nil) == 0 else {
      throw HarnessError("mount \(path): \(errno)")
    }
  }
}
