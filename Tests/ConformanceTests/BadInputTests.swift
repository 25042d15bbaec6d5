import Audit
import Foundation
import TestSupport
import Testing

/// What people get wrong: every message names the file and the remedy, and nothing is lost by it.
@Suite(.serialized, .waiting)
struct BadInputTests {
  /// Runs something that must be refused before anything is launched.
  private func expect(
    _ world: Workspace, _ arguments: [String], fails status: Int32, saying pieces: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try world.run([try Products.path("ambit"), "run"] + arguments)
    #expect(outcome.exit == .status(status), "\(outcome)", sourceLocation: sourceLocation)
    for piece in pieces {
      #expect(outcome.errors.contains(piece), "“\(piece)” is missing in: \(outcome)", sourceLocation: sourceLocation)
    }
    #expect(outcome.errors.hasPrefix("ambit: "), "\(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a bundle without a usable Info.plist is refused by name`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let whole = try world.bundle("Good", identifier: "io.ambit.tests.good", script: "#!/bin/sh\necho good\n")
      let plist = try world.read("\(whole)/Info.plist")
      let cases: [(String, String?)] = [
        ("Missing", nil), ("Malformed", "<plist><dict><key>CFBundle"),
        ("Escaping", plist.replacingOccurrences(of: "<string>main<", with: "<string>../../../bin/sh<")),
      ]
      for (name, content) in cases {
        let path = try world.bundle(name, identifier: "io.ambit.tests.good", script: "#!/bin/sh\necho good\n")
        let file = "\(path)/Info.plist"
        try FileManager.default.removeItem(atPath: file)
        if let content { try world.write(content, to: file) }
        try expect(world, [path], fails: 125, saying: [file])
      }
      // The control.
      #expect(try world.ambit("run", whole).output == "good\n")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(world.ambitHome)/data/containers") == [
          "io.ambit.tests.good"
        ])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `an executable that is missing or not executable gets the shells' status`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let missing = try world.bundle("Missing", identifier: "io.ambit.tests.missing", script: "")
      try FileManager.default.removeItem(atPath: "\(missing)/main")
      try expect(world, [missing], fails: 127, saying: ["\(missing)/main"])
      let plain = try world.bundle("Plain", identifier: "io.ambit.tests.plain", script: "#!/bin/sh\n")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(plain)/main")
      try expect(world, [plain], fails: 126, saying: ["\(plain)/main", "chmod"])
      let folder = try world.bundle("Folder", identifier: "io.ambit.tests.folder", script: "")
      try FileManager.default.removeItem(atPath: "\(folder)/main")
      try FileManager.default.createDirectory(atPath: "\(folder)/main", withIntermediateDirectories: false)
      try expect(world, [folder], fails: 126, saying: ["\(folder)/main"])
      try expect(world, ["\(world.home)/Nothing.app"], fails: 127, saying: ["\(world.home)/Nothing.app"])
      try expect(world, ["/no/such/program"], fails: 127, saying: ["/no/such/program"])
      try expect(world, ["no-such-program-at-all"], fails: 127, saying: ["no-such-program-at-all"])
      let script = try world.document("script.sh", "#!/bin/sh\n")
      try expect(world, [script], fails: 126, saying: [script, "chmod +x"])
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
      try world.write("#!/no/such/interpreter\n", to: script)
      try expect(world, [script], fails: 127, saying: ["script.sh", "interpreter"])
      try world.write("neither a script nor a program\n", to: script)
      try expect(world, [script], fails: 126, saying: ["script.sh"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a policy that is not right is refused with file, line and the nearest known key`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/mine.toml"
      try world.write("[scopes]\nlimti = 3\n", to: policy)
      try expect(world, ["--policy", policy, "/bin/true"], fails: 125, saying: ["\(policy):2", "limti", "limit"])
      try expect(world, ["--policy", "no-such", "/bin/true"], fails: 125, saying: ["no-such"])
      try expect(world, ["--policy", "\(world.home)/absent.toml", "/bin/true"], fails: 125, saying: ["absent.toml"])
      // The control.
      try world.write("[scopes]\nlimit = 3\n", to: policy)
      #expect(try world.ambit("run", "--policy", policy, "/bin/true").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a script that answers the picker and is wrong is refused with its file`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let answers = "\(world.home)/answers.toml"
      try world.write("[[answer]]\npikc = [\"a\"]\n", to: answers)
      try expect(world, ["--answers", answers, "/bin/true"], fails: 125, saying: ["\(answers):2", "pikc"])
      try expect(world, ["--answers", "\(world.home)/none.toml", "/bin/true"], fails: 125, saying: ["none.toml"])
      // A document that is not there is for the moment of the pick: the app goes on, and is told.
      let app = try world.probe(picks: ["\(world.home)/Papers/none.txt"])
      #expect(try app.tell("pick", ["as": "a"])["didPick"] == 0)
      #expect(try app.finish() == .status(0))
      #expect(app.process.allErrors.contains("none.txt"))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `a broken message ends its connection with a typed error and nothing else`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      #expect(try app.start())
      let broker = try world.brokerProcess()
      let broken = [
        "{", "[]", "\"\"", "{\"method\":5}", "{}", String(repeating: "[", count: 100), "\u{1}",
        String(repeating: " ", count: 70_000), #"{"method":"io.ambit.Access.Status","method":"x"}"#,
      ]
      for message in broken {
        let answer = try app.tell("raw", ["text": .string(message), "toTheEnd": true])
        #expect(answer["closed"] == true, "\(message.prefix(40))")
        let error = answer["reply"]?.string.flatMap(JSON.init)?["error"]?.string
        #expect(error != nil || answer["reply"] == nil, "\(message.prefix(40)): \(answer.text)")
      }
      let wrong = [
        (#"{"method":"io.ambit.Access.Nothing"}"#, "MethodNotFound"),
        (#"{"method":"io.ambit.Nothing.Start"}"#, "InterfaceNotFound"),
        (#"{"method":"io.ambit.Access.Start","parameters":{}}"#, "InvalidParameter"),
        (#"{"method":"io.ambit.Access.Start","parameters":{"scope":5}}"#, "InvalidParameter"),
        (#"{"method":"io.ambit.Access.Start","parameters":{"scope":"a","more":1}}"#, "InvalidParameter"),
        (#"{"method":"io.ambit.Launcher.Shutdown"}"#, "NotFound"),
      ]
      for (message, error) in wrong {
        let answer = try app.tell("raw", ["text": .string(message)])
        #expect(answer["reply"]?.string?.contains(error) == true, "\(message): \(answer.text)")
      }
      // Nothing else: the other connection, the scope and the broker are as they were.
      #expect(try app.tell("status")["used"] == 1)
      #expect(try app.read().content == "text")
      #expect(try world.brokerProcess() == broker)
      #expect(try world.audit(.protocolError).count >= broken.count)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a state folder that cannot be used is named with the remedy, and is left as it is`(user: TestUser) throws {
    try Workspace.with(user) { world in
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let state = "\(world.ambitHome)/state"
      for (file, content) in [
        ("grants.sqlite", "not a database, but long enough to be looked at by somebody"), ("sealing.key", "short"),
        ("audit.sqlite", "not a database either"),
      ] {
        let path = "\(state)/\(file)"
        let kept = try Data(contentsOf: URL(fileURLWithPath: path))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try world.write(content, to: path)
        try expect(world, ["/bin/true"], fails: 125, saying: [path])
        #expect(try world.read(path) == content)
        try kept.write(to: URL(fileURLWithPath: path))
        try world.user.own(path)
        _ = try world.ambit("broker", "stop")
      }
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a state folder that cannot be written is named with the remedy`(user: TestUser) throws {
    // Root writes where modes forbid it; a read-only mount stops both, and is made in a namespace of the test's own.
    try Workspace.with(user) { world in
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let ambit = try Products.path("ambit")
      let outcome = try world.run(
        script: "exec '\(ambit)' run /bin/true",
        afterMounting:
          "mount --bind '\(world.ambitHome)' '\(world.ambitHome)' && mount -o remount,bind,ro '\(world.ambitHome)'")
      #expect(outcome.exit == .status(125), "\(outcome)")
      #expect(outcome.errors.contains(world.ambitHome), "\(outcome)")
      #expect(outcome.errors.contains("AMBIT_HOME"), "\(outcome)")
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `on a full disk a launch fails with the file's name, and what was there is still there`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let small = "\(world.folder)/small"
      try world.makeFolder(small)
      let ambit = try Products.path("ambit")
      let document = try world.document("letter.txt", "text")
      let probe = try world.bundle("Probe", identifier: Workspace.identifier("Probe"))
      // All of it in one namespace, and so in one shell: the disk ends with it.
      let script = """
        export AMBIT_HOME='\(small)/ambit'
        echo '{"do":"pick","as":"a"}' | '\(ambit)' run --pick '\(document)' '\(probe)' || exit 4
        head -c 100m /dev/zero >'\(small)/filler' 2>/dev/null
        echo '{"do":"pick","as":"a"}' | '\(ambit)' run --pick '\(document)' --container full.disk '\(probe)'; echo "status $?"
        '\(ambit)' broker stop
        rm '\(small)/filler'
        echo '{"do":"references"}' | '\(ambit)' run '\(probe)' || exit 5
        '\(ambit)' broker stop
        """
      let outcome = try world.run(
        script: script, afterMounting: "mount -t tmpfs -o size=3m,mode=0700 tmpfs '\(small)'")
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output.contains("status 125"), "\(outcome)")
      #expect(outcome.errors.contains(small), "\(outcome)")
      #expect(outcome.output.contains("letter.txt.ambitref"), "\(outcome)")
    }
  }
}
