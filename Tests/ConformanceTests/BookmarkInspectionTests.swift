import Audit
import Foundation
import ScopedAccess
import TestSupport
import Testing

/// `ambit bookmark inspect`, and what only the machine can change: volumes and boots.
@Suite(.serialized, .waiting)
struct BookmarkInspectionTests {
  private func inspect(_ world: Workspace, _ content: Data) throws -> JSON {
    let file = "\(world.folder)/sealed"
    try content.write(to: URL(fileURLWithPath: file))
    _ = unsafe chmod(file, 0o644)
    let outcome = try world.ambit("bookmark", "inspect", file, "--format", "json")
    return try #require(JSON(outcome.output), "\(outcome)")
  }

  @Test(arguments: TestUser.one(.root))
  func `the user sees what a bookmark or a reference holds and leads to, looking changes nothing, and no app can ask`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      let sealed = try #require(Data(base64Encoded: bookmark))
      try app.stop()
      let events = try world.audit().count

      let file = "\(world.container(Workspace.identifier("Probe")))/Documents/letter.txt.ambitref"
      let reference = try inspect(world, try Data(contentsOf: URL(fileURLWithPath: file)))
      #expect(reference["purpose"] == "reference" && reference["found"]?["matchedBy"] == "identity")
      let table = try world.ambit("bookmark", "inspect", file)
      #expect(table.exit == .status(0) && table.output.contains("document reference"))
      let broken = try world.ambit("bookmark", "inspect", try world.document("broken", "nonsense"))
      #expect(broken.exit != .status(0) && broken.errors.contains("no bookmark of yours"))

      let seen = try inspect(world, Data(bookmark.utf8))
      #expect(seen["app"]?.string == Workspace.identifier("Probe"))
      #expect(seen["scope"] == "app" && seen["state"] == "inForce" && seen["origin"] == "scripted")
      #expect(seen["path"]?.string == document)
      #expect(seen["place"]?["name"] == "letter.txt")
      #expect(seen["identity"]?["inode"] != nil && seen["identity"]?["handle"]?.string?.isEmpty == false)
      #expect(seen["found"]?["path"]?.string == document)
      #expect(seen["found"]?["matchedBy"] == "identity" && seen["found"]?["isStale"] == false)
      #expect(try inspect(world, sealed).text == seen.text)

      try world.rename(document, to: "\(world.home)/moved.txt")
      #expect(try inspect(world, sealed)["found"]?["isStale"] == true)
      try FileManager.default.removeItem(atPath: "\(world.home)/moved.txt")
      let gone = try inspect(world, sealed)
      #expect(gone["found"] == nil)
      #expect(gone["problem"]?.string?.contains("last seen at") == true)
      #expect(try world.audit().count == events)
      // The seal's key is in no answer.
      let key = try Data(contentsOf: URL(fileURLWithPath: "\(world.ambitHome)/state/sealing.key"))
      #expect(!seen.text.contains(key.map { String(format: "%02x", $0) }.joined()))
      #expect(!seen.text.contains(key.base64EncodedString()))

      let asked = #"{"method":"io.ambit.Inspector.Bookmark","parameters":{"sealed":"AAAA"}}"#
      #expect(
        try app.tell("raw", ["text": .string(asked)])["reply"]?.string?.contains("InterfaceNotFound") == true)
    }
  }

  /// The boot's identifier is the kernel's; a broker that sees another one has been started after a boot.
  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-8: after the machine was started anew an implicit bookmark is its own app's alone`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let made = try app.tell("bookmark", ["of": "a", "options": .array([])])
      let bookmark = try #require(made["bookmark"]?.string)
      #expect(try app.finish() == .status(0))
      try stopBroker(world)

      let boot = "\(world.folder)/boot"
      try Data("00000000-1111-2222-3333-444444444444\n".utf8).write(to: URL(fileURLWithPath: boot))
      _ = unsafe chmod(boot, 0o644)
      let file = "\(world.folder)/sealed"
      try Data(bookmark.utf8).write(to: URL(fileURLWithPath: file))
      _ = unsafe chmod(file, 0o644)
      let ambit = try Products.path("ambit")
      let outcome = try world.run(
        script: "'\(ambit)' bookmark inspect '\(file)' --format json",
        afterMounting: "mount --bind '\(boot)' /proc/sys/kernel/random/boot_id")
      let seen = try #require(JSON(outcome.output), "\(outcome)")
      #expect(seen["until"]?.string?.contains("started anew") == true)
      #expect(seen["found"]?["matchedBy"] == "identity")
      // An ordinary user's apps live in their broker's namespaces, where the mount over /proc would keep sandboxes from being
      // made; for both, the next test has such a bookmark.
      if user == .root {
        #expect(try resolve(world.probe("Other"), bookmark)["code"] == 259)
        #expect(try resolve(world.probe(), bookmark)["name"] == "letter.txt")
        let refusal = try world.audit(.bookmarkResolved).first { $0.result == .refused }
        #expect(refusal?.rule == "BMK-8")
      }
      try stopBroker(world)
      // The control: by the kernel's own identifier it is good for others still.
      #expect(try inspect(world, Data(bookmark.utf8))["until"] == nil)
      #expect(try resolve(world.probe("Other"), bookmark)["name"] == "letter.txt")
    }
  }

  /// The same bookmark, as it would have been sealed when the machine had been started another time.
  @Test(arguments: TestUser.one(.root))
  func `BMK-8: an implicit bookmark of another boot is refused to another app, and opens for the one that made it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      #expect(try app.start())
      let made = try #require(try app.tell("bookmark", ["of": "a", "options": .array([])])["bookmark"]?.string)
      #expect(try app.finish() == .status(0))

      let key = try SealingKey.load(from: "\(world.ambitHome)/state/sealing.key")
      let sealed = Array(try #require(Data(base64Encoded: made)))
      let bookmark = try Bookmark.open(sealed, with: key, for: .bookmark)
      let now = try world.read("/proc/sys/kernel/random/boot_id").trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(bookmark.scope == .implicit(boot: now))
      func sealedAnew(_ boot: String) -> String {
        let other = Bookmark(
          bundleIdentifier: bookmark.bundleIdentifier, grant: bookmark.grant, rights: bookmark.rights,
          path: bookmark.path, identity: bookmark.identity, place: bookmark.place, created: bookmark.created,
          scope: .implicit(boot: boot), values: bookmark.values, inside: bookmark.inside)
        return Data(other.sealed(with: key, for: .bookmark)).base64EncodedString()
      }
      let former = sealedAnew("00000000-1111-2222-3333-444444444444")
      let other = try world.probe("Other")
      let answer = try resolve(other, former)
      #expect(answer.url == nil && answer["code"] == 259, "\(answer.text)")
      let refusal = try #require(try world.audit(.bookmarkResolved).last)
      #expect(refusal.result == .refused && refusal.rule == "BMK-8" && refusal.app == Workspace.identifier("Other"))
      let values: [String: JSON] = ["bookmark": .string(former), "keys": .array(["NSURLNameKey"])]
      #expect(try other.tell("values", values)["none"] == true)
      #expect(try world.grants().map { $0["bundleIdentifier"]?.string } == [Workspace.identifier("Probe")])
      // The controls: sealed in the same way with this boot's identifier it opens; and the maker needs no identifier.
      #expect(try resolve(other, sealedAnew(now))["name"] == "letter.txt")
      #expect(try other.read("b").content == "text")
      let own = try world.probe()
      #expect(try resolve(own, former)["name"] == "letter.txt")
      #expect(try own.tell("values", values)["NSURLNameKey"] == "letter.txt")
    }
  }

  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  private func stopBroker(_ world: Workspace) throws {
    let broker = try #require(try world.brokerProcess())
    #expect(try world.ambit("broker", "stop").exit == .status(0))
    try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
  }
}
