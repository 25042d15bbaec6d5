import Foundation
import TestSupport
import Testing

/// Programs that know nothing of Ambit do inside what they do outside: each is run both ways, and says the same.
@Suite(.waiting) struct RealProgramTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let command: [String]
    /// What it says at the end, so that saying the same is not both failing.
    let ending: String

    init(_ name: String, _ command: [String], ending: String = "done\n") {
      self.name = name
      self.command = command
      self.ending = ending
    }

    var testDescription: String { name }
  }

  static let cases = [
    Case("a script of bash", ["/bin/bash", "-c", bash]), Case("python3", ["/usr/bin/python3", "-I", "-c", python]),
    Case("threads and processes of python3", ["/usr/bin/python3", "-I", "-c", threads]),
    Case("git", ["/bin/sh", "-c", git]), Case("sqlite3", ["/bin/sh", "-c", sqlite]),
    Case("awk, sed, sort, tar, gzip, find and xargs", ["/bin/sh", "-c", tools]),
    Case("sendfile between files", ["/usr/bin/python3", "-I", "-c", sendfile]),
    Case("perl", ["/usr/bin/perl", "-e", perl]),
  ]

  @Test(arguments: TestUser.inTurn(cases))
  func `a program runs inside as it does outside`(user: TestUser, program: Case) throws {
    try Workspace.with(user) { world in
      let environment = ["LC_ALL": "C.UTF-8"]
      let outside = try world.run(program.command, environment: environment)
      #expect(outside.exit == .status(0), "\(outside)")
      #expect(outside.output.hasSuffix(program.ending), "\(outside)")
      let inside = try world.run([try Products.path("ambit"), "run"] + program.command, environment: environment)
      #expect(inside.exit == outside.exit, "\(inside)")
      #expect(inside.output == outside.output, "\(inside)")
      #expect(inside.errors == outside.errors)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `I5: the launcher copies nothing from or to the kernel's own files, and nothing to a pipe`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      let script = """
        import os
        file = os.open(os.path.expanduser("~/file"), os.O_RDWR | os.O_CREAT)
        os.write(file, b"5")
        status = os.open("/proc/self/status", os.O_RDONLY)
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        for target, source in ((file, status), (score, file), (os.pipe()[1], file)):
            try:
                print(os.sendfile(target, source, 0, 1))
            except OSError as error:
                print(error.errno)
        """
      let outcome = try world.ambit("run", "/usr/bin/python3", "-I", "-c", script)
      #expect(outcome.output == "22\n22\n22\n", "\(outcome)")
    }
  }

  /// As they are in the packages of Podman and Docker. `make test` installs the first on Debian, and fetches the other where
  /// it can.
  static let profiles = ["/usr/share/containers/seccomp.json", "\(Products.buildFolder)/../../profiles/docker.json"]
    .filter { path in
      let isHere =
        FileManager.default.fileExists(atPath: path)
        || (path.hasPrefix("/usr") && FileManager.default.fileExists(atPath: "/etc/debian_version"))
      return (path.hasPrefix("/usr") ? Feature.podmanProfile : .dockerProfile).isTried(isHere)
    }

  @Test(arguments: TestUser.one(.root), profiles)
  func `a container engine's own seccomp profile is taken unchanged, and programs run under it`(
    user: TestUser, profile: String
  ) throws {
    try Workspace.with(user) { world in
      // The checkout may lie where only its owner can enter.
      try world.write(try String(contentsOfFile: profile, encoding: .utf8), to: "\(world.home)/profile.json")
      for program in Self.cases.prefix(4) {
        let inside = try world.run(
          [try Products.path("ambit"), "run", "--seccomp", "profile.json"] + program.command,
          environment: ["LC_ALL": "C.UTF-8"])
        #expect(inside.exit == .status(0), "\(program.name): \(inside)")
        #expect(inside.output.hasSuffix(program.ending), "\(program.name): \(inside)")
      }
      let explained = try world.ambit("seccomp", "explain", "profile.json", "--syscall", "mount")
      #expect(explained.exit == .status(0), "\(explained)")
    }
  }

  /// The programs that an app may run lie on the system or with it. This one is linked statically, with its libc.
  @Test(arguments: TestUser.all)
  func `a static program runs inside as it does outside`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let ambit = try Products.path("ambit")
      let outside = try world.ambit("--version")
      #expect(outside.exit == .status(0))
      #expect(try world.ambit("run", ambit, "--version").output == outside.output)
    }
  }

  /// Typed as a person does: insert, leave insert mode, write, quit.
  @Test(arguments: TestUser.one(.root))
  func `vim edits a file of the container, and a granted document, at a terminal`(user: TestUser) throws {
    let vim = try #require(
      ["/usr/bin/vim.tiny", "/usr/bin/vim", "/usr/bin/vi"].first { FileManager.default.isExecutableFile(atPath: $0) },
      "there is no vim; “make test” installs it")
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "a letter\n")
      let ambit = try Products.path("ambit")
      let script = """
        #!/bin/sh
        echo first >notes.txt
        \(vim) -u NONE notes.txt && cat notes.txt
        document=$(ambitctl pick) && ambitctl with "$document" -- \(vim) -u NONE {} && ambitctl with "$document" -- cat
        """
      let app = try world.bundle("Editing", identifier: "io.ambit.tests.editing", script: script)
      let shell = try world.terminal([
        "/bin/sh", "-c", "'\(ambit)' run --pick '\(document)' '\(app)'; echo status=$?; read line",
      ])
      for (text, written) in [("first", "inside"), ("a letter", "granted")] {
        try shell.see(text)
        try shell.type("o\(written)\u{1B}")
        try shell.see(written)
        try shell.type(":wq\r")
        try shell.see("\(text)\r\n\(written)\r\n")
      }
      try shell.see("status=0")
      #expect(shell.isCooked)
      #expect(try world.read(document) == "a letter\ngranted\n")
    }
  }

  private static let bash = """
    set -euo pipefail
    declare -A ages=([anna]=30 [bert]=41)
    list=(); for name in "${!ages[@]}"; do list+=("$name=${ages[$name]}"); done
    printf '%s\\n' "${list[@]}" | sort
    diff <(printf 'a\\nb\\n') <(printf 'a\\nc\\n') || echo "differs: $?"
    mapfile -t lines < <(seq 5); echo "${#lines[@]} ${lines[-1]}"
    cat <<<"here" ; cat <<END
    $(echo substituted) $((6 * 7))
    END
    (exit 3) || echo "status $?"
    coproc { tr a-z A-Z; }; echo hello >&"${COPROC[1]}"; exec {COPROC[1]}>&-; read -r said <&"${COPROC[0]}"; echo "$said"
    trap 'echo caught' USR1; kill -USR1 $$; sleep 0.01 & wait $!
    work=$(mktemp -d); cd "$work"; mkfifo pipe; (echo through >pipe &); cat pipe; ln -s pipe link; readlink link
    cd /; rm -r "$work"; ulimit -n 100; test -w "$HOME" && echo done
    """

  /// With an offset, at a position, at the end, to a file that only grows, and beyond a limit.
  private static let sendfile = """
    import os, resource, signal, tempfile
    os.chdir(tempfile.mkdtemp())
    source = os.open("source", os.O_RDWR | os.O_CREAT)
    content = os.urandom(3000000)
    os.write(source, content)
    target = os.open("target", os.O_RDWR | os.O_CREAT)
    offset = 5
    while count := os.sendfile(target, source, offset, 1 << 40):
        offset += count
    print(offset, os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR))
    print(open("target", "rb").read() == content[5:])
    os.lseek(source, 2999000, os.SEEK_SET)
    print(os.sendfile(target, source, None, 100), os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR))
    print(os.sendfile(target, source, 3000000, 1), os.sendfile(target, source, 0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000200, 3000200))
    print(os.sendfile(target, source, 0, 1000))
    def fails(*arguments):
        try:
            print(os.sendfile(*arguments))
        except OSError as error:
            print(error.errno)
    fails(target, source, 0, 1000)
    fails(os.open("target", os.O_WRONLY | os.O_APPEND), source, 0, 10)
    fails(os.open("target", os.O_RDONLY), source, 0, 10)
    fails(target, os.open("target", os.O_WRONLY), 0, 10)
    fails(target, source, -1, 10)
    fails(99, source, 0, 10)
    print("done")
    """

  private static let python = """
    import csv, hashlib, io, json, mmap, os, re, select, shutil, signal, sqlite3, struct, subprocess, sys, tempfile, time, zlib
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data")
        with open(path, "wb+") as f:
            f.write(b"x" * 70000)
            f.flush()
            with mmap.mmap(f.fileno(), 0) as m:
                m[1:4] = b"abc"
            f.seek(0)
            print(f.read(5), zlib.crc32(b"text"))
        os.rename(path, path + "2")
        os.utime(path + "2", (1, 2))
        print(os.stat(path + "2").st_mtime, sorted(os.listdir(folder)))
        shutil.copy(path + "2", path)
        base = sqlite3.connect(os.path.join(folder, "base"))
        base.execute("create table t (a integer, b text)")
        base.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(1000)])
        base.commit()
        print(base.execute("select sum(a), count(b) from t").fetchone())
    print(subprocess.run(["/bin/sh", "-c", "echo out; exit 7"], capture_output=True))
    print(json.dumps({"a": [1, None, "ü"]}), re.findall(r"\\d+", "a1b22"), hashlib.sha256(b"").hexdigest())
    signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.1)
    print(len(os.urandom(16)), os.cpu_count() == len(os.sched_getaffinity(0)), sys.version_info.major)
    print("done")
    """

  private static let threads = """
    import asyncio, concurrent.futures, multiprocessing, os, queue, socket, threading
    lock, total = threading.Lock(), 0
    def add(n):
        global total
        for _ in range(n):
            with lock:
                total += 1
    workers = [threading.Thread(target=add, args=(1000,)) for _ in range(32)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    print(total)
    def square(x): return x * x
    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        with context.Pool(3) as pool:
            print(pool.map(square, range(10)))
        channel = context.Queue()
        child = context.Process(target=lambda: channel.put("from the child"))
        child.start()
        print(channel.get(timeout=10))
        child.join()
        shared = context.Value("i", 0)
        child = context.Process(target=lambda: shared.__setattr__("value", 5))
        child.start(); child.join()
        print(shared.value, child.exitcode)
    async def main():
        reader, writer = socket.socketpair()
        stream, _ = await asyncio.open_connection(sock=reader)
        writer.sendall(b"line\\n")
        print(await stream.readline())
        process = await asyncio.create_subprocess_exec("/bin/echo", "sub", stdout=asyncio.subprocess.PIPE)
        print((await process.communicate())[0])
    asyncio.run(main())
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.expanduser("~/own.socket")); server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.expanduser("~/own.socket"))
    server.accept()[0].sendall(b"own server")
    print(client.recv(100))
    os.unlink(os.path.expanduser("~/own.socket"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        print(sum(pool.map(square, range(100))))
    print("done")
    """

  private static let git = """
    set -eu
    export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
    rm -rf "$HOME/work" "$HOME/clone"; mkdir "$HOME/work"; cd "$HOME/work"
    git -c init.defaultBranch=main init -q .
    git config user.name Somebody; git config user.email somebody@example.org
    for number in 1 2 3; do echo "line $number" >>file; git add file; git commit -q -m "commit $number"; done
    git switch -q -c other HEAD~1; echo other >other; git add other; git commit -q -m other
    git switch -q main; git merge -q -m merge other; git tag v1; git gc -q; git fsck --strict
    git clone -q . "$HOME/clone"; git -C "$HOME/clone" log --oneline --graph --decorate
    echo changed >>file; git stash -q; git stash pop -q; git diff --stat; git status --short; git grep -n line v1
    cd "$HOME"; rm -rf work clone; echo done
    """

  private static let sqlite = """
    set -eu
    cd "$HOME"; rm -f base*
    sqlite3 base 'pragma journal_mode=wal; create table t (a integer primary key, b text);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) insert into t select i, hex(i) from n;
      select count(*), sum(a), max(length(b)) from t; pragma integrity_check;'
    for round in 1 2 3 4; do sqlite3 base ".timeout 20000" "begin immediate; update t set b = b || 'x'; commit;" & done; wait
    sqlite3 base "select max(length(b)), min(length(b)) from t; vacuum; pragma quick_check;"
    rm -f base*; echo done
    """

  private static let tools = """
    set -eu
    work=$(mktemp -d "$HOME/tools.XXXXXX"); cd "$work"
    seq 2000 | awk '{ s += $1; print s > "sums" } END { print NR, s }'
    sort -rn sums | head -3; sort --parallel=4 -S 1M sums | tail -1; sed -i 's/^1/one/' sums; grep -c '^one' sums
    mkdir -p a/b/c; for n in 1 2 3; do echo $n >a/b/$n; done; tar -czf a.tgz a; rm -r a; tar -xzf a.tgz
    find a -type f | sort | xargs -P 3 -n 1 cat | sort; du -a a | wc -l; stat -c '%a %h' a/b/1
    cp -a a b; diff -r a b; touch -d 2020-01-01 a/b/1; ls -l --time-style=+%Y a/b/1 | cut -d' ' -f6
    head -c 100000 /dev/urandom | tee random | sha256sum | cut -c65-; cmp random random; dd if=random of=copy bs=4k 2>/dev/null
    split -b 30000 random part.; cat part.* | cmp - random; gzip -k random; gunzip -t random.gz; date -u -d @0 +%F
    flock lock true; timeout 0.05 sleep 5 || echo "timeout $?"; nice true; nohup true 2>/dev/null; setsid -w true; echo a | tee b1 b2
    cd /; rm -r "$work"; echo done
    """

  private static let perl = """
    use strict; use warnings; use POSIX; use Socket; use IO::Select; use File::Temp qw(tempdir);
    my $folder = tempdir(CLEANUP => 1); open(my $f, '+>', "$folder/x") or die; print $f "text\\n" x 3; seek($f, 0, 0);
    my @lines = <$f>; print scalar(@lines), "\\n"; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die;
    my $pid = fork; if (!$pid) { syswrite($b, "from the child\\n"); POSIX::_exit(4) } sysread($a, my $said, 100); waitpid($pid, 0);
    print $said, $? >> 8, "\\n"; print `echo backticks`; local $SIG{ALRM} = sub { print "alarm\\n" }; alarm 1; sleep 3; print "done\\n";
    """
}
