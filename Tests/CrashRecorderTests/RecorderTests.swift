import CrashRecorder
import CrashStates
import Foundation
import Kernel
import TestSupport
import Testing

/// Programs that save, recorded for real.
@Suite struct RecorderTests {
  /// A folder with a document, and what a program does to it, as texts.
  private struct Stage {
    let folder: TemporaryFolder
    let path: String

    init(_ content: String = "old\n") throws {
      folder = try TemporaryFolder()
      path = try folder.folder("papers")
      try folder.write("papers/letter", content)
    }

    func record(_ arguments: [String], _ options: Recorder.Options = .init()) throws -> Recording {
      let path = path
      let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "P": path]
      // The kernel lets only the thread that has started a program follow it.
      return try OwnThread {
        try Recorder.record(arguments, environment: environment, watching: try WatchedFolder.open([path]), options)
      }.value()
    }

    func shell(_ script: String, _ options: Recorder.Options = .init()) throws -> Recording {
      try record(["/bin/sh", "-c", "cd $P; \(script)"], options)
    }

    func shell(
      _ script: String, beside body: @escaping @Sendable () throws -> Void
    ) throws -> Recording {
      let other = OwnThread { try body() }
      let recording = try shell(script)
      try other.value()
      return recording
    }

    func read(_ name: String = "letter") throws -> String {
      try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }
  }

  @Test func `a shell's redirection cuts the document and then writes to it`() throws {
    let recording = try Stage().shell("echo new >letter")
    #expect(recording.texts == ["letter: 0 bytes", "letter: new at 0", "acknowledge exit status 0"])
    #expect(recording.gaps == [] && recording.ending == .exit(0))
  }

  @Test func `an append comes after what is there`() throws {
    let recording = try Stage().shell("echo more >>letter")
    #expect(recording.texts == ["letter: more at 4", "acknowledge exit status 0"])
    #expect(recording.gaps == [])
  }

  @Test func `sed replaces the document by a new file, which it does not sync`() throws {
    let recording = try Stage().shell("sed -i s/old/new/ letter")
    let texts = recording.texts.map { $0.replacing(/sed[A-Za-z0-9]{6}/, with: "TEMP") }
    #expect(texts == ["create TEMP", "TEMP: new at 0", "rename TEMP letter", "acknowledge exit status 0"])
    #expect(recording.gaps == [])
  }

  @Test func `cp and mv`() throws {
    let recording = try Stage().shell("cp letter copy && mv copy letter")
    #expect(recording.texts == ["create copy", "copy: old at 0", "rename copy letter", "acknowledge exit status 0"])
    #expect(recording.gaps == [])
  }

  @Test func `a document that was replaced from elsewhere, or has left, is no document any more`() throws {
    let stage = try Stage()
    try stage.folder.write("other", "new\n")
    let replaced = try stage.shell("exec 3>>letter; mv ../other letter; echo more >&3")
    #expect(replaced.texts == ["create letter", "letter: new at 0", "acknowledge exit status 0"])
    let left = try stage.shell("exec 3>>letter; mv letter ../out; echo more >&3")
    #expect(left.texts == ["unlink letter", "acknowledge exit status 0"])
  }

  @Test func `a file that comes from elsewhere brings its content, which counts as not synced`() throws {
    let stage = try Stage()
    try stage.folder.write("other", "new\n")
    let recording = try stage.shell("mv ../other letter; mkdir ../d; echo x >../d/f; mv ../d .")
    #expect(
      recording.texts == [
        "create letter", "letter: new at 0", "folder d", "create f", "f: x at 0", "acknowledge exit status 0",
      ])
    #expect(recording.gaps == [])
  }

  @Test func `names: links, folders, removals`() throws {
    let recording = try Stage().shell(
      "mkdir d; ln letter d/two; ln -s letter d/three; rm d/two d/three; rmdir d; ln letter two; rm letter")
    #expect(
      recording.texts == [
        "folder d", "link letter two", "symlink three letter", "unlink two", "unlink three", "unlink d",
        "link letter two",
        "unlink letter", "acknowledge exit status 0",
      ])
    #expect(recording.gaps == [])
  }

  static let python = """
    import ctypes, mmap, os, sys, threading
    def save(text, folder=True):
      with open(".t", "w") as f:
        f.write(text); f.flush(); os.fsync(f.fileno())
      os.rename(".t", "letter")
      if folder:
        d = os.open(".", os.O_RDONLY); os.fsync(d); os.close(d)

    """

  private func python(_ script: String, _ stage: Stage) throws -> Recording {
    try stage.record(["python3", "-c", "import os; os.chdir(os.environ['P'])\n" + Self.python + script])
  }

  @Test func `a save as it should be`() throws {
    let recording = try python("save('new')", Stage())
    #expect(
      recording.texts == [
        "create .t", ".t: new at 0", "sync .t", "rename .t letter", "sync papers", "acknowledge exit status 0",
      ])
  }

  @Test func `marks acknowledge each save`() throws {
    let script = """
      save("one"); print("ambit:ack first", flush=True)
      save("two"); os.write(int(os.environ["AMBIT_CRASHCHECK_ACK"]), b"second\\n")
      """
    let acknowledged = try python(script, Stage()).texts.filter { $0.hasPrefix("ack") }
    #expect(acknowledged == ["acknowledge first", "acknowledge second", "acknowledge exit status 0"])
  }

  @Test func `a program that fails acknowledges nothing`() throws {
    let recording = try Stage().shell("echo new >letter; exit 3")
    #expect(recording.ending == .exit(3) && recording.trace.acknowledgements == 0)
    let killed = try Stage().shell("echo new >letter; kill -9 $$")
    #expect(killed.ending == .signal(SIGKILL) && killed.trace.acknowledgements == 0)
  }

  @Test func `threads, forks and vforks are followed`() throws {
    let script = """
      def work(n):
        for i in range(20):
          with open(f"f{n}", "a") as f: f.write(f"{i}\\n")
      threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
      [t.start() for t in threads]; [t.join() for t in threads]
      if os.fork() == 0:
        work(4); os._exit(0)
      os.wait()
      os.posix_spawn("/bin/sh", ["sh", "-c", "echo spawned >f5"], os.environ); os.wait()
      """
    let recording = try python(script, Stage())
    // The comparison with the folder at the end finds whatever is missing.
    #expect(recording.gaps == [])
    #expect(recording.texts.count { $0.hasPrefix("f") } == 101)
  }

  @Test func `other ways to write`() throws {
    let script = """
      f = os.open("letter", os.O_RDWR)
      os.pwrite(f, b"P", 1)
      os.writev(f, [b"ab", b"c"])
      os.pwritev(f, [b"x", b"yz"], 10)
      os.ftruncate(f, 6)
      os.posix_fallocate(f, 0, 8)
      g = os.open("copy", os.O_WRONLY | os.O_CREAT)
      os.copy_file_range(f, g, 4, 0)
      os.sendfile(g, f, 0, 2)
      os.fdatasync(g)
      os.sync()
      """
    let stage = try Stage()
    let recording = try python(script, stage)
    #expect(recording.gaps == [])
    #expect(
      recording.texts == [
        "letter: P at 1", "letter: abc at 0", "letter: xyz at 10", "letter: 6 bytes", "letter: 8 bytes", "create copy",
        "copy: abc at 0", "copy: ab at 4", "sync copy", "sync everything", "acknowledge exit status 0",
      ])
    #expect(try stage.read("copy") == "abc\nab")
  }

  @Test func `files without a name, synced openings, exchanges`() throws {
    let script = """
      f = os.open(".", os.O_TMPFILE | os.O_RDWR)
      os.write(f, b"new")
      libc = ctypes.CDLL(None)
      if libc.linkat(-100, f"/proc/self/fd/{f}".encode(), -100, b"n", 0x400) != 0: sys.exit(1)
      g = os.open("n", os.O_WRONLY | os.O_DSYNC)
      os.write(g, b"N")
      if libc.renameat2(-100, b"n", -100, b"letter", 2) != 0: sys.exit(1)
      """
    let recording = try python(script, Stage())
    #expect(recording.gaps == [])
    #expect(
      recording.texts == [
        "appear", "-: new at 0", "link - n", "n: N at 0", "sync n", "exchange n letter", "acknowledge exit status 0",
      ])
  }

  @Test func `changes through shared memory are seen at the next call, and said`() throws {
    let script = """
      f = os.open("letter", os.O_RDWR)
      m = mmap.mmap(f, 4)
      m[0:3] = b"new"
      os.fsync(f)
      """
    let recording = try python(script, Stage())
    #expect(recording.gaps == [])
    #expect(recording.remarks.count == 1 && recording.remarks[0].contains("shared memory"))
    #expect(recording.texts == ["letter: new at 0", "sync letter", "acknowledge exit status 0"])
  }

  @Test func `another process's changes make the recording incomplete`() throws {
    let stage = try Stage()
    let recording = try stage.shell(
      "echo new >letter; while [ ! -e ../go ]; do sleep 0.01; done; true",
      beside: {
        while try stage.read() != "new\n" { usleep(1000) }
        try stage.folder.write("papers/intruder", "here")
        try stage.folder.write("go", "")
      })
    #expect(recording.gaps.count == 1 && recording.gaps[0].contains("intruder"), "\(recording.gaps)")
  }

  @Test func `a program is killed before a call, with its children`() throws {
    let stage = try Stage()
    let script = "echo new >letter; (echo other >second); echo third >third"
    let all = try stage.shell(script)
    for call in 1...all.calls {
      let stage = try Stage()
      let killed = try stage.shell(script, .init(killBefore: call, isQuiet: true))
      #expect(killed.ending == .killed && killed.calls == call)
      // It has what came before the call, and nothing after it.
      let steps = killed.trace.steps.count
      #expect(killed.texts == Array(all.texts.prefix(steps)))
    }
  }

  @Test func `a missing program is an error that names it`() throws {
    #expect { try Stage().record(["/no/such/program"]) } throws: { error in
      (error as? KernelError).map { $0.call == "execve" && "\($0)".contains("ENOENT") } ?? false
    }
  }

  @Test func `more than the limit is an error, and nothing goes on`() throws {
    let stage = try Stage()
    #expect(throws: RecordingError.self) {
      try stage.shell("head -c 3000000 /dev/zero >letter; sleep 1000", .init(limits: .init(bytes: 1 << 20)))
    }
    #expect(throws: RecordingError.self) {
      try stage.shell("truncate -s 1T huge; sleep 1000", .init(limits: .init(bytes: 1 << 20)))
    }
  }
}

extension Recording {
  /// The steps, with files by their names and short contents.
  var texts: [String] {
    var tree = trace.initial
    var names: [FileTree.ID: String] = [:]
    for id in tree.reachable { names[id] = tree.path(of: id).map { $0.names.last ?? $0.root } }
    func name(_ id: FileTree.ID) -> String { names[id] ?? "-" }
    return trace.steps.map { step in
      defer {
        tree.apply(step.operation)
        for id in tree.reachable { names[id] = tree.path(of: id).map { $0.names.last ?? $0.root } }
      }
      switch step.operation {
      case .create(_, .file, _, let name): return "create \(name)"
      case .create(_, .folder, _, let name): return "folder \(name)"
      case .create(_, .link(let text), _, let name): return "symlink \(name) \(text)"
      case .appear: return "appear"
      case .link(let id, _, let new): return "link \(name(id)) \(new)"
      case .unlink(_, let name): return "unlink \(name)"
      case .rename(_, let name, _, let new): return "rename \(name) \(new)"
      case .exchange(_, let name, _, let other): return "exchange \(name) \(other)"
      case .write(let id, let offset, let bytes):
        return "\(name(id)): \(String(decoding: bytes.filter { $0 >= 32 }, as: UTF8.self)) at \(offset)"
      case .resize(let id, let size): return "\(name(id)): \(size) bytes"
      case .sync(let id, _): return "sync \(name(id))"
      case .syncAll: return "sync everything"
      case .acknowledge(let text): return "acknowledge \(text)"
      }
    }
  }
}
