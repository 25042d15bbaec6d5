import Audit
import Foundation
import TestSupport
import Testing

@Suite(.serialized, .waiting, .enabled(if: try Feature.loopDevices.isHere(DiskImage.isPossible), "needs loop-devices"))
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

  /// Picks a document on a volume of its own, and starts it.
  private func withStarted(
    _ user: TestUser, _ kind: VolumeKind,
    _ body: (Workspace, DiskImage, _ point: String, AppRun) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let image = try DiskImage(kind, in: "\(world.folder)/ambit-volumes")
      defer { image.unmount() }
      let point = try image.mount("first", for: user)
      try world.makeFolder("\(point)/Papers")
      try world.write("text", to: "\(point)/Papers/letter.txt")
      let app = try world.probe(picks: ["\(point)/Papers/letter.txt"])
      try app.pick()
      #expect(try app.start())
      try body(world, image, point, app)
    }
  }

  /// The same with a bookmark, and nothing running any more.
  private func withVolume(
    _ user: TestUser, _ kind: VolumeKind,
    _ body: (Workspace, DiskImage, _ point: String, _ bookmark: String) throws -> Void
  ) throws {
    try withStarted(user, kind) { (world, image, point, app) throws in
      let keys = JSON.array(["NSURLFileSizeKey", "NSURLContentModificationDateKey", "NSURLTypeIdentifierKey"])
      let bookmark = try #require(try app.tell("bookmark", ["of": "a", "keys": keys])["bookmark"]?.string)
      #expect(try app.finish() == .status(0))
      try stopBroker(world)
      try body(world, image, point, bookmark)
      _ = try? world.ambit("broker", "stop")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-1: a volume with nothing started on it can be unmounted, and what moves on it is found until then`(
    user: TestUser
  ) throws {
    try withStarted(user, try #require(VolumeKind.here.first)) { (world, _, point, app) throws in
      try app.stop()
      try world.makeFolder("\(point)/Other")
      try world.rename("\(point)/Papers/letter.txt", to: "\(point)/Other/moved.txt")
      #expect(try app.start())
      #expect(try app.read().content == "text")
      try app.stop()
      try Deadline.wait(for: "the volume to be nobody's") { (try? DiskImage.run("umount", point)) != nil }
      #expect(try world.brokerProcess() != nil)
      #expect(try app.finish() == .status(0))
    }
  }

  /// Nobody who unmounts it when an app has stopped is to wait for the broker to think of it: here the broker is held still.
  @Test(arguments: TestUser.all)
  func `BMK-1, AUD-11: a volume can be unmounted as soon as nothing is started on it`(user: TestUser) throws {
    try withStarted(user, try #require(VolumeKind.here.first)) { (world, _, point, app) throws in
      let broker = try #require(try world.brokerProcess())
      defer { _ = kill(broker, SIGCONT) }
      var isUnmounted = false
      for attempt in 0..<40 where !isUnmounted {
        // Its folder is watched by then.
        usleep(100_000)
        try app.stop()
        // The mount goes a moment later, by a thread; on a busy machine later than that. A folder that is watched for a while
        // after its last stop is so for longer.
        usleep(UInt32(min(200 + 40 * attempt, 800)) * 1000)
        #expect(kill(broker, SIGSTOP) == 0)
        isUnmounted = (try? DiskImage.run("umount", point)) != nil
        #expect(kill(broker, SIGCONT) == 0)
        if !isUnmounted { #expect(try app.start()) }
      }
      #expect(isUnmounted)
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all, VolumeKind.here)
  func `BMK-1, BMK-3, BMK-9: a volume that comes back elsewhere, as another device, has its documents`(
    user: TestUser, kind: VolumeKind
  ) throws {
    try withVolume(user, kind) { (world, image, point, bookmark) throws in
      try world.rename("\(point)/Papers", to: "\(point)/Letters")
      image.unmount()
      let app = try world.probe()
      // Not mounted, it is not there: nothing waits for it and nothing takes its place.
      try world.makeFolder("\(point)/Papers")
      try world.write("impostor", to: "\(point)/Papers/letter.txt")
      #expect(try resolve(app, bookmark)["code"] == 4)
      let refusal = try #require(try world.audit(.bookmarkResolved).last)
      #expect(refusal.reason?.contains("last seen at \(point)/Papers/letter.txt") == true)
      // BMK-9: what it remembers is answered without the volume, and without a look at what stands in its place.
      let names = ["Name", "IsRegularFile", "FileSize", "ContentModificationDate", "TypeIdentifier"]
      let keys = JSON.array(names.map { .string("NSURL\($0)Key") })
      let values = try app.tell("values", ["bookmark": .string(bookmark), "keys": keys])
      #expect(values["NSURLNameKey"] == "letter.txt" && values["NSURLIsRegularFileKey"] == true, "\(values.text)")
      #expect(values["NSURLFileSizeKey"] == 4 && values["NSURLTypeIdentifierKey"] == "public.plain-text")
      #expect(values["NSURLContentModificationDateKey"] != nil)
      #expect(try app.finish() == .status(0))
      try stopBroker(world)

      let second = try image.mount("second", for: user)
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

  @Test(arguments: TestUser.inTurn(VolumeKind.here))
  func `BMK-12: with cold caches a replaced file in a moved folder is followed`(user: TestUser, kind: VolumeKind) throws
  {
    try withVolume(user, kind) { (world, image, point, bookmark) throws in
      try world.rename("\(point)/Papers", to: "\(point)/Letters")
      try world.write("second version", to: "\(point)/Letters/.new")
      try world.rename("\(point)/Letters/.new", to: "\(point)/Letters/letter.txt")
      image.unmount()
      let second = try image.mount("second", for: user)
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

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-11: the trash at the top of a volume is one`(user: TestUser) throws {
    try withVolume(user, try #require(VolumeKind.here.first)) { (world, image, point, bookmark) throws in
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
