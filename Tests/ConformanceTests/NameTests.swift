import Audit
import Foundation
import Paths
import TestSupport
import Testing

/// Documents whose names are bytes that are no text. `$e` and `$f` are two names that only such a byte tells apart.
@Suite(.waiting) struct NameTests {
  private func shell(_ world: Workspace, _ lines: String) throws -> Outcome {
    let names = #"e=$(printf 'caf\351.txt'); f=$(printf 'caf\350.txt'); cd Papers; ambit=$1; "#
    return try world.run(["/bin/sh", "-c", names + lines, "sh", try Products.path("ambit")])
  }

  private func picking(_ world: Workspace, _ script: String, _ options: String = #"--pick "$e""#) throws -> Outcome {
    let lines = #"""
      #!/bin/bash
      u=$(ambitctl pick) || exit 90; p=$(ambitctl path "$u"); ambitctl start "$u" || exit 91; cd "${p%/*}" || exit 92
      """# + "\n" + script
    let app = try world.bundle("Script", identifier: "io.ambit.tests.script", script: lines)
    try world.write(lines, to: "\(app)/main")
    guard unsafe chmod("\(app)/main", 0o755) == 0 else { throw HarnessError("chmod") }
    return try shell(world, #""$ambit" run \#(options) '\#(app)'"#)
  }

  private func with(_ user: TestUser, _ body: (Workspace) throws -> Void) throws {
    try Workspace.with(user) { world in
      #expect(try shell(world, #"echo one >"$e"; echo two >"$f""#).exit == .status(0))
      defer { _ = try? shell(world, "rm -rf ./*") }
      try body(world)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a document is picked, read, written and saved anew under a name that is not UTF-8`(user: TestUser) throws {
    try with(user) { world in
      let app = try picking(
        world,
        """
        cat caf*.txt; echo written >> "$p"; cp "$p" .new; echo saved >> .new; mv .new "$p" || exit 93; cat "$p"
        """)
      #expect(app.exit == .status(0) && app.output == "one\none\nwritten\nsaved\n", "\(app)")
      let host = try shell(world, #"cat "$e" "$f"; ls | wc -l"#)
      #expect(host.output == "one\nwritten\nsaved\ntwo\n2\n", "\(host)")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `it is followed where it is moved to, and when the host saves it anew`(user: TestUser) throws {
    try with(user) { world in
      let probe = Workspace.identifier("Probe")
      let app = try world.probe(picks: [])
      _ = try app.tell("status")
      let given = try shell(world, #""$ambit" grant \#(probe) "$e" "$f""#)
      #expect(given.exit == .status(0) && given.output.contains("caf\\xE9.txt"), "\(given)")
      let paths = try #require(try app.tell("references")["paths"]?.array).sorted { "\($0)" < "\($1)" }
      try #require(paths.count == 2)
      for (name, path) in zip(["a", "b"], paths) {
        _ = try app.tell("resolveReference", ["path": path, "as": .string(name)])
        #expect(try app.start(name))
      }
      let (one, two) = (try app.read("a").content, try app.read("b").content)
      #expect(Set([one, two]) == ["one\n", "two\n"])
      for name in ["a", "b"] { try app.stop(name) }
      #expect(try shell(world, #"mkdir "$(printf 'd\377')"; mv "$e" "$(printf 'd\377')/g$e""#).exit == .status(0))
      #expect(try shell(world, #"echo anew >.t; mv .t "$f""#).exit == .status(0))
      for name in ["a", "b"] { #expect(try app.start(name)) }
      #expect(Set([try app.read("a").content, try app.read("b").content]) == ["one\n", "anew\n"])
      // While it is in use, too.
      #expect(try shell(world, #"echo again >.t; mv .t "$f""#).exit == .status(0))
      try Deadline.wait(for: "the new content") {
        Set([try app.read("a").content, try app.read("b").content]) == ["one\n", "again\n"]
      }
      let listed = try world.ambit("grants")
      #expect(listed.output.contains("d\\xFF/gcaf\\xE9.txt") && listed.output.contains("caf\\xE8.txt"), "\(listed)")
      let log = try world.ambit("audit", "log")
      #expect(log.output.contains("caf\\xE9.txt") && log.output.contains("caf\\xE8.txt"), "\(log)")
      #expect(try shell(world, #""$ambit" revoke --document "$f""#).exit == .status(0))
      #expect(try world.grants().count == 1)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `a folder that is picked has what has such names in it, and what the app makes there can be removed`(
    user: TestUser
  ) throws {
    try with(user) { world in
      let script = """
        #!/bin/bash
        u=$(ambitctl pick --folder) || exit 90; ambitctl start "$u"; cd "$(ambitctl path "$u")" || exit 92
        for name in *; do cat "$name"; done; echo three > "$(printf 'x\\351')"
        mkdir -p ~/"$(printf 'd\\351')"/inner; echo > ~/"$(printf 'd\\351')"/inner/"$(printf 'f\\351')"
        """
      let app = try world.bundle("Script", identifier: "io.ambit.tests.script", script: script)
      let run = try shell(world, #""$ambit" run --pick . '\#(app)'"#)
      #expect(run.exit == .status(0) && run.output == "two\none\n", "\(run)")
      #expect(try shell(world, #"cat "$(printf 'x\351')""#).output == "three\n")
      let removed = try shell(world, #""$ambit" app remove io.ambit.tests.script"#)
      #expect(removed.exit == .status(0), "\(removed)")
      #expect(!FileManager.default.fileExists(atPath: world.container("io.ambit.tests.script")))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a program is run by such a name and gets arguments that are no text; what it is refused is said by its bytes`(
    user: TestUser
  ) throws {
    try with(user) { world in
      let lines = """
        #!/bin/sh
        printf %s "$1" | od -An -tx1; cat "/srv/x$1"
        """
      let run = try shell(
        world, "echo '\(lines)' >\"$e\"; chmod 755 \"$e\"; \"$ambit\" run --trace \"./$e\" \"$(printf '\\351')\"")
      #expect(run.output == " e9\n", "\(run)")
      #expect(run.errors.contains("refused read /srv/x\\xE9 "), "\(run)")
      let gone = try shell(world, #""$ambit" run "./no$e""#)
      #expect(gone.exit == .status(127) && gone.errors.contains("/nocaf\\xE9.txt: there is no such program"), "\(gone)")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `what is not there is said not to be, by its bytes`(user: TestUser) throws {
    try with(user) { world in
      let app = try picking(world, ":", #"--pick "$(printf 'no\351')""#)
      #expect(app.errors.contains("no\\xE9") && app.errors.contains("does not exist"), "\(app)")
      let given = try shell(world, #""$ambit" grant io.ambit.tests.script "$(printf 'no\351')""#)
      #expect(given.exit == .status(1) && given.errors.contains("no\\xE9"), "\(given)")
    }
  }

  /// To Swift's strings the slash and the accent are one character, and the two spellings of é are equal.
  @Test(arguments: TestUser.one(.ordinary))
  func `a name that begins with an accent lies in its folder, and two spellings of a name are two documents (AUD-6)`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let papers = "\(world.home)/Papers"
      let names = ["\u{301}x.txt", "caf\u{E9}.txt", "cafe\u{301}.txt"]
      for name in names { try world.write("\(name.utf8.count)\n", to: "\(papers)/\(name)") }
      let script = """
        #!/bin/bash
        for n in 1 2 3; do
          u=$(ambitctl pick) || exit 90
          p=$(ambitctl path "$u"); ambitctl start "$u" || exit 91; cat "$p" || exit 92
          echo saved > "${p%/*}/new"; mv "${p%/*}/new" "$p" || exit 93; cat "$p"; ambitctl stop "$u"
        done
        """
      let app = try world.bundle("Script", identifier: "io.ambit.tests.script", script: script)
      let run = try world.run(
        [try Products.path("ambit"), "run"] + names.flatMap { ["--pick", "\(papers)/\($0)"] } + [app])
      #expect(run.exit == .status(0) && run.output == names.map { "\($0.utf8.count)\nsaved\n" }.joined(), "\(run)")
      for name in names { #expect(try world.read("\(papers)/\(name)") == "saved\n") }

      let rules = "\(world.home)/rules.toml"
      for name in names {
        try world.write(
          "[[rule]]\nname = \"none\"\nkind = \"no-grants\"\nbelow = \"\(papers)/\(name)\"\n", to: rules)
        let checked = try world.ambit("audit", "check", rules, "--format", "json")
        let answer = try #require(JSON(checked.output)?["rules"]?.array?.first?["violations"]?.array)
        #expect(checked.exit == .status(1) && answer.count == 1, "\(checked)")
      }
      try world.write(
        "[[rule]]\nname = \"none\"\nkind = \"no-writes\"\nbelow = \"\(papers)\"\n", to: rules)
      let checked = try world.ambit("audit", "check", rules)
      #expect(checked.exit == .status(1) && checked.output.contains(names[0]), "\(checked)")

      let at = try world.ambit("audit", "at", "now", "--document", "\(papers)/\(names[1])", "--format", "json")
      #expect(at.output.split(separator: "\n").count == 1, "\(at)")
      // What is gone is named by its path alone.
      for name in names.dropFirst() { #expect(unsafe unlink("\(papers)/\(name)") == 0) }
      let revoked = try world.ambit("revoke", "--document", "\(papers)/\(names[2])")
      #expect(revoked.exit == .status(0), "\(revoked)")
      let left = try world.grants().compactMap { $0["path"]?.string?.lastPathName }
      #expect(left.count == 2 && left.contains { $0.isSamePath(as: names[1]) }, "\(left)")
    }
  }
}
