import Audit
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// What could keep a launch, or everybody's broker, waiting; and things of others that must not be taken for one's own.
@Suite(.waiting) struct AvailabilityTests {
  @Test func `a launch whose parent ignored SIGCHLD ends with its app, and a command as well`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let ambit = try Products.path("ambit")
      for words in ["run /bin/sh -c 'sleep 0 & wait; exit 3'", "ps"] {
        let outcome = try world.run(["/bin/sh", "-c", "trap '' CHLD; exec \(ambit) \(words)"])
        #expect(outcome.exit == .status(words == "ps" ? 0 : 3), "\(outcome)")
      }
    }
  }

  @Test
  func `a pipe as a policy, answers, rules, a manifest or the log's settings is refused, and the broker serves on`()
    throws
  {
    try Workspace.with(TestUser.all[0]) { world in
      let pipe = "\(world.home)/pipe.toml"
      try #require(unsafe mkfifo(pipe, 0o644) == 0)
      try world.user.own(pipe)
      let bundle = try world.bundle("Piped", identifier: "io.ambit.tests.piped")
      let plist = "\(bundle)/Info.plist"
      try FileManager.default.removeItem(atPath: plist)
      try #require(unsafe mkfifo(plist, 0o644) == 0)
      for words in [
        ["run", "--policy", pipe, "/bin/true"], ["run", "--seccomp", pipe, "/bin/true"],
        ["run", "--answers", pipe, "/bin/true"], ["run", bundle], ["scenario", "run", pipe],
        ["policy", "check", pipe], ["audit", "check", pipe], ["audit", "explain", bundle],
        ["audit", "at", "now", "--log", pipe],
      ] {
        let outcome = try world.run([try Products.path("ambit")] + words)
        #expect(outcome.exit != .status(0) && outcome.errors + outcome.output != "", "\(words): \(outcome)")
        #expect((outcome.errors + outcome.output).contains("regular file"), "\(words): \(outcome)")
      }
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let settings = "\(world.ambitHome)/config/audit.toml"
      try world.makeFolder((settings as NSString).deletingLastPathComponent)
      try #require(unsafe mkfifo(settings, 0o600) == 0)
      try world.user.own(settings)
      let refused = try world.ambit("grants")
      #expect(refused.exit == .status(125) && refused.errors.contains("\(settings), which says how"), "\(refused)")
      try FileManager.default.removeItem(atPath: settings)
    }
  }

  @Test(arguments: TestUser.all)
  func `a sandbox whose init is killed is said to have ended so, with the status of a killed program`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let status = "\(world.home)/status"
      let app = try world.start([
        "/bin/sh", "-c", "exec \(try Products.path("ambit")) run --json-status-fd 3 /bin/sleep 1000 3>\(status)",
      ])
      var process: Int32?
      try Deadline.wait(for: "the app to start") {
        process = try world.instances().first?["pid"]?.int.map(Int32.init)
        return process != nil
      }
      let pid = try #require(process)
      #expect(kill(pid, SIGKILL) == 0)
      #expect(try app.waitForExit() == .status(128 + SIGKILL))
      #expect(
        app.allErrors.contains("the app was ended: its init, process \(pid), was killed by signal 9"),
        "\(app.allErrors)")
      let events = try world.read(status)
      #expect(events.contains(#""event":"ended","reason":"its init, process"#), "\(events)")
      try Deadline.wait(for: "the exit") { try world.audit(.exit).count == 1 }
      #expect(try world.audit(.exit)[0].detail["signal"] == "9")
    }
  }

  @Test(.enabled(if: TestUser.all.count > 1, "only root is somebody else without more ado"))
  func `folders of another user are not used as if they were one's own, and a log of theirs is read when it is named`()
    throws
  {
    try Workspace.with(.ordinary) { world in
      let ambit = try Products.path("ambit")
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      func asRoot(_ words: [String], _ environment: [String: String] = [:]) throws -> Outcome {
        let process = try ChildProcess(
          [ambit] + words, user: .root, environment: world.environment.merging(environment) { _, more in more },
          directory: "/")
        process.closeInput()
        let exit = try process.waitForExit()
        return Outcome(exit: exit, output: process.allOutput, errors: process.allErrors)
      }
      let log = "\(world.ambitHome)/state/audit.sqlite"
      for words in [
        ["run", "/bin/true"], ["ps"], ["grants"], ["app", "list"], ["audit", "log"], ["audit", "verify"],
        ["policy", "list"],
        ["broker", "status"], ["broker", "stop"], ["plan", "/bin/true"], ["revoke", "--all"],
      ] {
        let outcome = try asRoot(words)
        #expect(outcome.exit != .status(0) && outcome.output == "", "\(words): \(outcome)")
        #expect(outcome.errors.contains("belongs to user \(TestUser.ordinary.id)"), "\(words): \(outcome)")
        // Nor by a folder that is not there yet.
        let elsewhere = try asRoot(words, ["AMBIT_HOME": "\(world.home)/new/ambit"])
        #expect(elsewhere.errors.contains("\(world.home), on the way to it, belongs to user"), "\(words): \(elsewhere)")
      }
      #expect(!FileManager.default.fileExists(atPath: "\(world.home)/new"))
      #expect(try world.ambit("broker", "status").output.contains("process"), "nobody has ended it")
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let own = ["AMBIT_HOME": "/tmp/\(UUID())"]
      for words in [["audit", "log", "--log", log], ["audit", "verify", log], ["audit", "at", "now", "--log", log]] {
        let outcome = try asRoot(words, own)
        #expect(outcome.exit == .status(0), "\(words): \(outcome)")
      }
    }
  }

  @Test(.enabled(if: TestUser.all.contains(.root), "only root makes devices"))
  func `what stands in the place of a device is neither followed nor written to`() throws {
    try Workspace.with(.root) { world in
      let (devices, target) = ("\(world.folder)/dev", "\(world.home)/Papers/target.txt")
      try world.document("target.txt", "untouched")
      let ambit = try Products.path("ambit")
      for wrong in ["ln -s \(target) null", "cp \(target) null", "mknod null c 1 5", "ln -s \(target) full"] {
        let setup = """
          rm -rf \(devices) && mkdir -p \(devices) && cd \(devices) && cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom \
          /dev/tty . && rm \(wrong.split(separator: " ").last == "full" ? "full" : "null") && \(wrong) && mkdir pts shm && \
          mount --bind \(devices) /dev && cd /
          """
        let script = """
          \(ambit) run /bin/sh -c 'echo written >/dev/null; echo written >/dev/full'; echo "run $?"
          \(ambit) ps <&-; echo "ps $?"
          """
        let outcome = try world.run(script: script, afterMounting: setup)
        let name = wrong.hasSuffix("full") ? "full" : "null"
        #expect(outcome.output.contains("run 125\n"), "\(wrong): \(outcome)")
        #expect(outcome.errors.contains("/dev/\(name), which should be the character device"), "\(wrong): \(outcome)")
        if name == "null" { #expect(outcome.output.contains("ps 125\n"), "\(wrong): \(outcome)") }
        #expect(try world.read(target) == "untouched")
      }
    }
  }
}
