import Audit
import Foundation
import TestSupport
import Testing

/// `--seccomp` and `seccomp.profile`: profiles that others wrote, over Ambit's own.
@Suite(.serialized, .waiting)
struct SeccompProfileTests {
  private static let everything = #"{ "defaultAction": "SCMP_ACT_ALLOW" }"#
  /// EROFS for new folders.
  private static let noFolders =
    #"{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ { "names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errno": "EROFS" } ] }"#

  private static let script = """
    cd; mkdir made 2>/dev/null && echo made || echo refused; unshare -U true 2>/dev/null && echo left || echo kept; \
    grep Seccomp_filters /proc/self/status
    """

  @Test(arguments: TestUser.one(.root))
  func `a profile takes away, and one that allows everything gives nothing`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.write(Self.everything, to: "\(world.home)/all.json")
      try world.write(Self.noFolders, to: "\(world.home)/none.json")
      try world.write("seccomp.profile = \"none.json\"\n", to: "\(world.home)/p.toml")
      func lines(_ options: String...) throws -> [String] {
        let outcome = try world.run([try Products.path("ambit"), "run"] + options + ["/bin/sh", "-c", Self.script])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return outcome.output.split(separator: "\n").map { String($0.replacing("\t", with: " ")) }
      }
      let outside = try world.run(["/bin/sh", "-c", "grep Seccomp_filters /proc/self/status"]).output
      let before = Int(outside.split(separator: "\t").last?.dropLast() ?? "") ?? 0
      func filters(_ number: Int) -> String { "Seccomp_filters: \(before + number)" }
      #expect(try lines() == ["made", "kept", filters(1)])
      #expect(try lines("--container", "io.a", "--seccomp", "all.json") == ["made", "kept", filters(2)])
      #expect(try lines("--container", "io.b", "--seccomp", "none.json") == ["refused", "kept", filters(2)])
      #expect(try lines("--container", "io.c", "--policy", "p.toml") == ["refused", "kept", filters(2)])
      // What the command line says takes the policy's place.
      #expect(
        try lines("--container", "io.d", "--policy", "p.toml", "--seccomp", "standard") == ["made", "kept", filters(1)])
      #expect(
        try lines("--container", "io.e", "--policy", "observed", "--seccomp", "none.json") == [
          "refused", "kept", filters(2),
        ])
      // Of several all hold, each as a filter, and the command line takes the place of all of them.
      try world.write("seccomp.profile = [\"all.json\", \"none.json\"]\n", to: "\(world.home)/both.toml")
      #expect(try lines("--container", "io.g", "--policy", "both.toml") == ["refused", "kept", filters(3)])
      #expect(
        try lines("--container", "io.h", "--policy", "both.toml", "--seccomp", "all.json") == [
          "made", "kept", filters(2),
        ])
      // Read anew for each launch.
      try world.write(Self.everything, to: "\(world.home)/none.json")
      #expect(try lines("--container", "io.f", "--policy", "p.toml") == ["made", "kept", filters(2)])
    }
  }

  @Test(arguments: TestUser.all)
  func `the second filter need not allow what Ambit does for its own loading`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.write(
        #"""
        { "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
          { "names": ["seccomp", "prctl", "sendmsg", "sendto", "capset"], "action": "SCMP_ACT_ERRNO" } ] }
        """#, to: "\(world.home)/p.json")
      // Why a program cannot be started is said although the profile refuses what would be used to say it.
      let script = "\(world.home)/broken"
      try world.write("#!/no/such/interpreter\n", to: script)
      try #require(unsafe chmod(script, 0o755) == 0)
      let broken = try world.ambit("run", "--seccomp", "p.json", script)
      #expect(broken.exit == .status(127) && broken.errors.contains("interpreter"), "\(broken)")
      for policy in ["default", "observed"] {
        let outcome = try world.ambit("run", "--policy", policy, "--seccomp", "p.json", "/bin/echo", "ran")
        #expect(outcome.output == "ran\n", "\(outcome)")
      }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a profile that cannot be taken refuses the launch with its place`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let file = "\(world.home)/p.json"
      func refused(_ text: String?, _ pieces: String...) throws {
        if let text { try world.write(text, to: file) }
        let outcome = try world.ambit("run", "--seccomp", "p.json", "/bin/echo", "ran")
        #expect(outcome.exit == .status(125) && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.hasPrefix("ambit: The seccomp profile \(file): "), "\(outcome)")
        for piece in pieces { #expect(outcome.errors.contains(piece), "\(outcome)") }
      }
      try refused(nil, "cannot be read")
      try refused(#"{ "defaultAction": "SCMP_ACT_ERRNO" }"#, "execve")
      try refused(
        #"{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ { "name": "read", "action": "SCMP_ACT_NOTIFY" } ] }"#,
        "syscalls[0].action", "observer")
      for command in [["plan"], ["why"]] {
        let words = command + ["--seccomp", "p.json", "/bin/sh"] + (command == ["why"] ? ["call", "read"] : [])
        let outcome = try world.run([try Products.path("ambit")] + words)
        #expect(outcome.exit == .status(125) && outcome.errors.contains("syscalls[0].action"), "\(outcome)")
      }
    }
  }

  @Test func `plan and why know of it`() throws {
    try Workspace.with(.root) { world in
      let file = "\(world.home)/p.json"
      try world.write(Self.noFolders, to: file)
      let plan = try #require(
        JSON(try world.ambit("plan", "--seccomp", "p.json", "--format", "json", "/bin/sh").output))
      #expect(plan["profiles"]?.array?.first?["file"] == .string(file))
      #expect(plan["profiles"]?.array?.first?["summary"]?["refused"] == 2)
      let text = try world.ambit("plan", "--seccomp", "p.json", "/bin/sh").output
      #expect(text.contains(file) && text.contains("2 refused"))
      #expect(try world.ambit("why", "/bin/sh", "call", "mkdir").exit == .status(0))
      let refused = try world.ambit("why", "--seccomp", "p.json", "--format", "json", "/bin/sh", "call", "mkdir")
      #expect(refused.exit == .status(1))
      let reason = try #require(JSON(refused.output))
      #expect(reason["rule"] == "seccomp profile, syscalls[0]")
      #expect(reason["reason"] == .string("in \(file) it fails with EROFS"))
      // Ambit's own refusal stays Ambit's own.
      let own = try world.ambit("why", "--seccomp", "p.json", "--format", "json", "/bin/sh", "call", "ptrace")
      #expect(own.exit == .status(1) && JSON(own.output)?["rule"] == "seccomp")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `the policy's profile and the machine's both hold, and plan, why and the log name both`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let machine = "\(world.ambitHome)/machine.json"
      func refusing(_ calls: String...) -> String {
        let names = calls.map { "\"\($0)\"" }.joined(separator: ", ")
        return #"""
          { "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ { "names": [\#(names)], "action": "SCMP_ACT_ERRNO" } ] }
          """#
      }
      try world.write(Self.noFolders, to: "\(world.home)/none.json")
      try world.write(refusing("symlink", "symlinkat", "seccomp"), to: machine)
      try world.write("[seccomp]\nprofile = \"machine.json\"\n", to: "\(world.ambitHome)/machine-policy.toml")
      let script = "cd; mkdir made 2>/dev/null && echo made; ln -s a b 2>/dev/null && echo linked; echo ran"
      func launched(_ options: String...) throws -> String {
        let outcome = try world.run([try Products.path("ambit"), "run"] + options + ["/bin/sh", "-c", script])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return outcome.output
      }
      #expect(try launched("--container", "io.a") == "made\nran\n")
      #expect(try launched("--container", "io.b", "--seccomp", "none.json") == "ran\n")
      let launch = try #require(try world.audit(.launch).last)
      #expect(launch.detail[AuditEvent.Fact.seccomp] == "\(world.home)/none.json and \(machine)")
      // The one that lets no other follow is the last.
      let plan = try #require(
        JSON(try world.ambit("plan", "--seccomp", "none.json", "--format", "json", "/bin/sh").output))
      #expect(plan["profiles"]?.array?.compactMap { $0["file"]?.string } == ["\(world.home)/none.json", machine])
      for call in ["mkdir", "symlink"] {
        #expect(try world.ambit("why", "--seccomp", "none.json", "/bin/sh", "call", call).exit == .status(1))
      }
      // Of two such there is no order; less than either is nobody's wish.
      try world.write(refusing("seccomp"), to: "\(world.home)/none.json")
      let refused = try world.ambit("run", "--seccomp", "none.json", "/bin/echo", "ran")
      #expect(refused.exit == .status(125) && refused.output.isEmpty, "\(refused)")
      #expect(refused.errors.contains("\(world.home)/none.json and \(machine)"), "\(refused)")
      #expect(refused.errors.contains("seccomp(2)"))
    }
  }
}
