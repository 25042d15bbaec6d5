import Audit
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Group I of the catalogue: an app is who it is, whatever its manifest or its file's name says.
@Suite(.serialized, .waiting)
struct IdentityTests {
  private static let identifier = "io.ambit.tests.ed"

  /// Says what it found in its container, puts its own name there, and says under which identifier it runs.
  private static func script(_ name: String) -> String {
    "#!/bin/sh\necho found $(cat ~/own 2>/dev/null)\necho \(name) >~/own\necho $AMBIT_APP\n"
  }

  /// A bundle in a folder of its own.
  private func bundle(_ world: Workspace, _ place: String, _ name: String) throws -> String {
    let folder = "\(world.home)/\(place)/Ed.app"
    if !FileManager.default.fileExists(atPath: folder) {
      let made = try world.bundle(name, identifier: Self.identifier, script: Self.script(name))
      try world.makeFolder("\(world.home)/\(place)")
      try FileManager.default.moveItem(atPath: made, toPath: folder)
    }
    for path in [folder, "\(folder)/main", "\(folder)/Info.plist"] { try world.user.own(path) }
    return folder
  }

  @Test func `SBX-20: the same bundle elsewhere and a changed one in its place go on, and the log says so`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let own = try bundle(world, "A", "one")
      #expect(try world.ambit("run", own).output == "found\n\(Self.identifier)\n")
      let copy = "\(world.home)/B/Ed.app"
      try world.makeFolder("\(world.home)/B")
      try FileManager.default.copyItem(atPath: own, toPath: copy)
      for path in [copy, "\(copy)/main", "\(copy)/Info.plist"] { try world.user.own(path) }
      #expect(try world.ambit("run", copy).output == "found one\n\(Self.identifier)\n")
      let moved = "\(world.home)/C.app"
      try world.rename(own, to: moved)
      #expect(try world.ambit("run", moved).output == "found one\n\(Self.identifier)\n")
      try world.write(Self.script("changed"), to: "\(moved)/main")
      _ = unsafe chmod("\(moved)/main", 0o755)
      #expect(try world.ambit("run", moved).output == "found one\n\(Self.identifier)\n")

      let events = try world.audit(.identity)
      #expect(events.map(\.how) == ["copied", "moved", "updated"])
      let digests = try world.audit(.launch).map { $0.detail["digest"] }
      #expect(Set(digests.prefix(3)).count == 1 && digests[3] != digests[0])
      #expect(events[2].detail["formerDigest"] == digests[0] && events[2].detail["digest"] == digests[3])
      // What was a copy is another app than the changed one by now.
      #expect(try world.ambit("run", copy).exit == .status(125))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `I1: on a terminal the user is asked, and can take it for a new app or leave it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let (own, other) = (try bundle(world, "A", "one"), try bundle(world, "B", "two"))
      #expect(try world.ambit("run", own).exit == .status(0))
      let ambit = try Products.path("ambit")
      // Typed ahead, which is no answer.
      let left = try world.terminal(["/bin/sh", "-c", "sleep 0.2; \(ambit) run \(other); echo status=$?"])
      try left.type("r\r")
      try left.see("This is not the two that you have run before")
      try left.see("[n] run it as a new app")
      try left.see("Your choice")
      try left.type("\u{3}")
      try left.see("two was not run")
      try left.see("status=125")
      #expect(left.isCooked)
      let asked = try world.terminal([ambit, "run", other])
      try asked.see("Your choice")
      try asked.type("x\r")
      try asked.see("none of the choices")
      try asked.type("new\r")
      try asked.see("another.\(Self.identifier)-")
      #expect(try world.audit(.identity).map(\.how) == ["refused", "new"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `no grant lets an app write what it is, nor a folder that holds it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let probe = try world.bundle("Probe", identifier: Workspace.identifier("Probe"))
      let place = "\(world.home)/Papers/Apps"
      try world.makeFolder(place)
      try FileManager.default.moveItem(atPath: probe, toPath: "\(place)/Probe.app")
      let own = "\(place)/Probe.app"
      let (above, inside) = ("\(world.home)/Papers", "\(own)/Info.plist")
      // Its program by another name.
      let linked = "\(world.home)/linked"
      guard unsafe link("\(own)/main", linked) == 0 else { throw HarnessError("link: errno \(errno)") }
      let app = try world.launch([own], options: [above, inside, linked].flatMap { ["--pick", $0] })
      #expect(try app.tell("pick", ["as": "a", "kind": "folder"])["didPick"] == 0)
      for name in ["b", "c"] { #expect(try app.tell("pick", ["as": .string(name)])["didPick"] == 0) }
      let refusals = try world.audit(.pick).filter { $0.result == .refused }
      #expect(refusals.compactMap(\.reason).allSatisfy { $0.contains("may not change what it is") }, "\(refusals)")
      #expect(refusals.count == 3)
      #expect(try world.ambit("grant", Workspace.identifier("Probe"), above).exit == .status(1))
      #expect(try app.finish() == .status(0))
    }
  }

  @Test func `what is remembered is listed and forgotten`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let (own, other) = (try bundle(world, "A", "one"), try bundle(world, "B", "two"))
      #expect(try world.ambit("run", own).exit == .status(0))
      let list = try world.ambit("identity", "list", "--format", "json")
      let record = try #require(JSON(list.output)?["identities"]?.array?.first, "\(list)")
      #expect(record["bundleIdentifier"]?.string == Self.identifier && record["path"]?.string == own)
      let digest = try #require(record["digest"]?.string)
      #expect(digest.count == 64)
      #expect(try world.ambit("identity", "list").output.contains(digest.prefix(12)))
      #expect(try world.ambit("app", "list").output.contains(digest.prefix(12)))
      #expect(try world.ambit("audit", "explain", own).output.contains(digest))
      #expect(try world.ambit("identity", "forget", Self.identifier).exit == .status(0))
      #expect(try world.ambit("identity", "forget", Self.identifier).exit == .status(1))
      // The identifier is anybody's now, with what belongs to it.
      #expect(try world.ambit("run", other).output == "found one\n\(Self.identifier)\n")
      #expect(try world.audit(.identity).map(\.how) == ["forgotten"])
    }
  }
}
