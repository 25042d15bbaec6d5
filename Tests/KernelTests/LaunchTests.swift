import Foundation
import Kernel
import SystemPackage
import Testing

@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `A launch` {
  @Test func `starts the program with exactly these arguments and this environment`() throws {
    let odd = ["a b", "", "'\"$(x)\\", "Größe", "-n", "a\nb"]
    var box = try Box.shell("for each; do printf '<%s>' \"$each\"; done; printf '|'; env", odd)
    box.plan.environment = ["ONE=1", "TWO=a b=c"]
    let outcome = try box.run()
    #expect(outcome.started)
    #expect(outcome.status == 0)
    let parts = outcome.output.split(separator: "|", maxSplits: 1).map(String.init)
    #expect(parts[0] == odd.map { "<\($0)>" }.joined())
    // The shell adds PWD for itself.
    #expect(Set(parts[1].split(separator: "\n")) == ["ONE=1", "TWO=a b=c", "PWD=/"])
  }

  @Test(arguments: [0, 1, 7, 125, 255])
  func `reports the exit status`(status: Int32) throws {
    let outcome = try Box.shell("exit \(status)").run()
    #expect(outcome.status == status)
    #expect(outcome.signal == 0)
    #expect(outcome.failure == nil)
  }

  @Test(arguments: [SIGTERM, SIGKILL, SIGSEGV, SIGHUP])
  func `reports the signal that ended the program`(signal: Int32) throws {
    let outcome = try Box.shell("kill -\(signal) $$").run()
    #expect(outcome.signal == signal)
    #expect(outcome.status == -1)
  }

  @Test func `reports a stop, and passes signals on`() throws {
    let outcome = try Box.shell("kill -STOP $$; echo on; exit 3").run()
    #expect(outcome.stops == [SIGSTOP])
    #expect(outcome.output == "on\n")
    #expect(outcome.status == 3)
    // To the whole group: the shell's child as well, for which the shell waits.
    let group = try Box.shell("sleep 1000 & kill -STOP $$; wait").run(stopped: { launched in
      try launched.signal(SIGTERM, group: true)
      try launched.signal(SIGCONT, group: true)
    })
    #expect(group.signal == SIGTERM)
  }

  @Test func `reaps what the program leaves to it`() throws {
    // Ends only once the orphan is no zombie any more.
    let script = "(true & ) ; while cat /proc/[0-9]*/stat 2>/dev/null | grep -q ' Z '; do :; done; echo none"
    #expect(try Box.shell(script).run().output == "none\n")
  }

  // MARK: What fails, and where

  @Test func `says that there is no such program`() throws {
    let outcome = try Box("/usr/bin/there-is-no-such-program").run()
    #expect(outcome.failure == .init(stage: .exec, errno: .noSuchFileOrDirectory))
    #expect(outcome.status == 125)
  }

  @Test func `says that a folder, or a file without permission, cannot be executed`() throws {
    for program in ["/usr", "/proc/self/status"] {
      #expect(try Box(program).run().failure == .init(stage: .exec, errno: .permissionDenied))
    }
  }

  @Test func `says that a file is no program`() throws {
    let box = try Box("/data", steps: [.file("data", content: "no program", mode: 0o555)])
    #expect(try box.run().failure == .init(stage: .exec, errno: Errno(rawValue: ENOEXEC)))
  }

  @Test func `says which step of the root could not be made`() throws {
    for (step, errno) in [
      (RootStep.directory("a/b/c"), Errno.noSuchFileOrDirectory), (.directory("fine"), .fileExists),
      (.listener("no/such/place"), .noSuchFileOrDirectory), (.file("dev/null/x", content: ""), .notDirectory),
    ] {
      let box = try Box("/bin/true", steps: [.directory("fine"), step, .directory("more")])
      let failed = Box.Failure(stage: .steps, errno: errno, step: box.plan.root.count - 2)
      #expect(try box.run().failure == failed, "\(step)")
    }
  }

  /// A step goes where it was meant to, or the launch fails: a link that an app has planted in a tree that is shown
  /// must not lead it to the host, on which the old root still is.
  @Test func `follows no link on the way to a step's place`() throws {
    let outside = try Folder()
    let planted = try Folder()
    try planted.link("way", to: outside.path)
    try planted.link("up", to: "../..")
    let other = try outside.folder("other")
    for way in ["planted/way", "planted/up", "link"] {
      let steps: [RootStep] = [
        .directory("\(way)/made"), .file("\(way)/made", content: "x"), .symlink("\(way)/made", to: "x"),
        .temporary("\(way)/made", mode: 0o755, size: "1m", inodes: "10", []), .listener("\(way)/made"),
        try Box.bind(other, at: "\(way)/made", []), .documents("\(way)/made"), .processes("\(way)/made"),
      ]
      for step in steps {
        let tree = try Box.bind(planted.path, at: "planted", [])
        let box = try Box("/bin/true", steps: [tree, .symlink("link", to: outside.path), step])
        let failure = try box.run().failure
        #expect(failure?.stage == .steps)
        #expect(["ELOOP", "ENOTDIR"].contains(failure?.errno.symbol), "\(step)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path) == ["other"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: planted.path).sorted() == ["up", "way"])
  }

  @Test func `says that the working directory is not there`() throws {
    var box = try Box("/bin/true")
    box.plan.directory = "/nowhere"
    #expect(try box.run().failure == .init(stage: .directory, errno: .noSuchFileOrDirectory))
  }

  @Test func `says that a filter is none`() throws {
    var box = try Box("/bin/true")
    box.plan.filter = SeccompProgram(bytes: [UInt8](repeating: 0xff, count: 8))
    #expect(try box.run().failure == .init(stage: .filter, errno: .invalidArgument))
  }

  /// The first would be no filter, and the last, counted in 16 bits, one of a single instruction.
  @Test(arguments: [0, 7, 12, 8 * 4097, 8 * 65_537])
  func `a filter that is empty or would be cut short is refused, and nothing is started`(bytes: Int) throws {
    for isProfile in [false, true] {
      var box = try Box("/bin/true")
      let program = SeccompProgram(bytes: [UInt8](repeating: 0, count: bytes))
      if isProfile { box.plan.profiles = [program] } else { box.plan.filter = program }
      let error = #expect(throws: KernelError.self) { try box.plan.start() }
      #expect(error?.call == "seccomp" && error?.errno == .invalidArgument)
    }
  }

  @Test func `sets limits, and says which one it could not set`() throws {
    var box = try Box.shell("ulimit -n; ulimit -c")
    box.plan.limits = [(resource: 7, soft: 100, hard: 100), (resource: 4, soft: 0, hard: 0)]
    #expect(try box.run().lines == ["100", "0"])
    box = try Box("/bin/true")
    box.plan.limits = [(resource: 7, soft: 100, hard: 100), (resource: 7, soft: 200, hard: 100)]
    #expect(try box.run().failure == .init(stage: .limits, errno: .invalidArgument, step: 1))
  }
}

@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `Inside a sandbox` {
  @Test func `there are no capabilities, no new privileges and no groups`() throws {
    let status = try Box("/bin/cat", ["/proc/self/status"]).run().lines
    func field(_ name: String) -> String {
      (status.first { $0.hasPrefix("\(name):") } ?? "").dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
    }
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(field(name) == "0000000000000000") }
    #expect(field("NoNewPrivs") == "1")
    #expect(field("Uid") == "1000\t1000\t1000\t1000")
    #expect(field("Gid") == "1000\t1000\t1000\t1000")
    #expect(field("SigBlk") == "0000000000000000")
    // An ordinary user cannot drop the groups that it came with; they show as nobody's.
    let groups = Set(field("Groups").split(separator: " "))
    #expect(geteuid() == 0 ? groups.isEmpty : groups.isSubset(of: ["65534", "1000"]))
  }

  @Test func `descriptors of the launcher are not there`() throws {
    // Not close-on-exec, low and high: as a shell hands them on.
    let source = try Descriptor.open("/etc/passwd", flags: .read)
    let leaked = [9, 200, 1000].map { fcntl(source.rawValue, F_DUPFD, Int32($0)) }
    defer { for each in leaked { close(each) } }
    #expect(leaked.allSatisfy { $0 >= 9 })
    let outcome = try Box.shell("for each in /proc/$$/fd/*; do echo $each $(readlink $each); done").run()
    // The fourth, if there is one, is the folder that the shell is reading for this.
    let numbers = outcome.lines.map { $0.split(separator: " ", omittingEmptySubsequences: false)[0] }
    #expect(numbers.prefix(3) == ["/proc/2/fd/0", "/proc/2/fd/1", "/proc/2/fd/2"])
    #expect(numbers.dropFirst(3).allSatisfy { $0 == "/proc/2/fd/3" })
    #expect(!outcome.output.contains("passwd"))
  }

  @Test func `the init shows nothing of its launcher`() throws {
    let outcome = try Box.shell(
      """
      tr -d '\\0' </proc/1/cmdline; echo
      cat /proc/1/comm
      for name in environ exe root cwd fd/0 maps mem ns/mnt; do
        head -c 1 /proc/1/$name >/dev/null 2>&1 && echo $name can be read
        readlink /proc/1/$name
      done
      ls /proc/1/fd 2>/dev/null
      true
      """
    ).run()
    #expect(outcome.lines == ["ambit-init", "ambit-init"])
  }

  @Test func `no other process can be seen`() throws {
    let numbers = try Box.shell("cd /proc; for each in [0-9]*; do echo $each; done").run().lines
    #expect(numbers == ["1", "2"])
  }

  @Test func `every namespace is its own`() throws {
    let names = ["mnt", "pid", "ipc", "uts", "cgroup", "net", "user"]
    let script = names.map { "readlink /proc/self/ns/\($0)" }.joined(separator: "; ")
    let inside = try Box.shell("\(script); hostname").run().lines
    #expect(inside.count == 8)
    for (index, name) in names.enumerated() where index < inside.count {
      let outside = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/\(name)")
      #expect(inside[index].hasPrefix("\(name):["))
      #expect(inside[index] != outside)
    }
    #expect(inside.last == "box")
  }

  @Test func `the network is a loopback that is up, and nothing else`() throws {
    let lines = try Box.shell("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /sys/x 2>/dev/null; true").run()
      .lines
    #expect(lines == ["lo"])
  }

  @Test func `the root cannot be written, and what may be written can`() throws {
    let outcome = try Box.shell(
      """
      for place in / /dev /documents /usr /proc /run /tmp; do
        if touch $place/x 2>/dev/null; then echo $place; fi
      done
      """
    ).run()
    #expect(outcome.lines == ["/tmp"])
  }

  @Test func `a mount denies what it was told to, and only that`() throws {
    let folder = try Folder()
    try folder.write("program", "#!/bin/sh\necho ran\n", mode: 0o755)
    let script = "touch /data/new && echo wrote; /data/program 2>/dev/null"
    let open = try Box.shell(script, steps: [Box.bind(folder.path, at: "data", [])]).run()
    #expect(open.lines == ["wrote", "ran"])
    let readOnly = try Box.shell(script, steps: [Box.bind(folder.path, at: "data", [.readOnly])]).run()
    #expect(readOnly.lines.last == "ran")
    #expect(readOnly.output.contains("Read-only file system"))
    let noExecute = try Box.shell(script, steps: [Box.bind(folder.path, at: "data", [.noExecute])]).run()
    #expect(noExecute.lines == ["wrote"])
    #expect(noExecute.status == 126)
    let flags = try Box.shell(
      "grep ' /data ' /proc/self/mounts",
      steps: [Box.bind(folder.path, at: "data", [.readOnly, .noSetuid, .noDevices, .noExecute])]
    ).run().output
    let options = Set(flags.split(separator: " ").dropFirst(3).first?.split(separator: ",") ?? [])
    #expect(options.isSuperset(of: ["ro", "nosuid", "nodev", "noexec"]))
  }

  @Test func `a detached tree appears in a sandbox that stands already`() async {
    // In a process of its own: a thread that has visited another mount namespace is of no use to other tests.
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let letter = try folder.write("letter", "dear")
      let tree = try DetachedTree(
        cloning: Descriptor.open(letter, flags: .path), recursive: false, path: letter)
      try tree.restrict([.readOnly, .noExecute], recursive: false)
      let home = try Namespaces.own("mnt")
      let box = try Box.shell("cat /documents/place; echo x 2>/dev/null >>/documents/place || echo refused")
      let outcome = try box.run { namespace, documents in
        // Whoever makes something in the sandbox's own file system has to be somebody there.
        try withFileSystemIdentity(geteuid() == 0 ? Box.outsideID : nil) { () throws(KernelError) in
          _ = try Descriptor.open("place", below: documents, flags: [.create, .exclusive], mode: 0)
        }
        try Namespaces.separateFileSystemState()
        try Namespaces.join(namespace, .mount)
        let target = try Descriptor.open("/documents/place", flags: [.path, .noFollow], resolve: .noSymlinks)
        try tree.move(onto: target, path: "/documents/place")
        try Namespaces.join(home, .mount)
      }
      #expect(outcome.output.hasPrefix("dear"))
      #expect(outcome.output.hasSuffix("refused\n"))
      #expect(FileManager.default.contents(atPath: letter) == Data("dear".utf8))
    }
  }

  @Test func `an id-mapped mount shows another's files as the app's own; only root can make one`() throws {
    let folder = try Folder()
    try folder.write("mine", "x", mode: 0o600)
    guard geteuid() == 0 else {
      let error = #expect(throws: KernelError.self) { try IdentityMap(diskUser: 0, diskGroup: 0, shownAs: 7) }
      #expect(error?.errno == .notPermitted)
      return
    }
    let script = "stat -c '%u %g' /data/mine; cat /data/mine && echo y >>/data/mine && touch /data/new"
    let plain = try Box.shell(script, steps: [Box.bind(folder.path, at: "data", [])]).run()
    #expect(plain.lines.first == "65534 65534")
    #expect(plain.status != 0)
    let identity = try IdentityMap(diskUser: 0, diskGroup: 0, shownAs: Box.outsideID)
    let mapped = try Box.shell(script, steps: [Box.bind(folder.path, at: "data", [], identity: identity)]).run()
    #expect(mapped.lines == ["1000 1000", "x"])
    #expect(mapped.status == 0)
    #expect(try Descriptor.open("\(folder.path)/new", flags: .path).status().userID == 0)
  }

  @Test func `the terminal is the sandbox's own`() throws {
    var box = try Box.shell("tty; test -t 0 && test -t 1 && test -t 2 && echo three; ls /dev/pts")
    let output = box.plan.standardStreams[1]
    box.plan.standardStreams = [nil, output, nil]
    let outcome = try box.run()
    #expect(outcome.hasTerminal)
    #expect(outcome.lines.first == "/dev/pts/0")
    #expect(outcome.lines.dropFirst() == ["0", "ptmx"])
    #expect(try Box("/bin/true").run().hasTerminal == false)
  }
}

@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `The end of a sandbox` {
  /// Starts a program that does not end by itself, and waits until it runs.
  private static func start() throws -> (launched: LaunchedInit, output: Descriptor) {
    var ends: [Int32] = [-1, -1]
    try KernelError.check("pipe2") { unsafe pipe(&ends) }
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    _ = fcntl(reading.rawValue, F_SETFD, FD_CLOEXEC)
    _ = fcntl(writing.rawValue, F_SETFD, FD_CLOEXEC)
    // A grandchild in a session of its own, too: nothing may outlive the sandbox.
    var box = try Box.shell("setsid sleep 1000 & trap '' HUP TERM INT; echo up; while :; do sleep 1000; done")
    box.plan.standardStreams = [box.plan.standardStreams[0], writing, writing]
    let launched = try box.plan.start()
    guard case .ready = try launched.receive() else { throw KernelError("receive", "ready", errno: .invalidArgument) }
    try launched.go()
    guard case .started = try launched.receive() else {
      throw KernelError("receive", "started", errno: .invalidArgument)
    }
    #expect(try reading.readLine() == Array("up".utf8))
    return (launched, reading)
  }

  /// The output ends when nobody holds it any more, which is when every process of the sandbox is gone.
  private static func expectAllGone(_ output: Descriptor, _ process: Descriptor, _ pid: Int32) throws {
    try waitForEnd(process)
    #expect(try output.readAll().isEmpty)
    var status: Int32 = 0
    #expect(unsafe waitpid(pid, &status, 0) == pid)
  }

  @Test func `comes when the launcher lets go of it`() throws {
    func begin() throws -> (pid: Int32, process: Descriptor, output: Descriptor) {
      let (launched, output) = try Self.start()
      return (launched.pid, try launched.process.duplicate(), output)
    }
    let (pid, process, output) = try begin()
    try Self.expectAllGone(output, process, pid)
  }

  @Test func `comes when its init is killed`() throws {
    let (launched, output) = try Self.start()
    try launched.process.signalProcess(SIGKILL)
    try Self.expectAllGone(output, launched.process, launched.pid)
  }

  @Test func `comes when the launcher dies`() async throws {
    let folder = try Folder()
    let pipe = "\(folder.path)/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    // The launcher is a process of its own that kills itself once the program runs. The program holds the pipe's only
    // writing end, apart from the launcher's.
    let reading = try Descriptor.open(pipe, flags: [.read, .nonBlocking])
    await #expect(processExitsWith: .signal(SIGKILL)) { [pipe = pipe as String] in
      let writing = try Descriptor.open(pipe, flags: .write)
      var box = try Box.shell("echo up; trap '' HUP TERM INT; while :; do sleep 1000; done")
      box.plan.standardStreams = [box.plan.standardStreams[0], writing, writing]
      let launched = try box.plan.start()
      guard case .ready = try launched.receive() else { return }
      try launched.go()
      guard case .started = try launched.receive() else { return }
      kill(getpid(), SIGKILL)
    }
    var entries = [PollEntry(reading, .read)]
    var said: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 100)
    while true {
      try #require(try Poll.wait(&entries, timeout: .seconds(30)) == 1, "the program is still there")
      let count = unsafe read(reading.rawValue, &buffer, buffer.count)
      if count <= 0 { break }
      said += buffer[..<count]
    }
    #expect(said.isEmpty || said == Array("up\n".utf8))
  }

  @Test func `leaves no descriptor, no child and no zombie behind, in 50 launches`() async {
    await #expect(processExitsWith: .success) {
      func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      _ = try Box("/bin/true").run()
      let before = try open()
      for number in 0..<50 {
        // Good and bad ones.
        let program = ["/bin/true", "/no/such/program", "/usr"][number % 3]
        var box = try Box(program)
        if number.isMultiple(of: 5) { box.plan.root.append(.directory("a/b")) }
        let outcome = try box.run()
        #expect((outcome.failure == nil) == (number % 3 == 0 && !number.isMultiple(of: 5)))
      }
      #expect(try open() == before)
      var status: Int32 = 0
      #expect(unsafe waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD)
    }
  }
}
