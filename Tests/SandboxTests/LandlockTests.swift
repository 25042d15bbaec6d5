import Foundation
import Kernel
import TestSupport
import Testing

@testable import Sandbox
@testable import Seccomp

@Suite struct `What Landlock permits, by the plan` {
  private func rules(execute: Bool = false, executePicked: Bool = false) -> [String: LandlockRights] {
    let plan = SandboxPlan(
      SandboxRequest(
        program: .bundle(path: "/home/ann/Ed.app", executable: "Ed"), bundleIdentifier: "io.ambit.tests",
        container: "/c", readOnlyPaths: ["/srv/data"], execute: execute,
        executePicked: executePicked), on: Layouts.merged)
    return Dictionary(uniqueKeysWithValues: (plan.landlock?.rules ?? []).map { ($0.path, $0.rights) })
  }

  @Test func `changing only where the plan means it, and devices nowhere`() {
    let changing = rules().filter { !$0.value.isDisjoint(with: [.make, .remove, .refer]) }.keys.sorted()
    #expect(changing == ["/dev/shm", "/documents", "/home/user", "/tmp"])
    #expect(rules().values.allSatisfy { $0.isDisjoint(with: .makeDevices) })
    #expect(rules()["/"] == .read)
  }

  @Test func `executing what the system and the bundle have, and what an app wrote only where the policy says so`() {
    let executing = rules().filter { $0.value.contains(.execute) }.keys.sorted()
    #expect(executing.contains("/usr") && executing.contains("/Applications/Ed.app"))
    #expect(!executing.contains("/home/user") && !executing.contains("/tmp") && !executing.contains("/documents"))
    #expect(rules(execute: true)["/home/user"]?.contains(.execute) == true)
    // SBX-8: the one is not the other.
    #expect(rules(execute: true)["/documents"]?.contains(.execute) == false)
    #expect(rules(executePicked: true)["/documents"]?.contains(.execute) == true)
    #expect(rules(executePicked: true)["/home/user"]?.contains(.execute) == false)
  }
}

/// The second wall by itself: plans whose mounts would permit what Landlock does not.
@Suite(
  .ownsMounts, .timeLimit(.minutes(20)),
  .enabled(if: try Feature.landlock.isHere(Landlock.abi != nil), "needs landlock"))
struct `Landlock in a sandbox` {
  private func outcome(_ script: String, network: NetworkReach = .none, _ change: (inout SandboxPlan) -> Void) throws
    -> [String]
  {
    let folder = try TemporaryFolder()
    let request = SandboxRequest(
      program: .file(path: "/usr/bin/python3"), arguments: ["-I", "-c", Self.prelude + script],
      bundleIdentifier: "io.ambit.tests", container: try folder.folder("container"), network: network, hostID: hostID)
    var plan = SandboxPlan(request, on: .current())
    change(&plan)
    // Connections are left to the kernel: nobody makes them here in the program's place.
    let outcome = try run(plan, under: SeccompProfile(groups: [], otherwise: .allow))
    #expect(outcome.status == 0, "\(outcome.output) \(outcome.failure ?? "")")
    return outcome.lines
  }

  private static let prelude = """
    import os, socket, errno, subprocess
    def attempt(name, f):
      try: f(); print(name, "ok", flush=True)
      except OSError as e: print(name, errno.errorcode[e.errno], flush=True)

    """

  private static let files = """
    attempt("write", lambda: open("/home/user/x", "w").write("x"))
    attempt("mkdir", lambda: os.mkdir("/home/user/d"))
    attempt("rename", lambda: os.rename("/home/user/x", "/home/user/d/x"))
    attempt("run", lambda: subprocess.run(["/usr/bin/true"], check=True))
    """

  @Test func `a folder that may not be changed cannot be, though its mount is writable`() throws {
    let permitted = try outcome(Self.files) { $0.landlock?.denied = .changeOrExecute }
    #expect(permitted == ["write ok", "mkdir ok", "rename ok", "run ok"])
    let denied = try outcome(Self.files) { plan in
      plan.landlock?.denied = .changeOrExecute
      plan.landlock?.rules.removeAll { $0.path == "/home/user" }
    }
    #expect(denied == ["write EACCES", "mkdir EACCES", "rename ENOENT", "run ok"])
  }

  @Test func `what may not be executed cannot be, though its mount lets it`() throws {
    let denied = try outcome(Self.files) { plan in
      plan.landlock?.denied = .changeOrExecute
      // The interpreter itself has to start.
      plan.landlock?.rules.removeAll { $0.path == "/usr" }
      for path in ["/usr/bin/python3", "/usr/lib", "/usr/lib64"] {
        plan.landlock?.rules.append(.init(path, [.read, .execute]))
      }
    }
    #expect(denied.last == "run EACCES")
  }

  private static let whole = """
    import fcntl, termios
    attempt("list", lambda: os.listdir("/usr/share"))
    attempt("read", lambda: open("/etc/passwd").read())
    attempt("write", lambda: open("/home/user/x", "w").write("x"))
    attempt("truncate", lambda: os.truncate("/home/user/x", 0))
    attempt("mkdir", lambda: os.mkdir("/home/user/d"))
    attempt("refer", lambda: os.rename("/home/user/x", "/home/user/d/x"))
    attempt("link", lambda: os.symlink("a", "/home/user/l"))
    attempt("remove", lambda: os.remove("/home/user/l"))
    attempt("run", lambda: subprocess.run(["/usr/bin/true"], check=True))
    attempt("null", lambda: open("/dev/null", "w").write("x"))
    def settings():
      with open("/proc/self/oom_score_adj", "w") as f: f.write("100")
    attempt("settings", settings)
    """

  @Test(.enabled(if: try Feature.landlock.isHere((Landlock.abi ?? 0) >= 6), "needs landlock"))
  func `with every right denied that no rule permits, all works that works without`() throws {
    let without = try outcome(Self.whole) { _ in }
    #expect(without.allSatisfy { $0.hasSuffix(" ok") } && without.count == 11, "\(without)")
    #expect(try outcome(Self.whole) { $0.landlock?.denied = .all } == without)
  }

  /// The mounts would permit every one of these.
  @Test(.enabled(if: try Feature.landlock.isHere((Landlock.abi ?? 0) >= 6), "needs landlock"))
  func `with every right denied that no rule permits, taking a rule away takes away what it was for`() throws {
    let home = try outcome(Self.whole) { plan in
      plan.landlock?.denied = .all
      plan.landlock?.rules.removeAll { ["/home/user", "/dev", "/proc"].contains($0.path) }
    }
    #expect(
      home == [
        "list ok", "read ok", "write EACCES", "truncate ENOENT", "mkdir EACCES", "refer ENOENT", "link EACCES",
        "remove ENOENT", "run ok", "null EACCES", "settings EACCES",
      ])
    let reading = try outcome(Self.whole) { plan in
      plan.landlock?.denied = .all
      plan.landlock?.rules.removeAll { $0.path == "/" }
      // What the interpreter is made of.
      for path in ["/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/etc/ld.so.cache"] {
        plan.landlock?.rules.append(.init(path, [.read, .execute]))
      }
      plan.landlock?.rules.removeAll { $0.path == "/usr" || $0.path == "/etc" }
    }
    #expect(reading.prefix(3) == ["list EACCES", "read EACCES", "write ok"], "\(reading)")
  }

  @Test(.enabled(if: try Feature.landlock.isHere((Landlock.abi ?? 0) >= 6), "needs landlock"))
  func `F1: sharing the host's network shares neither its abstract sockets nor, if the rules say so, TCP`() throws {
    let name = "ambit-landlock-\(UUID().uuidString)"
    let abstract = try AbstractListener(name)
    let tcp = try LoopbackListener()
    let script = """
      def abstract():
        s = socket.socket(socket.AF_UNIX); s.connect("\\0\(name)")
      def tcp():
        s = socket.socket(socket.AF_INET); s.connect(("127.0.0.1", \(tcp.port)))
      attempt("abstract", abstract)
      attempt("tcp", tcp)
      """
    // The control: without Landlock the shared network has both.
    #expect(try outcome(script, network: .host) { $0.landlock = nil } == ["abstract ok", "tcp ok"])
    #expect(try outcome(script, network: .host) { _ in } == ["abstract EPERM", "tcp ok"])
    #expect(try outcome(script, network: .host) { $0.landlock?.network = false } == ["abstract EPERM", "tcp EACCES"])
    withExtendedLifetime((abstract, tcp)) {}
  }
}

/// A stream socket in the abstract namespace that listens.
private struct AbstractListener {
  private let descriptor: Descriptor

  init(_ name: String) throws {
    let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(raw >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = [0] + Array(name.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(raw, $0, length) }
    }
    try #require(bound == 0)
    try #require(listen(raw, 8) == 0)
    descriptor = Descriptor(owning: raw)
  }
}

/// A TCP socket on the loopback that listens.
private struct LoopbackListener {
  private let descriptor: Descriptor
  let port: UInt16

  init() throws {
    let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(raw >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(raw, $0, length) }
    }
    try #require(bound == 0)
    try #require(listen(raw, 8) == 0)
    let named = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(raw, $0, &length) }
    }
    try #require(named == 0)
    descriptor = Descriptor(owning: raw)
    port = UInt16(bigEndian: address.sin_port)
  }
}
