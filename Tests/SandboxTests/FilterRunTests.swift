import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import Sandbox
@testable import Seccomp

/// The filter as the kernel runs it: a program in a real sandbox makes the calls and says what came back.
@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `The standard filter in a sandbox` {
  /// Makes calls by number, and prints a name and a result for each: `ok`, an errno, or a signal.
  private static let script = #"""
    import ctypes, errno, os, platform, sys, threading
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    n = dict(clone3=435, open_tree=428, move_mount=429, fsopen=430, mount_setattr=442, io_uring_setup=425, openat2=437)
    if platform.machine() == "x86_64":
      n.update(ptrace=101, keyctl=250, add_key=248, bpf=321, userfaultfd=323, perf_event_open=298, unshare=272,
        setns=308, clone=56, socket=41, socketpair=53, ioctl=16, personality=135, mount=165, umount2=166, chroot=161,
        process_vm_readv=310, open_by_handle_at=304, fanotify_init=300, pidfd_getfd=438, getppid=110, kill=62)
    else:
      n.update(ptrace=117, keyctl=219, add_key=217, bpf=280, userfaultfd=282, perf_event_open=241, unshare=97,
        setns=268, clone=220, socket=198, socketpair=199, ioctl=29, personality=92, mount=40, umount2=39, chroot=51,
        process_vm_readv=270, open_by_handle_at=265, fanotify_init=262, pidfd_getfd=438, getppid=173, kill=129)
    def say(name, result): print(name, result, flush=True)
    def attempt(name, *arguments):
      ctypes.set_errno(0)
      result = call(ctypes.c_long(n.get(name, name)), *[ctypes.c_ulong(a) for a in arguments])
      return "ok" if result >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")
    def child(body):
      pid = os.fork()
      if pid == 0:
        try: os._exit({"ok": 0}.get(body(), 1))
        except BaseException: os._exit(2)
      status = os.waitpid(pid, 0)[1]
      return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"

    done = []
    thread = threading.Thread(target=lambda: done.append(1)); thread.start(); thread.join()
    say("thread", "ok" if done else "none")
    say("fork", child(lambda: "ok"))
    for name in ["clone3", "open_tree", "move_mount", "fsopen", "mount_setattr", "io_uring_setup", "openat2"]:
      say(name, attempt(name, 0, 0, 0, 0, 0))
    for name in ["keyctl", "add_key", "bpf", "userfaultfd", "perf_event_open", "unshare", "setns", "mount", "umount2",
                 "chroot", "process_vm_readv", "open_by_handle_at", "fanotify_init", "pidfd_getfd"]:
      say(name, attempt(name, 0, 0, 0, 0, 0))
    say("unshare-user", child(lambda: attempt("unshare", 0x10000000)))
    say("ptrace", child(lambda: attempt("ptrace", 0, 0, 0, 0)))
    for bit in [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]:
      for high in [0, 1 << 32, 1 << 63]:
        say(f"clone-{bit | high:x}", attempt("clone", bit | high, 0, 0, 0, 0))
    for family in [1, 2, 10, 16, 17, 31, 38, 40]:
      for high in [0, 1 << 32, 1 << 63]:
        say(f"socket-{family | high:x}", attempt("socket", family | high, 2 if family == 2 else 1, 0))
      pair = (ctypes.c_int * 2)()
      say(f"socketpair-{family}", attempt("socketpair", family, 1, 0, ctypes.addressof(pair)))
    for type in [1, 2, 3, 4, 5, 6, 7, 8, 10, 15]:
      for flags in [0, 0x80800, 1 << 32]:
        say(f"unix-{type}-{flags:x}", attempt("socket", 1, type | flags, 0))
        say(f"unixpair-{type}-{flags:x}", attempt("socketpair", 1, type | flags, 0, ctypes.addressof(pair)))
    for request in [0x5412, 0x541c, 0x50009401, 0x5000940e, 0x50009417, 0x50009418, 0x4008941a]:
      for high in [0, 1 << 32, 0xffffffff << 32]:
        say(f"ioctl-{request | high:x}", attempt("ioctl", 0, request | high, 0))
    for request in [0x5401, 0x5413, 0x5411, 0x541d, 0x5412 | 1 << 31, 0x1541c, 0x40009401, 0x80089419]:
      say(f"ioctl-{request:x}", attempt("ioctl", 0, request, 0))
    for value in [0xffffffff, 0, 8, 0x0040000, 0x0400000, 0x5000007]:
      say(f"personality-{value:x}", child(lambda: attempt("personality", value)))
    if platform.machine() == "x86_64":
      say("x32", child(lambda: attempt(0x40000000 + 39)))
      def old_gate():
        import mmap
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        return "ok"
      say("int80", child(old_gate))
    say("end", "ok")
    """#

  /// What each call said, by its name.
  private func answers(
    network: NetworkReach = .none, filter: SeccompProfile? = nil, foreign: SeccompProfile? = nil
  ) throws -> [String: String] {
    let folder = try TemporaryFolder()
    let request = SandboxRequest(
      program: .file(path: "/usr/bin/python3"), arguments: ["-I", "-c", Self.script],
      bundleIdentifier: "io.ambit.tests",
      container: try folder.folder("container"), network: network, hostID: hostID)
    let outcome = try run(
      SandboxPlan(request, on: .current()), under: filter ?? .standard(network: network.hasSockets),
      foreign: foreign.map { [$0] } ?? [])
    #expect(outcome.failure == nil)
    #expect(outcome.status == 0, "\(outcome.output)")
    var answers: [String: String] = [:]
    for line in outcome.lines {
      let parts = line.split(separator: " ", maxSplits: 1)
      if parts.count == 2 { answers[String(parts[0])] = String(parts[1]) }
    }
    #expect(answers["end"] == "ok", "\(outcome.output)")
    return answers
  }

  private func expect(
    _ answers: [String: String], _ names: [String], _ wanted: String, _ location: SourceLocation = #_sourceLocation
  ) {
    for name in names { #expect(answers[name] == wanted, "\(name)", sourceLocation: location) }
  }

  private static let families: [UInt64] = [2, 10, 16, 17, 31, 38, 40]

  @Test func `denies each group as programs expect`() throws {
    let answers = try answers()
    expect(answers, ["thread"], "ok")
    expect(answers, ["fork"], "status 0")
    expect(
      answers, ["clone3", "open_tree", "move_mount", "fsopen", "mount_setattr", "io_uring_setup", "openat2"], "ENOSYS")
    expect(
      answers,
      [
        "keyctl", "add_key", "bpf", "userfaultfd", "perf_event_open", "unshare", "setns", "mount", "umount2", "chroot",
        "process_vm_readv", "open_by_handle_at", "fanotify_init", "pidfd_getfd",
      ], "EPERM")
    expect(answers, ["unshare-user", "ptrace"], "status 1")
    let clones = answers.filter { $0.key.hasPrefix("clone-") }
    #expect(clones.count == 21)
    #expect(clones.values.allSatisfy { $0 == "EPERM" }, "\(clones)")
  }

  @Test func `gives Unix sockets and no others, whatever stands in the upper half of the argument`() throws {
    let answers = try answers()
    for high: UInt64 in [0, 1 << 32, 1 << 63] {
      func name(_ family: UInt64) -> String { "socket-\(String(family | high, radix: 16))" }
      // The kernel itself looks at the lower half alone.
      expect(answers, [name(1)], "ok")
      expect(answers, Self.families.map(name), "EAFNOSUPPORT")
    }
    expect(answers, ["socketpair-1"], "ok")
    expect(answers, Self.families.map { "socketpair-\($0)" }, "EAFNOSUPPORT")
  }

  @Test func `F3: gives Unix streams and sequenced packets, and no socket that sends by name`() throws {
    let answers = try answers()
    for flags in ["0", "80800", "100000000"] {
      for call in ["unix", "unixpair"] {
        expect(answers, [1, 5].map { "\(call)-\($0)-\(flags)" }, "ok")
        expect(answers, [2, 3, 4, 6, 7, 8, 10, 15].map { "\(call)-\($0)-\(flags)" }, "ESOCKTNOSUPPORT")
      }
    }
    // The control: datagrams are there, and SOCK_RAW is one.
    let without = try self.answers(filter: SeccompProfile(groups: [], otherwise: .allow))
    expect(without, ["unix-2-0", "unix-3-0", "unixpair-2-0"], "ok")
  }

  @Test func `gives internet sockets too where there is a network`() throws {
    let answers = try answers(network: .host)
    expect(answers, ["socket-1", "socket-2", "socket-a"], "ok")
    expect(answers, ["socket-10", "socket-11", "socket-1f", "socket-26", "socket-28"], "EAFNOSUPPORT")
  }

  @Test func `keeps the terminal from being typed into, whatever stands in the upper half of the argument`() throws {
    let answers = try answers()
    for request in ["5412", "541c"] {
      expect(answers, ["ioctl-\(request)", "ioctl-10000\(request)", "ioctl-ffffffff0000\(request)"], "EPERM")
    }
    // Others reach the kernel, which says that /dev/null is no terminal.
    expect(
      answers,
      [
        "ioctl-5401", "ioctl-5413", "ioctl-5411", "ioctl-541d", "ioctl-80005412", "ioctl-1541c", "ioctl-40009401",
        "ioctl-80089419",
      ], "ENOTTY")
    // A snapshot has what no mount shows; what was made read-only so nobody removes.
    for request in ["50009401", "5000940e", "50009417", "50009418", "4008941a"] {
      expect(answers, ["ioctl-\(request)", "ioctl-1\(request)", "ioctl-ffffffff\(request)"], "EPERM")
    }
  }

  @Test func `lets a personality be asked for, and only plain ones be taken`() throws {
    let answers = try answers()
    expect(answers, ["personality-ffffffff", "personality-0", "personality-8"], "status 0")
    expect(answers, ["personality-40000", "personality-400000", "personality-5000007"], "status 1")
  }

  #if arch(x86_64)
    @Test func `ends a program that calls by another architecture's gate`() throws {
      let answers = try answers()
      expect(answers, ["x32", "int80"], "signal \(SIGSYS)")
    }
  #endif

  @Test func `no other profile brings back what it denies: one that allows everything changes no answer`() throws {
    let calls = (Int32(0)..<600).compactMap(SeccompProgram.name(ofCall:)).map { SeccompRule($0, .allow) }
    let named = SeccompProfile(groups: [.init(name: "all", reason: "r", rules: calls)], otherwise: .fail(ENOSYS))
    let alone = try answers()
    for everything in [
      SeccompProfile(groups: [], otherwise: .allow), SeccompProfile(groups: [], otherwise: .log), named,
    ] {
      #expect(try answers(foreign: everything) == alone)
    }
  }

  /// Without the filter the same calls say something else: it is the filter that the tests above see.
  @Test func `is what denies: the same sandbox without it answers otherwise`() throws {
    let answers = try answers(filter: SeccompProfile(groups: [], otherwise: .allow))
    expect(answers, ["thread", "socket-1", "socket-2", "unshare"], "ok")
    expect(answers, ["ptrace", "unshare-user", "personality-40000"], "status 0")
    for name in ["clone3", "open_tree", "mount_setattr", "fsopen"] { #expect(answers[name] != "ENOSYS", "\(name)") }
    #expect(answers["ioctl-541c"] == "ENOTTY")
    #expect(answers["socket-10"] != "EAFNOSUPPORT")
    #expect(answers["socketpair-2"] == "ENOTSUP")
  }
}

@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `A planned sandbox` {
  private func sandbox(
    _ script: String, _ change: (inout SandboxRequest, TemporaryFolder) throws -> Void = { _, _ in }
  ) throws -> (outcome: Outcome, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    var request = SandboxRequest(
      program: .file(path: "/bin/sh"), arguments: ["-c", script], bundleIdentifier: "io.ambit.tests",
      container: try folder.folder("container"), hostID: hostID)
    try change(&request, folder)
    return (try run(SandboxPlan(request, on: .current())), folder)
  }

  @Test func `SBX-1: the container is the home folder, and what is written there stays`() throws {
    let (outcome, folder) = try sandbox("cd && pwd && echo hello >letter && id -u && id -un && hostname")
    #expect(outcome.lines == ["/home/user", "1000", "user", "ambit"])
    #expect(FileManager.default.contents(atPath: "\(folder.path)/container/letter") == Data("hello\n".utf8))
  }

  @Test func `its environment is the plan's alone`() throws {
    let (outcome, _) = try sandbox("env | cut -d= -f1 | sort") { request, _ in request.environment = ["LANG": "C"] }
    // PWD is the shell's own.
    #expect(
      outcome.lines == [
        "AMBIT_ADDRESS", "AMBIT_APP", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER",
      ])
  }

  @Test func `SBX-2: the host's files are not there`() throws {
    let (outcome, folder) = try sandbox(
      "ls -A /home /root /mnt /srv /opt /var /boot 2>/dev/null; cat \"$1\" 2>&1; cat /etc/shadow 2>&1; cat /etc/passwd"
    ) { request, folder in
      request.arguments += ["sh", try folder.write("secret", "the secret")]
    }
    #expect(!outcome.output.contains("the secret"))
    #expect(outcome.output.contains("No such file"))
    #expect(
      outcome.lines.suffix(2) == [
        "user:x:1000:1000:User:/home/user:/bin/sh", "nobody:x:65534:65534:Everyone else:/:/bin/false",
      ])
    #expect(
      FileManager.default.contents(atPath: "\(folder.path)/secret") == Data("the secret".utf8), "it is there outside")
  }

  @Test(arguments: [true, false])
  func `SBX-8: programs in the container run only where the policy says so`(execute: Bool) throws {
    let (outcome, _) = try sandbox(
      "for place in $HOME /tmp; do printf '#!/bin/sh\\necho ran\\n' >$place/x; chmod +x $place/x; $place/x; done 2>/dev/null"
    ) { request, _ in request.execute = execute }
    #expect(outcome.lines == (execute ? ["ran", "ran"] : []))
    #expect(outcome.status == (execute ? 0 : 126))
  }

  @Test func `a bundle and folders that the policy shows are there, and cannot be written`() throws {
    let (outcome, _) = try sandbox("") { request, folder in
      let bundle = try folder.folder("Tool.app")
      let data = try folder.folder("data/deep")
      try folder.write("data/deep/file", "shown")
      try folder.write(
        "Tool.app/tool",
        "#!/bin/sh\necho $0 \"$@\"; cat \"$1\"/file; touch \"$1\"/x ${0%/*}/x 2>&1 | grep -c Read-only",
        mode: 0o755)
      request.program = .bundle(path: bundle, executable: "tool")
      request.arguments = [data]
      request.readOnlyPaths = [data]
    }
    let first = try #require(outcome.lines.first)
    #expect(first.hasPrefix("/Applications/Tool.app/tool /"))
    #expect(outcome.lines.dropFirst() == ["shown2"])
  }

  @Test func `a folder below one that the sandbox makes itself can be shown`() throws {
    // What the host has below /var is of no matter here; it is empty wherever it comes from.
    let (outcome, _) = try sandbox("ls -d /var/cache /var/tmp") { request, _ in request.readOnlyPaths = ["/var/cache"] }
    #expect(outcome.failure == nil)
    #expect(outcome.lines == ["/var/cache", "/var/tmp"])
  }

  @Test func `limits are set, and never above what the launcher may have`() throws {
    let (outcome, _) = try sandbox("ulimit -n; ulimit -c; ulimit -f") { request, _ in
      request.limits = [ResourceLimit(.openFiles, 64), ResourceLimit(.core, 0), ResourceLimit(.fileSize, 1 << 20)]
    }
    #expect(outcome.lines == ["64", "0", "2048"])
    let (high, _) = try sandbox("ulimit -n") { request, _ in request.limits = [ResourceLimit(.openFiles, 1 << 40)] }
    #expect(high.failure == nil)
    #expect(high.status == 0)
  }

  @Test func `what is to be shown and is not there is an error that names it`() throws {
    let folder = try TemporaryFolder()
    let request = SandboxRequest(
      program: .file(path: "/bin/true"), bundleIdentifier: "io.ambit.tests", container: "\(folder.path)/missing",
      hostID: hostID)
    let error = #expect(throws: KernelError.self) { try run(SandboxPlan(request, on: .current())) }
    #expect(error == KernelError("open_tree", "\(folder.path)/missing", errno: .noSuchFileOrDirectory))
  }
}
