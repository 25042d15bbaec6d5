import Audit
import Foundation
import Kernel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The host's programs save a package that an app has active: a new folder comes into its place.
@Suite(.waiting) struct PackageHostSaveTests {
  /// Answers each line with what the package says; at the end, with what was opened at the beginning.
  private static let reader = """
    open; ambitctl bookmark create "$u" >~/mark; exec 4<Letter.rtfd/TXT.rtf; echo ready
    while read -r line; do cat Letter.rtfd/TXT.rtf; echo end; done
    cat <&4
    """

  private func package(_ world: Workspace) throws -> String {
    try world.document("Papers/Letter.rtfd/TXT.rtf", "old\n")
    try world.document("Papers/Letter.rtfd/images/a.png", "a")
    return "\(world.home)/Papers/Letter.rtfd"
  }

  private func content(_ app: ChildProcess) throws -> String {
    try app.send("\n")
    return try app.wait(forOutput: "end\n")
  }

  private func onHost(_ world: Workspace, _ lines: String) throws {
    let outcome = try world.run(["/bin/sh", "-ec", "cd Papers\n\(lines)"])
    try #require(outcome.exit == .status(0), "\(outcome)")
  }

  private static let new = "mkdir -p .n/images; echo new >.n/TXT.rtf; echo b >.n/images/b.png;"
  private static let exchange = """
    python3 -I -c "import ctypes; l = ctypes.CDLL(None, use_errno=True)
    assert l.renameat2(-100, b'.n', -100, b'Letter.rtfd', 2) == 0, ctypes.get_errno()"
    """

  static let saves = [
    "removed, and the new one renamed in": "\(new) rm -r Letter.rtfd; mv .n Letter.rtfd",
    "set aside, renamed in, and removed": "\(new) mv Letter.rtfd .o; mv .n Letter.rtfd; rm -r .o",
    "set aside in another folder": "\(new) mkdir ../o; mv Letter.rtfd ../o; mv .n Letter.rtfd; rm -r ../o",
    "changed places": "\(new)\n\(exchange)\nrm -r .n",
  ]

  @Test(arguments: TestUser.inTurn(saves.keys.sorted()))
  func `FSF-2: the app sees the package that the host has put in the place of its own`(
    user: TestUser, save: String
  ) throws {
    try Workspace.with(user) { world in
      // Each user has it for writing in one case, and for reading only in another.
      let options = save.hasPrefix("set aside") ? "--read-only" : ""
      let package = try package(world)
      let app = try world.start(saving: [package], pick: options, Self.reader)
      #expect(try app.readLine() == "ready")
      #expect(try content(app) == "old\n")
      try onHost(world, Self.saves[save] ?? "exit 9")
      try Deadline.wait(for: "the new content") { try content(app) == "new\n" }
      // What it had open before is the old one's.
      let outcome = try app.outcome()
      #expect(outcome.exit == .status(0) && outcome.output.hasSuffix("old\n"), "\(outcome)")
      let events = try world.audit(.replaced)
      let event = try #require(events.last)
      #expect(event.how == "host" && event.detail["matchedBy"] == "path" && event.detail["oldInode"] != nil)
      #expect(event.document?.inode == (try world.inode(package)))
      #expect(events.count == 1)
      // A bookmark of the old one leads to it.
      let next = try world.saving(
        [package], pick: options,
        """
        again=$(ambitctl bookmark resolve ~/mark) && ambitctl start "$again" && cat "$(ambitctl path "$again")/TXT.rtf"
        """)
      #expect(next.output == "new\n", "\(next)")
      #expect(try world.audit(.bookmarkResolved).last?.detail["matchedBy"] == "path")
      #expect(try world.names() == ["Letter.rtfd"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-2: what the app writes after that, and saves whole, comes into the new package`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let app = try world.start(
        saving: [package],
        """
        open; echo ready
        while read -r line && [ "$line" != go ]; do cat Letter.rtfd/TXT.rtf; echo end; done
        echo more >Letter.rtfd/more; cp -r Letter.rtfd mine; echo mine >mine/TXT.rtf
        exec python3 -I -c "import ctypes; l = ctypes.CDLL(None, use_errno=True)
        print(l.renameat2(-100, b'mine', -100, b'Letter.rtfd', 2), ctypes.get_errno())"
        """)
      #expect(try app.readLine() == "ready")
      for _ in 0..<3 {
        try onHost(world, "\(Self.new) rm -r Letter.rtfd; mv .n Letter.rtfd")
        try Deadline.wait(for: "the new content") { try content(app) == "new\n" }
        try onHost(world, "\(Self.new) echo newer >.n/TXT.rtf; mv Letter.rtfd .o; mv .n Letter.rtfd; rm -r .o")
        try Deadline.wait(for: "the newer content") { try content(app) == "newer\n" }
      }
      try app.send("go\n")
      let outcome = try app.outcome()
      #expect(outcome.output.hasSuffix("0 0\n"), "\(outcome)")
      #expect(try world.read("\(package)/TXT.rtf") == "mine\n" && world.read("\(package)/more") == "more\n")
      #expect(try world.audit(.replaced).map(\.how) == Array(repeating: "host", count: 6) + ["app"])
      #expect(try world.names() == ["Letter.rtfd"])
    }
  }

  /// What is put in the package's place, one after the other; at last nothing.
  private static let impostors = [
    "ln -s \"$PWD/Secret.rtfd\" Letter.rtfd", "echo secret >Letter.rtfd", "mkfifo Letter.rtfd", "true",
  ]

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-2: a link, a file or a pipe in the place of a package is not the package`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      try world.document("Papers/Secret.rtfd/TXT.rtf", "secret\n")
      let app = try world.start(
        saving: [package],
        """
        open; echo ready
        while read -r line; do
          cat Letter.rtfd/TXT.rtf 2>/dev/null; cd /; ambitctl stop "$u" 2>/dev/null
          ambitctl start "$u" 2>/dev/null && cat "$p/TXT.rtf" || echo refused
        done
        """)
      #expect(try app.readLine() == "ready")
      for impostor in Self.impostors {
        try onHost(world, "rm -rf Letter.rtfd; \(impostor)")
        try app.send("\n")
        #expect(try app.readLine() == "refused", "\(impostor)")
      }
      #expect(try app.outcome().output == "ready\nrefused\nrefused\nrefused\nrefused\n")
      #expect(try world.audit(.replaced).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-2: a package that was only moved away is still the document, whatever is put in its place`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let app = try world.start(
        saving: [package],
        """
        open; echo ready
        while read -r line; do cat Letter.rtfd/TXT.rtf; echo end; done
        cd /; ambitctl stop "$u"; ambitctl start "$u"; cat "$p/TXT.rtf"
        """)
      #expect(try app.readLine() == "ready")
      try onHost(world, "\(Self.new) mv Letter.rtfd Kept.rtfd; mv .n Letter.rtfd")
      #expect(try content(app) == "old\n")
      #expect(try app.outcome().output.hasSuffix("end\nold\n"))
      #expect(try world.audit(.replaced).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-2: a broker that is killed while it follows a package leaves the grant, and the next one follows`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let trigger = "\(world.home)/trigger"
      try world.write("", to: trigger)
      let app = try world.start(
        saving: [package],
        environment: ["AMBIT_FAULT": "kill \(FaultPoint.grantsReplaced.rawValue) \(trigger)"], Self.reader)
      #expect(try app.readLine() == "ready")
      try onHost(world, "\(Self.new) rm -r Letter.rtfd; mv .n Letter.rtfd")
      try Deadline.wait(for: "the broker to come by") { unsafe access(trigger, F_OK) != 0 }
      #expect(try app.outcome().exit == .status(0))
      let next = try world.saving(
        [package],
        """
        again=$(ambitctl bookmark resolve ~/mark) && ambitctl start "$again" && cat "$(ambitctl path "$again")/TXT.rtf"
        """)
      #expect(next.output == "new\n", "\(next)")
      #expect(try world.grants().count == 1)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-2: whatever is swapped into a package's place while it is saved, no other is read`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      try world.document("Secret.rtfd/TXT.rtf", "secret\n")
      let app = try world.start(
        saving: [package],
        """
        open; echo ready
        while ! read -r -t 0; do cat Letter.rtfd/TXT.rtf 2>/dev/null; done | sort -u
        """)
      #expect(try app.readLine() == "ready")
      try onHost(
        world,
        """
        for i in $(seq 60); do
          \(Self.new) rm -r Letter.rtfd; ln -s ../Secret.rtfd Letter.rtfd; rm Letter.rtfd
          mv .n Letter.rtfd; mv Letter.rtfd .o; ln -s ../Secret.rtfd Letter.rtfd; rm -r .o; rm Letter.rtfd
          mkdir Letter.rtfd; echo new >Letter.rtfd/TXT.rtf
        done
        """)
      try Deadline.wait(for: "a package to be followed") { try !world.audit(.replaced).isEmpty }
      try app.send("\n")
      let seen = Set(try app.outcome().output.split(separator: "\n"))
      #expect(seen.isSubset(of: ["ready", "old", "new"]), "\(seen)")
      #expect(try world.read("\(world.home)/Secret.rtfd/TXT.rtf") == "secret\n")
    }
  }
}
