import Audit
import Foundation
import Kernel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Files in a package that were granted by themselves, when the package is saved whole.
@Suite(.waiting) struct PackageContentTests {
  private func package(_ world: Workspace) throws -> String {
    try world.document("Papers/Letter.rtfd/TXT.rtf", "old")
    try world.document("Papers/Letter.rtfd/images/a.png", "old a")
    try world.document("Papers/Letter.rtfd/gone.txt", "old gone")
    return "\(world.home)/Papers/Letter.rtfd"
  }

  /// What stands in the new package; `gone.txt` does not, or leads elsewhere.
  private static func new(_ folder: String, gone: String = ":") -> String {
    """
    mkdir -p \(folder)/images; printf new >\(folder)/TXT.rtf; printf 'new a' >\(folder)/images/a.png
    (cd \(folder); \(gone))
    """
  }

  private func onHost(_ world: Workspace, _ lines: String) throws {
    let outcome = try world.run(["/bin/sh", "-ec", "cd Papers\n\(lines)"])
    try #require(outcome.exit == .status(0), "\(outcome)")
  }

  /// An app that has the files, and not the package: `a`, `b` and `c`, all started.
  private func reader(_ world: Workspace, _ package: String) throws -> (app: AppRun, bookmarks: [String]) {
    let app = try world.probe("Reader", picks: ["TXT.rtf", "images/a.png", "gone.txt"].map { "\(package)/\($0)" })
    for name in ["a", "b", "c"] {
      try app.pick(as: name)
      #expect(try app.start(name))
    }
    #expect(try app.read("a").content == "old" && app.read("b").content == "old a")
    return (app, try ["a", "b", "c"].map { try app.bookmark($0) })
  }

  /// The bookmarks of the first two lead to the files that took their place, and that of the third nowhere.
  private func expectFollowed(_ app: AppRun, _ bookmarks: [String]) throws {
    for (bookmark, content) in zip(bookmarks, ["new", "new a"]) {
      let resolved = try app.tell("resolve", ["bookmark": .string(bookmark), "as": "again"])
      #expect(resolved["matchedBy"] == "path" && resolved["stale"] == true, "\(resolved.text)")
      #expect(try app.start("again"))
      #expect(try app.read("again").content == content)
      try app.stop("again")
    }
    #expect(try app.tell("resolve", ["bookmark": .string(bookmarks[2]), "as": "again"])["matchedBy"] == nil)
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: what an app saves in a package is, for who has a file of it, that file`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      try world.document("Secret.txt", "secret")
      let (app, bookmarks) = try reader(world, package)
      let saving = try world.saving(
        [package],
        """
        open; \(Self.new("mine", gone: "ln -s ../../Secret.txt gone.txt"))
        exec python3 -I -c "import ctypes; l = ctypes.CDLL(None, use_errno=True)
        print(l.renameat2(-100, b'mine', -100, b'Letter.rtfd', 2), ctypes.get_errno())"
        """)
      #expect(saving.output == "0 0\n", "\(saving)")
      #expect(try app.read("a").content == "new" && app.read("b").content == "new a")
      #expect(try app.read("c").content != "secret")
      // What the app writes comes into the new one.
      try expectFollowed(app, bookmarks)
      let events = try world.audit(.replaced).filter { $0.app == "io.ambit.tests.reader" }
      #expect(events.map(\.result) == [.allowed, .allowed, .failed], "\(events)")
      #expect(events.prefix(2).allSatisfy { $0.detail["matchedBy"] == "path" && $0.how == "app" })
      // And when the host saves the file next, it is seen.
      try onHost(world, "printf newer >Letter.rtfd/.t; mv Letter.rtfd/.t Letter.rtfd/TXT.rtf")
      try Deadline.wait(for: "the host's file") { try app.read("a").content == "newer" }
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.inTurn([":", "mkdir gone.txt"]))
  func `FSF-2: what the host saves in a package is, for who has a file of it, that file`(
    user: TestUser, gone: String
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      try world.document("Secret.txt", "secret")
      let (app, bookmarks) = try reader(world, package)
      // Somebody has the package, and is told that it was replaced.
      let owner = try world.probe("Owner", picks: [package])
      try owner.pick()
      #expect(try owner.start())
      try onHost(world, "\(Self.new(".n", gone: gone)); mv Letter.rtfd .o; mv .n Letter.rtfd; rm -r .o")
      try Deadline.wait(for: "the new files") {
        try app.read("a").content == "new" && app.read("b").content == "new a"
      }
      #expect(try app.read("c").content != "secret")
      try expectFollowed(app, bookmarks)
      try onHost(world, "printf newer >Letter.rtfd/.t; mv Letter.rtfd/.t Letter.rtfd/TXT.rtf")
      try Deadline.wait(for: "the host's file") { try app.read("a").content == "newer" }
      #expect(try owner.finish() == .status(0))
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary), ["Owner", "Reader"])
  func `BMK-12: who has a file of a package that it or another app has finds it in the new one, though none was active`(
    user: TestUser, name: String
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let app = try world.probe(name, picks: ["\(package)/images/a.png"])
      try app.pick(as: "a")
      #expect(try app.start())
      let bookmark = try app.bookmark("a")
      #expect(try app.finish() == .status(0))
      let owner = try world.probe("Owner", picks: [package])
      try owner.pick(as: "p")
      #expect(try owner.finish() == .status(0))
      try onHost(world, "\(Self.new(".n")); rm -r Letter.rtfd; mv .n Letter.rtfd")
      let next = try world.probe(name)
      let resolved = try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])
      #expect(resolved["matchedBy"] == "path" && resolved["stale"] == true, "\(resolved.text)")
      #expect(try next.start())
      #expect(try next.read().content == "new a")
      #expect(try next.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-12: a file that has left the package before is the document, wherever it is`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let (app, _) = try reader(world, package)
      let owner = try world.probe("Owner", picks: [package])
      try owner.pick()
      #expect(try owner.start())
      try onHost(world, "mv Letter.rtfd/TXT.rtf kept.txt; \(Self.new(".n")); rm -r Letter.rtfd; mv .n Letter.rtfd")
      try Deadline.wait(for: "the other file") { try app.read("b").content == "new a" }
      #expect(try app.read("a").content == "old")
      try app.stop("a")
      #expect(try app.start("a"))
      #expect(try app.read("a").content == "old")
      #expect(try owner.finish() == .status(0) && app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-12: under a policy that lets no file take another one's place none in a new package does`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let app = try world.start(
        saving: ["\(package)/TXT.rtf"], as: "Strict", options: ["--policy", "apple-identity"],
        """
        open; cat TXT.rtf; echo ready; read -r line; cd /; ambitctl stop "$u"
        ambitctl start "$u" 2>/dev/null && cat "$p" || echo refused
        """)
      #expect(try app.readLine() == "oldready")
      let owner = try world.probe("Owner", picks: [package])
      try owner.pick()
      #expect(try owner.start())
      try onHost(world, "\(Self.new(".n")); rm -r Letter.rtfd; mv .n Letter.rtfd")
      try Deadline.wait(for: "the package to be followed") { try !world.audit(.replaced).isEmpty }
      try app.send("\n")
      #expect(try app.outcome().output == "oldready\nrefused\n")
      #expect(try owner.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.root), [FaultPoint.replacementBegun, .filesExchanged, .grantsReplaced])
  func `FSF-1: a broker that is killed while a package is saved leaves each file of it to be found`(
    user: TestUser, point: FaultPoint
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let (app, bookmarks) = try reader(world, package)
      #expect(try app.finish() == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let trigger = "\(world.home)/trigger"
      try world.write("", to: trigger)
      let saving = try world.saving(
        [package], environment: ["AMBIT_FAULT": "kill \(point.rawValue) \(trigger)"],
        """
        open; \(Self.new("mine"))
        exec python3 -I -c "import ctypes; l = ctypes.CDLL(None, use_errno=True)
        print(l.renameat2(-100, b'mine', -100, b'Letter.rtfd', 2), ctypes.get_errno())"
        """)
      #expect(saving.output == "-1 5\n", "\(saving)")
      #expect(unsafe access(trigger, F_OK) != 0, "nobody came by \(point)")
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      try Deadline.wait(for: "nothing to be left") { try world.staged().isEmpty }
      let next = try world.probe("Reader")
      let isOld = point == .replacementBegun
      for (bookmark, content) in zip(bookmarks, isOld ? ["old", "old a"] : ["new", "new a"]) {
        let resolved = try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])
        #expect(resolved["matchedBy"] == (isOld ? "identity" : "path"), "\(resolved.text)")
        #expect(try next.start())
        #expect(try next.read().content == content)
        try next.stop()
      }
      #expect(try next.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary), ["", "/TXT.rtf"])
  func `BMK-5: a bookmark made relative to a package, or to a file in it, opens when the package was saved anew`(
    user: TestUser, inside: String
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let image = "\(package)/images/a.png"
      let app = try world.probe("Owner", picks: [image, package + inside, package])
      for name in ["a", "doc", "p"] {
        try app.pick(as: name)
        #expect(try app.start(name))
      }
      let made = try app.tell("bookmark", ["of": "a", "options": .array(["withSecurityScope"]), "relativeTo": "doc"])
      let bookmark = try #require(made["bookmark"], "\(made.text)")
      try onHost(world, "\(Self.new(".n")); rm -r Letter.rtfd; mv .n Letter.rtfd")
      try Deadline.wait(for: "the new files") { try app.read("a").content == "new a" }
      #expect(try app.finish() == .status(0))
      let other = try world.probe("Other", picks: [package + inside])
      try other.pick(as: "doc")
      let found = try other.tell("resolve", ["bookmark": bookmark, "as": "b", "relativeTo": "doc"])
      #expect(found["name"] == "a.png" && found["matchedBy"] == "path", "\(found.text)")
      #expect(try other.start("b"))
      #expect(try other.read("b").content == "new a")
      #expect(try other.finish() == .status(0))
    }
  }
}
