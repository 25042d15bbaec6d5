import Audit
import Foundation
import TestSupport
import Testing

/// `ambitctl` in a real sandbox, as shell scripts use it.
@Suite(.serialized, .waiting)
struct ControlTests {
  /// Runs a script as an app and answers what it printed.
  private func script(_ world: Workspace, picks: [String], _ lines: String) throws -> Outcome {
    let path = try world.bundle("Script", identifier: "io.ambit.tests.script", script: "#!/bin/sh\n\(lines)\n")
    return try world.run([try Products.path("ambit"), "run"] + picks.flatMap { ["--pick", $0] } + [path])
  }

  @Test(arguments: TestUser.one(.root))
  func `a shell script picks, starts, reads, edits and stops`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("with a space.txt", "one\ntwo\n")
      let outcome = try script(
        world, picks: [document],
        """
        url=$(ambitctl pick) || exit 90
        path=$(ambitctl path "$url") || exit 91
        cat "$path" 2>/dev/null && exit 92
        ambitctl start "$url" || exit 93
        grep two "$path"
        ambitctl stop "$url" || exit 94
        cat "$path" 2>/dev/null && exit 95
        ambitctl with "$url" -- sh -c 'echo three >>"$1"' sh {} || exit 96
        ambitctl with "$url" -- wc -l || exit 97
        ambitctl with "$url" -- false && exit 98
        cat "$path" 2>/dev/null && exit 99
        mark=$(ambitctl bookmark create "$url" 2>/dev/null) && exit 100
        ambitctl start "$url"
        ambitctl bookmark create "$url" >"$HOME/Library/mark" || exit 101
        again=$(ambitctl bookmark resolve "$HOME/Library/mark") || exit 102
        ambitctl path "$again" || exit 103
        ambitctl references | grep -c 'with a space' || exit 104
        ambitctl scopes | grep -c 'with a space' || exit 105
        exit 0
        """)
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output.hasPrefix("two\n3 /documents/"), "\(outcome)")
      #expect(outcome.output.hasSuffix("with a space.txt\n1\n1\n"), "\(outcome)")
      #expect(try world.read(document) == "one\ntwo\nthree\n")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `without an answer a script's pick fails, and says why`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let nobody = try script(world, picks: [], "ambitctl pick; exit $?")
      #expect(nobody.exit != .status(0), "\(nobody)")
      #expect(nobody.output.isEmpty && !nobody.errors.isEmpty, "\(nobody)")
      let answers = "\(world.home)/answers.toml"
      try world.write("[[answer]]\ncancel = true\n", to: answers)
      let app = "\(world.folder)/Applications/Script.app"
      let cancelled = try world.ambit("run", "--answers", answers, app)
      #expect(cancelled.exit == .status(1), "\(cancelled)")
      #expect(cancelled.output.isEmpty, "\(cancelled)")
    }
  }

  /// `file:///documents/<grant>/<folder>/<name>#…` of something in the folder whose URL is given.
  private static let inside = """
    inside() { printf %s "${1%%#*}/$2#${1#*#}"; }

    """

  @Test(arguments: TestUser.all)
  func
    `TOK-18, TOK-19: by something in a picked folder its right is neither passed on nor given back; open opens it`(
      user: TestUser
    ) throws
  {
    try Workspace.with(user) { world in
      let folder = "\(world.home)/Papers"
      try world.write("in the folder\n", to: "\(folder)/a.txt")
      let path = try world.bundle(
        "Script", identifier: "io.ambit.tests.script",
        script: "#!/bin/sh\n" + Self.inside + """
          url=$(ambitctl pick --folder) || exit 90
          ambitctl start "$url" || exit 91
          one=$(inside "$url" a.txt)
          ambitctl open "$one" -- cat || exit 92
          ambitctl open --write "$one" -- sh -c 'echo more >>/proc/self/fd/0' || exit 93
          ln -s a.txt "$(ambitctl path "$url")/link"
          ambitctl open "$(inside "$url" link)" -- cat 2>/dev/null && exit 94
          ambitctl pass "$one" --to io.ambit.tests.other && exit 95
          ambitctl release "$one" && exit 96
          up=$(inside "$url" ../../x)
          for verb in path open release; do ambitctl $verb "$up" && exit 97; done
          ambitctl bookmark create "$up" && exit 98
          ambitctl with "$one" -- cat {} || exit 99
          exit 0
          """,
        entitlements: """
          <?xml version="1.0" encoding="UTF-8"?>
          <plist version="1.0"><dict><key>io.ambit.pass-grants</key><true/></dict></plist>
          """)
      let outcome = try world.ambit("run", "--allow-entitlement", "pass-grants", "--pick", folder, path)
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output == "in the folder\nin the folder\nmore\n", "\(outcome)")
      #expect(outcome.errors.contains("a.txt lies in a folder that was picked"), "\(outcome)")
      #expect(outcome.errors.contains("has “..” in it"), "\(outcome)")
      #expect(try world.grants().count == 1)
      #expect(try world.audit(.passed).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `a pipe in the place of a reference or a bookmark keeps nobody waiting`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let outcome = try script(
        world, picks: [try world.document("letter.txt", "text")],
        """
        ambitctl pick >/dev/null || exit 90
        mkfifo ~/Documents/pipe.ambitref ~/Library/mark || exit 91
        ambitctl references && exit 92
        ambitctl bookmark resolve ~/Documents/pipe.ambitref && exit 93
        exit 0
        """)
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output.contains("letter") && outcome.errors.contains("is no regular file"), "\(outcome)")
      for pipe in ["Documents/pipe.ambitref", "Library/mark"] {
        let looked = try world.ambit("bookmark", "inspect", "\(world.container("io.ambit.tests.script"))/\(pipe)")
        #expect(looked.exit == .status(125) || looked.exit == .status(1), "\(looked)")
        #expect(looked.errors.contains("is no regular file"), "\(looked)")
      }
    }
  }
}
