import Audit
import Foundation
import TestSupport
import Testing

/// TOK-16: what is left of a document whose scope has ended where no mount and no table of descriptors shows it at once.
@Suite(.serialized, .waiting)
struct OutlivedElsewhereTests {
  /// An app of which several launches share a container. The first word says what it does, and each line that it says is a step.
  private static let script = """
    import array, ctypes, os, socket, subprocess, sys, threading
    libc = ctypes.CDLL(None, use_errno=True)
    def ambit(*words): return subprocess.run(['ambitctl', *words], check=True, capture_output=True, text=True).stdout.strip()
    def say(*words): print(*words, flush=True)
    def wait(): sys.stdin.readline()
    def begin(*how):
        url = ambit('pick', *how)
        ambit('start', url)
        return url, ambit('path', url)
    def watch(path):
        watcher = libc.inotify_init1(0o4000)
        assert watcher >= 0 and libc.inotify_add_watch(watcher, path.encode(), 0x23) >= 0, ctypes.get_errno()
        return watcher
    def events(watcher):
        try: return len(os.read(watcher, 65536))
        except BlockingIOError: return 0
    meeting = os.path.expanduser('~/Library/meeting')
    def send(*files):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(meeting)
            socket.send_fds(s, [b'x'], files)
            s.recv(1)
    def receive():
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(meeting); s.listen(); say('listening')
            other = s.accept()[0]
            files = socket.recv_fds(other, 1, 8)[1]
            other.send(b'x')
            return files

    def watching():
        url, path = begin(*sys.argv[2:])
        inner = path + '/in.txt' if sys.argv[2:] else path
        watcher, own = watch(inner), watch(os.path.expanduser('~'))
        open(inner).close()
        say('told', events(watcher) > 0); wait()
        ambit('stop', url)
        say('stopped'); wait()
        say('told', events(watcher) > 0)
    def folderwatch():
        url, path = begin('--folder')
        other = watch(os.path.expanduser('~/Library')), watch('/usr/bin')
        ambit('stop', url)
        say('stopped'); wait()
    def unwatched():
        url, path = begin()
        watcher = watch(path)
        os.close(watcher)
        own = watch(os.path.expanduser('~'))
        ambit('stop', url)
        say('stopped'); wait()
    def thread():
        url, path = begin()
        ready, held = threading.Event(), []
        def run():
            # A table of descriptors of its own.
            assert libc.close_range(1 << 20, 1 << 21, 2) == 0
            held.append(os.open(path, os.O_RDWR)); ready.set(); threading.Event().wait()
        threading.Thread(target=run, daemon=True).start()
        ready.wait()
        say('hidden', not os.path.exists('/proc/self/fd/%d' % held[0]) or os.readlink('/proc/self/fd/%d' % held[0]) != path)
        ambit('stop', url)
        say('stopped'); wait()
    def passing():
        url, path = begin()
        file = os.open(path, os.O_RDWR)
        send(file); os.close(file)
        say('passed'); wait()
        if sys.argv[2:] != ['die']: ambit('stop', url); say('stopped'); wait()
    def keeping():
        file = receive()[0]
        say('received'); wait()
        say(os.pread(file, 100, 0).decode())
    def lending():
        url, path = begin()
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        send(folder)
        say('lent'); wait()
        file = os.open(os.path.dirname(path) + '/other', os.O_RDWR)
        say(os.pread(file, 100, 0).decode(), os.path.exists(path))
        ambit('stop', url)
        say(os.path.exists(os.path.dirname(path) + '/other')); wait()
    def renaming():
        folder = receive()[0]
        name = os.listdir(folder)[0]
        os.rename(name, 'other', src_dir_fd=folder, dst_dir_fd=folder)
        say('renamed'); wait()
    globals()[sys.argv[1]]()
    """

  private func app(_ world: Workspace) throws -> String {
    try world.bundle(
      "Pair", identifier: "io.ambit.tests.pair",
      script: "#!/bin/bash\nexec python3 -I -c \"$(cat <<'END'\n\(Self.script)\nEND\n)\" \"$@\"\n")
  }

  private func run(_ world: Workspace, _ options: [String], _ words: String...) throws -> ChildProcess {
    try world.start([try Products.path("ambit"), "run"] + options + [try app(world)] + words)
  }

  private func ending(_ world: Workspace, _ ends: Bool) throws -> [String] {
    guard ends else { return [] }
    try world.write("inherits = \"default\"\n[scopes]\noutlived = \"end\"\n", to: "\(world.home)/ends.toml")
    return ["--policy", "\(world.home)/ends.toml"]
  }

  private func holders(_ world: Workspace) throws -> [String] {
    try world.audit(.outlived).map { $0.detail[AuditEvent.Fact.holders] ?? "" }
  }

  // MARK: Watches

  @Test(arguments: TestUser.inTurn([false, true]))
  func `TOK-16, TOK-20: who watches a document that was taken away is named, and ended where the policy says so`(
    user: TestUser, ends: Bool
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      for revokes in [false, true] {
        let before = revokes ? 1 : 0
        let app = try run(world, try ending(world, ends) + ["--pick", document], "watching")
        #expect(try app.readLine() == "told True")
        if revokes {
          let answer = try world.ambit("revoke", "--document", document)
          #expect(answer.output.contains(ends ? "was ended" : "still watches it"), "\(answer)")
        } else {
          try app.send("\n")
        }
        if ends {
          #expect(try app.waitForExit() == .status(137))
        } else if !revokes {
          #expect(try app.readLine() == "stopped")
        }
        let said = try holders(world)
        #expect(said.count == before + 1 && said.last?.contains("watches it") == true, "\(said)")
        app.closeInput()
        _ = try app.waitForExit()
      }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-16: a watch in a folder counts, and no watch of anything else does`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/in.txt", "text")
      let folder = "\(world.home)/Papers/Folder"
      let app = try run(world, ["--pick", folder], "watching", "--folder")
      #expect(try app.readLine() == "told True")
      try app.send("\n")
      #expect(try app.readLine() == "stopped")
      let said = try holders(world)
      #expect(said.count == 1 && said[0].hasSuffix("watches it"), "\(said)")
      app.closeInput()
      _ = try app.waitForExit()
      let document = try world.document("letter.txt", "text")
      for (act, picked) in [("folderwatch", folder), ("unwatched", document)] {
        let other = try run(world, try ending(world, true) + ["--pick", picked], act)
        #expect(try other.readLine() == "stopped")
        other.closeInput()
        #expect(try other.waitForExit() == .status(0))
      }
      let all = try holders(world)
      #expect(all.count == 1, "\(all)")
    }
  }

  // MARK: Threads

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-16: a descriptor in a thread's own table is found`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try run(world, ["--pick", try world.document("letter.txt", "text")], "thread")
      #expect(try app.readLine() == "hidden True")
      #expect(try app.readLine() == "stopped")
      let said = try holders(world)
      #expect(said.count == 1 && said[0].contains("can read and write"), "\(said)")
      app.kill()
    }
  }

  // MARK: Another launch

  @Test(arguments: TestUser.inTurn([false, true]))
  func `TOK-16, TOK-20: a descriptor that was passed to another launch is named, and both end where the policy says so`(
    user: TestUser, ends: Bool
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      for dies in [false, true] {
        let before = dies ? 1 : 0
        // It need not have a policy that ends it.
        let keeper = try run(world, [], "keeping")
        #expect(try keeper.readLine() == "listening")
        let sender = try run(world, try ending(world, ends) + ["--pick", document], "passing", dies ? "die" : "live")
        #expect(try sender.readLine() == "passed")
        #expect(try keeper.readLine() == "received")
        let launch = try #require(try world.audit(.launch).dropLast().last?.instance)
        try sender.send("\n")
        if ends {
          #expect(try keeper.waitForExit() == .status(137))
          #expect(keeper.allErrors.contains("after the scope of another launch"), "\(keeper.allErrors)")
          // One that ends by itself may be ended before it is over.
          let exit = try sender.waitForExit()
          #expect(exit == .status(137) || (dies && exit == .status(0)), "\(exit)")
        } else {
          if dies {
            #expect(try sender.waitForExit() == .status(0))
          } else {
            #expect(try sender.readLine() == "stopped")
          }
        }
        try Deadline.wait(for: "the entry") { try holders(world).count == before + 1 }
        let said = try holders(world)
        #expect(said.last?.contains("of launch \(launch) can read and write") == true, "\(said)")
        for app in [sender, keeper] {
          app.closeInput()
          _ = try app.waitForExit()
        }
        // The control.
        if !ends { #expect(keeper.allOutput.contains("text")) }
        try? FileManager.default.removeItem(
          atPath: "\(world.ambitHome)/data/containers/io.ambit.tests.pair/Library/meeting")
      }
    }
  }

  // MARK: The place

  /// The kernel keeps an app from renaming what something is mounted on, in its own mount namespace. Another launch has another one.
  @Test(arguments: TestUser.all)
  func `TOK-16: a document whose place another launch has renamed is taken away, and who has it open is named`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let renamer = try run(world, [], "renaming")
      #expect(try renamer.readLine() == "listening")
      let app = try run(world, ["--pick", try world.document("letter.txt", "text")], "lending")
      #expect(try app.readLine() == "lent")
      #expect(try renamer.readLine() == "renamed")
      try app.send("\n")
      #expect(try app.readLine() == "text False")
      #expect(try app.readLine() == "False")
      let said = try holders(world)
      #expect(said.count == 1 && said[0].contains("can read and write"), "\(said)")
    }
  }
}
