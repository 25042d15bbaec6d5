import Audit
import Foundation
import TestSupport
import Testing

/// A file system in a file: taken away, and back as another device in another place. As after a boot nothing of it is in
/// any cache, and nothing has its old number.
private final class Image {
  private let path: String
  private var device: String?
  private var point: String?
  private var spare: String?

  static let isPossible =
    geteuid() == 0
    && ["/usr/sbin/mkfs.ext4", "/usr/sbin/losetup"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
    && FileManager.default.isReadableFile(atPath: "/dev/loop-control")

  init(in world: Workspace, _ name: String) throws {
    path = "\(world.folder)/\(name).image"
    try Self.run("/usr/bin/truncate", "--size=24M", path)
    try Self.run("/usr/sbin/mkfs.ext4", "-q", "-F", path)
  }

  deinit {
    unmount()
    if let spare { _ = try? Self.run("/usr/sbin/losetup", "--detach", spare) }
  }

  @discardableResult
  private static func run(_ program: String, _ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw HarnessError("\(program) \(arguments)") }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func mount(at point: String, for user: TestUser) throws {
    let device = try Self.run("/usr/sbin/losetup", "--find", "--show", path)
    self.device = device
    try FileManager.default.createDirectory(atPath: point, withIntermediateDirectories: true)
    try Self.run("/usr/bin/mount", device, point)
    self.point = point
    try user.own(point)
  }

  func unmount() {
    if let point {
      // Tests beside this one may have copied the mount into namespaces of theirs: the disk has to be whole without them.
      _ = try? Self.run("/usr/bin/mount", "-o", "remount,ro", point)
      // A search of another test's may be in it just now.
      for _ in 0..<200 {
        if (try? Self.run("/usr/bin/umount", point)) != nil { break }
        usleep(20_000)
      }
    }
    if let device { _ = try? Self.run("/usr/sbin/losetup", "--detach", device) }
    (point, device) = (nil, nil)
    // The number that it had is another one's now.
    if spare == nil { spare = try? Self.run("/usr/sbin/losetup", "--find", "--show", "--read-only", path) }
  }
}

@Suite(.serialized, .enabled(if: Image.isPossible, "needs loop devices"))
struct VolumeTests {
  private func stopBroker(_ world: Workspace) throws {
    let broker = try #require(try world.brokerProcess())
    #expect(try world.ambit("broker", "stop").exit == .status(0))
    try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
    // An ordinary user's broker has the volume in a namespace of its own, which goes with the last process in it.
    let name = (world.folder as NSString).lastPathComponent
    try Deadline.wait(for: "sandboxes to end") { ProcessTable.sandboxes(showing: name).isEmpty }
  }

  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  /// Picks a document on a volume of its own, keeps a bookmark, and hands all of it over with nothing running.
  private func withVolume(
    _ user: TestUser, _ body: (Workspace, Image, _ point: String, _ bookmark: String) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let image = try Image(in: world, "disk")
      let point = "\(world.folder)/first"
      try image.mount(at: point, for: user)
      defer { image.unmount() }
      try world.makeFolder("\(point)/Papers")
      try world.write("text", to: "\(point)/Papers/letter.txt")
      let app = try world.probe(picks: ["\(point)/Papers/letter.txt"])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      try body(world, image, point, bookmark)
      _ = try? world.ambit("broker", "stop")
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-1, BMK-3: a volume that comes back elsewhere, as another device, has its documents`(user: TestUser) throws {
    try withVolume(user) { (world, image, point, bookmark) throws in
      try world.rename("\(point)/Papers", to: "\(point)/Letters")
      image.unmount()
      let app = try world.probe()
      // Not mounted, it is not there: nothing waits for it and nothing takes its place.
      try world.makeFolder("\(point)/Papers")
      try world.write("impostor", to: "\(point)/Papers/letter.txt")
      #expect(try resolve(app, bookmark)["code"] == 4)
      let refusal = try #require(try world.audit(.bookmarkResolved).last)
      #expect(refusal.reason?.contains("last seen at \(point)/Papers/letter.txt") == true)
      #expect(try app.finish() == .status(0))
      try stopBroker(world)

      let second = "\(world.folder)/second"
      try image.mount(at: second, for: user)
      let next = try world.probe()
      let found = try resolve(next, bookmark)
      #expect(found["matchedBy"] == "identity" && found["stale"] == true, "\(found.text)")
      #expect(try next.start("b"))
      #expect(try next.read("b").content == "text")
      #expect(try next.tell("append", ["of": "b", "text": "+"]).isDone)
      #expect(try world.audit(.bookmarkResolved).last?.document?.path == "\(second)/Letters/letter.txt")
      #expect(try next.finish() == .status(0))
      #expect(try world.read("\(second)/Letters/letter.txt") == "text+")
      try stopBroker(world)
      image.unmount()
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-12: with cold caches a replaced file in a moved folder is followed`(user: TestUser) throws {
    try withVolume(user) { (world, image, point, bookmark) throws in
      try world.rename("\(point)/Papers", to: "\(point)/Letters")
      try world.write("second version", to: "\(point)/Letters/.new")
      try world.rename("\(point)/Letters/.new", to: "\(point)/Letters/letter.txt")
      image.unmount()
      let second = "\(world.folder)/second"
      try image.mount(at: second, for: user)
      let app = try world.probe()
      #expect(try resolve(app, bookmark)["matchedBy"] == "path")
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "second version")
      #expect(try world.audit(.replaced).last?.document?.path == "\(second)/Letters/letter.txt")
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      image.unmount()
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-15: a document that was copied to another volume and deleted is refused, with where it was last seen`(
    user: TestUser
  ) throws {
    try withVolume(user) { (world, image, point, bookmark) throws in
      let copy = try world.document("letter.txt", "text")
      try FileManager.default.removeItem(atPath: "\(point)/Papers/letter.txt")
      let app = try world.probe()
      let answer = try resolve(app, bookmark)
      #expect(answer["code"] == 4)
      #expect(answer["sentence"]?.string?.contains("“letter.txt”") == true)
      #expect(answer["sentence"]?.string?.contains("last seen at /documents/") == true)
      let refusal = try #require(try world.audit(.bookmarkResolved).last)
      #expect(refusal.rule == "BMK-9")
      #expect(refusal.reason?.contains("last seen at \(point)/Papers/letter.txt") == true)
      #expect(try world.read(copy) == "text")
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      image.unmount()
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-11: the trash at the top of a volume is one`(user: TestUser) throws {
    try withVolume(user) { (world, image, point, bookmark) throws in
      for trash in ["\(point)/.Trash-\(user.id)/files", "\(point)/.Trash/\(user.id)/files"] {
        try world.makeFolder(trash)
        try world.rename("\(point)/Papers/letter.txt", to: "\(trash)/letter.txt")
        let app = try world.probe()
        #expect(try resolve(app, bookmark)["location"] == "trash")
        #expect(try app.start("b"))
        #expect(try app.read("b").content == "text")
        #expect(try app.finish() == .status(0))
        try world.rename("\(trash)/letter.txt", to: "\(point)/Papers/letter.txt")
      }
      try stopBroker(world)
      image.unmount()
    }
  }
}
