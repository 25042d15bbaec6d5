import Audit
import Foundation
import Kernel
import TestSupport
import Testing

/// `[require] layers` and `--allow-degraded`.
@Suite(.serialized, .waiting)
struct LayerTests {
  @Test(arguments: TestUser.one(.root))
  func `a launch without what its policy requires is refused, and goes ahead where its user allows it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      // A layer that no kernel changes: the policy itself does not observe, and does not turn it off either.
      try world.write("require.layers = [\"seccomp\", \"observer\"]\n", to: "\(world.home)/p.toml")
      let refused = try world.ambit("run", "--policy", "p.toml", "/bin/echo", "ran")
      #expect(refused.exit == .status(125) && refused.output.isEmpty, "\(refused)")
      for piece in ["The policy p requires", "observer is not enforced here", "--trace", "--allow-degraded observer"] {
        #expect(refused.errors.contains(piece), "\(piece): \(refused)")
      }
      let launch = try #require(try world.audit(.launch).last)
      #expect(launch.result == .refused && launch.rule == "layers" && launch.how == "launcher")
      #expect(launch.reason?.contains("observer is not enforced here") == true)
      let plan = try world.ambit("plan", "--policy", "p.toml", "/bin/echo")
      #expect(plan.exit == .status(125) && plan.output.contains("required; "), "\(plan)")
      #expect(plan.errors.contains("--allow-degraded observer"))
      #expect(
        try world.ambit("plan", "--policy", "p.toml", "--allow-degraded", "observer", "/bin/echo").exit == .status(0))

      let other = try world.ambit("run", "--policy", "p.toml", "--allow-degraded", "landlock", "/bin/echo", "ran")
      #expect(other.exit == .status(125) && other.output.isEmpty, "\(other)")

      let allowed = try world.ambit(
        "run", "--policy", "p.toml", "--allow-degraded", "observer", "--allow-degraded", "seccomp", "/bin/echo", "ran")
      #expect(allowed.exit == .status(0) && allowed.output == "ran\n", "\(allowed)")
      #expect(allowed.errors.contains("running although observer is not enforced"))
      #expect(allowed.errors.contains("--allow-degraded seccomp: it holds in full here"))
      let event = try #require(try world.audit(.degraded).last)
      #expect(event.detail["allowed"] == "observer" && event.how == "allowed")
      #expect(event.detail["layers"]?.contains("observer") == true)
      #expect(event.detail["layer.observer"]?.hasPrefix("notEnforced: ") == true)
      #expect(
        try world.audit(.launch).filter { $0.result == .allowed }.map { $0.detail["seccomp"] } == ["standard"])

      // With what it requires there is nothing to allow.
      let full = try world.ambit("run", "--policy", "p.toml", "--trace", "/bin/echo", "ran")
      #expect(full.exit == .status(0) && full.output == "ran\n", "\(full)")
    }
  }

  @Test func `the same through a bundle and by a scenario, and an unknown layer is an error with the nearest name`()
    throws
  {
    try Workspace.with(.ordinary) { world in
      try world.write("require.layers = [\"observer\"]\n", to: "\(world.home)/p.toml")
      let bundle = try world.bundle("Hello", identifier: "io.ambit.tests.hello", script: "#!/bin/sh\necho ran\n")
      #expect(try world.ambit("run", "--policy", "p.toml", bundle).exit == .status(125))
      let allowed = try world.ambit("run", "--policy", "p.toml", "--allow-degraded", "observer", bundle)
      #expect(allowed.output == "ran\n" && allowed.errors.contains("running although observer"), "\(allowed)")
      let wrong = try world.ambit("run", "--allow-degraded", "obsever", "/bin/true")
      #expect(wrong.exit == .status(64) && wrong.errors.contains("did you mean \"observer\"?"), "\(wrong)")
    }
  }

  @Test func `a launch's event names the profile that holds besides Ambit's own`() throws {
    try Workspace.with(.ordinary) { world in
      try world.write(#"{ "defaultAction": "SCMP_ACT_ALLOW" }"#, to: "\(world.home)/all.json")
      #expect(try world.ambit("run", "--seccomp", "all.json", "/bin/true").exit == .status(0))
      #expect(try world.audit(.launch).map { $0.detail["seccomp"] } == ["\(world.home)/all.json"])
    }
  }

  @Test func `a policy that requires what it turns off is refused when it is read`() throws {
    try Workspace.with(.ordinary) { world in
      try world.write("network.access = \"host\"\nrequire.layers = [\"network\"]\n", to: "\(world.home)/p.toml")
      for verb in [["run"], ["plan"], ["why"]] {
        let words = verb + ["--policy", "p.toml", "/bin/true"] + (verb == ["why"] ? ["read", "/x"] : [])
        let outcome = try world.run([try Products.path("ambit")] + words)
        #expect(outcome.exit == .status(125), "\(outcome)")
        #expect(
          outcome.errors.contains("p.toml:2:19: ") && outcome.errors.contains("p.toml:1:18) turns it off"), "\(outcome)"
        )
      }
    }
  }
}

/// A session key ring counts into its user's quota of keys, which that user can have used up.
@Suite(.serialized, .waiting)
struct KeyringTests {
  /// Ids whose keys nobody else has used lately, one for each launch: the kernel takes its time with the keys of what has ended,
  /// and each that goes makes room for a sandbox's.
  private static let firstUser = 62_000 + UInt32(getpid() % 500) * 4

  /// Fills the quota with keys in a session's ring, and becomes what its arguments say.
  private static let filler = """
    import ctypes, os, platform, sys
    libc = ctypes.CDLL(None, use_errno=True)
    add, ctl = (248, 250) if platform.machine() == "x86_64" else (217, 219)
    if libc.syscall(ctl, 1, None) < 0: sys.exit("join: %d" % ctypes.get_errno())
    for n in range(1000):
      if libc.syscall(add, b"user", b"%d" % n, b"x", ctypes.c_long(1), ctypes.c_long(-3)) < 0: break
    else: sys.exit("the quota has no end")
    os.execv(sys.argv[1], sys.argv[1:])
    """

  @Test(arguments: TestUser.all.filter { $0 == .root })
  func `where the quota is used up the launch says so, goes ahead, and is refused if the layer is required`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      try world.write("require.layers = [\"keyring\"]\n", to: "\(world.folder)/p.toml")
      func ambit(_ words: String..., number: UInt32, full: Bool) throws -> Outcome {
        let (id, home) = (Self.firstUser + number, "\(world.folder)/quota-\(number)")
        if !FileManager.default.fileExists(atPath: home) {
          try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
          try #require(unsafe chown(home, id, id) == 0)
        }
        let prefix = ["/usr/bin/setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--clear-groups"]
        let fill = full ? ["/usr/bin/python3", "-I", "-c", Self.filler] : []
        return try world.run(
          prefix + fill + [try Products.path("ambit")] + words, environment: ["AMBIT_HOME": home, "HOME": home])
      }
      defer { for number in UInt32(0)..<4 { _ = try? ambit("broker", "stop", number: number, full: false) } }
      let policy = "\(world.folder)/p.toml"
      #expect(try ambit("run", "--policy", policy, "/bin/echo", "ran", number: 0, full: false).output == "ran\n")

      let plain = try ambit("run", "/bin/echo", "ran", number: 1, full: true)
      #expect(plain.output == "ran\n" && plain.errors.isEmpty, "\(plain)")
      let log = try ambit("audit", "log", "--kind", "degraded", "--format", "json", number: 1, full: false).output
      #expect(log.split(separator: "\n").count == 1 && log.contains("the user's quota of keys is used up"), "\(log)")

      let refused = try ambit("run", "--policy", policy, "/bin/echo", "ran", number: 2, full: true)
      #expect(refused.exit == .status(125) && refused.output.isEmpty, "\(refused)")
      #expect(refused.errors.contains("keyring is partial here: the user's quota of keys is used up"), "\(refused)")
      let allowed = try ambit(
        "run", "--policy", policy, "--allow-degraded", "keyring", "/bin/echo", "ran", number: 3, full: true)
      #expect(allowed.output == "ran\n" && allowed.errors.contains("running although keyring is partial"), "\(allowed)")
    }
  }
}

/// The built-in policy that turns on all that there is.
@Suite(.serialized, .waiting)
struct StrictTests {
  /// Whether this machine has all that it requires; what it requires of the kernel is Landlock with its scopes.
  private static func isComplete(_ world: Workspace) throws -> Bool {
    try world.ambit("plan", "--policy", "strict", "/bin/true").exit == .status(0)
  }

  @Test(arguments: TestUser.all)
  func `programs run, keep what they write, and edit what they are granted`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "Dear all\n")
      guard try Self.isComplete(world) else {
        let refused = try world.ambit("run", "--policy", "strict", "/bin/true")
        return #expect(
          refused.exit == .status(125) && refused.errors.contains("--allow-degraded landlock"), "\(refused)")
      }
      let script = """
        cd ~/Documents && echo a >one && mv one ../Library/two && cat ../Library/two && ls / >/dev/null && id -un
        echo 100 >/proc/self/oom_score_adj && (echo tmp >/tmp/x && cat /tmp/x) && cat /etc/hostname
        url=$(ambitctl pick --type txt) && ambitctl with "$url" -- sh -c 'cat "$1"; echo more >>"$1"' sh {}
        cp /bin/true ~/tool && ~/tool 2>/dev/null || echo 'not run'
        cat /srv/x 2>/dev/null || echo 'not there'
        """
      let outcome = try world.ambit("run", "--policy", "strict", "--pick", document, "/bin/sh", "-c", script)
      #expect(
        outcome.output == "a\nuser\ntmp\nambit\nDear all\nnot run\nnot there\n" && outcome.errors.isEmpty, "\(outcome)")
      #expect(try world.read(document) == "Dear all\nmore\n")
      // Recorded, since it observes; and nothing of it is degraded.
      #expect(try world.audit(.refuse).contains { $0.detail["operation"] == "read /srv/x" })
      #expect(try world.audit(.degraded).isEmpty)
    }
  }

  @Test(arguments: TestUser.all)
  func `ambit plan says in JSON that everything that it requires is full`(user: TestUser) throws {
    try Workspace.with(user) { world in
      guard try Self.isComplete(world) else {
        // What it is that is not full here is said all the same, and that nothing is launched.
        let refused = try world.ambit("plan", "--policy", "strict", "--format", "json", "/bin/true")
        let layers = try #require(JSON(refused.output)?["layers"]?.array, "\(refused)")
        #expect(layers.contains { $0["required"] == true && $0["enforcement"] != "full" }, "\(refused)")
        return #expect(refused.exit == .status(125))
      }
      let plan = try #require(
        JSON(try world.ambit("plan", "--policy", "strict", "--format", "json", "/bin/true").output))
      let layers = plan["layers"]?.array ?? []
      let required = layers.filter { $0["required"] == true }
      #expect(required.count >= 12 && required.allSatisfy { $0["enforcement"] == "full" }, "\(required)")
      #expect(layers.first { $0["layer"] == "landlock" }?["enforcement"] == "full")
    }
  }
}

/// A kernel, or a container around Ambit, that lacks what plans ask for: a filter answers in its place.
@Suite(.serialized, .waiting)
struct LackingKernelTests {
  /// Denies a system call with an errno, and becomes what its arguments say.
  private static let without = """
    import ctypes, os, platform, struct, sys
    numbers = {"landlock": 444, "keyctl": 250 if platform.machine() == "x86_64" else 219}
    number, errno = numbers[sys.argv[1]], int(sys.argv[2])
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno), (0x06, 0, 0, 0x7fff0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    class Filter(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    filter = Filter(len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter), 0, 0):
      sys.exit("prctl: %d" % ctypes.get_errno())
    os.execv(sys.argv[3], sys.argv[3:])
    """

  private static let lacks: [(call: String, errno: Int32, layer: String, words: String)] = [
    ("landlock", EOPNOTSUPP, "landlock", "notEnforced: this kernel has no Landlock, or has it switched off"),
    ("keyctl", EPERM, "keyring", "partial: something around Ambit forbids keyctl(2)"),
  ]

  @Test(arguments: TestUser.inTurn(lacks))
  func `what the kernel lacks of a plan is recorded, and refuses the launch that requires it`(
    user: TestUser, lack: (call: String, errno: Int32, layer: String, words: String)
  ) throws {
    try Workspace.with(user) { world in
      func ambit(_ words: String...) throws -> Outcome {
        try world.run(
          ["/usr/bin/python3", "-I", "-c", Self.without, lack.call, "\(lack.errno)", try Products.path("ambit")] + words
        )
      }
      // A policy that asks for nothing gets what there is; the user is not told at each launch, and the log is.
      let plain = try ambit("run", "/bin/echo", "ran")
      #expect(plain.output == "ran\n" && plain.errors.isEmpty, "\(plain)")
      let event = try #require(try world.audit(.degraded).first)
      #expect(event.how == "kernel" && event.detail["allowed"] == nil)
      // What this machine's own kernel lacks is there as well.
      let own = Landlock.abi ?? 0 < LandlockRules.scopesABI ? ["landlock"] : []
      let layers = event.detail["layers"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(Set(layers ?? []) == Set(own + [lack.layer]), "\(event.detail)")
      #expect(event.detail["layer.\(lack.layer)"]?.hasPrefix(lack.words) == true, "\(event.detail)")

      try world.write("require.layers = [\"\(lack.layer)\"]\nlandlock.files = true\n", to: "\(world.home)/p.toml")
      let refused = try ambit("run", "--policy", "p.toml", "/bin/echo", "ran")
      #expect(refused.exit == .status(125) && refused.output.isEmpty, "\(refused)")
      #expect(refused.errors.contains("--allow-degraded \(lack.layer)"), "\(refused)")
      #expect(try ambit("plan", "--policy", "p.toml", "/bin/echo").exit == .status(125))
      let allowed = try ambit("run", "--policy", "p.toml", "--allow-degraded", lack.layer, "/bin/echo", "ran")
      #expect(allowed.output == "ran\n" && allowed.errors.contains("running although \(lack.layer)"), "\(allowed)")
      #expect(try world.audit(.degraded).map(\.how) == ["kernel", "allowed"])
    }
  }
}
