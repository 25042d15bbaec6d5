import Audit
import Foundation
import TestSupport
import Testing

/// `ambit run` behaves as the program that it runs: exit status, pipes, signals; and leaves nothing behind.
@Suite(.serialized, .waitingLong)
struct ProcessTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `the exit status is the app's own, or 128 and the signal's number`(user: TestUser) throws {
    try Workspace.with(user) { world in
      // 125 is the launcher's own as well.
      for status in [0, 42, 125, 255] as [Int32] {
        #expect(try world.ambit("run", "/bin/sh", "-c", "exit \(status)").exit == .status(status))
      }
      for (name, number) in [("TERM", 15), ("KILL", 9)] as [(String, Int32)] {
        #expect(try world.ambit("run", "/bin/sh", "-c", "kill -\(name) $$").exit == .status(128 + number), "\(name)")
      }
      let crash = try world.probe(arguments: ["crash"])
      #expect(try crash.finish() == .status(128 + SIGSEGV))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `pipes go through whole, in both directions, and errors stay apart`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let lines = (1...60_000).map { "line \($0)\n" }.joined()
      let copied = try world.ambit("run", "/bin/cat", input: lines)
      #expect(copied.exit == .status(0))
      #expect(copied.output == lines)
      let apart = try world.ambit("run", "/bin/sh", "-c", "echo out; echo err >&2; echo out")
      #expect(apart.output == "out\nout\n")
      #expect(apart.errors == "err\n")
      // The end of input reaches the app, and a reader that goes away ends the writer as a pipe does.
      #expect(try world.ambit("run", "/usr/bin/wc", "-c").output.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
      let ambit = try Products.path("ambit")
      let early = try world.run(["/bin/bash", "-c", "'\(ambit)' run /usr/bin/yes | head -2; echo ${PIPESTATUS[0]}"])
      #expect(early.output == "y\ny\n141\n", "\(early)")
      let chained = try world.run([
        "/bin/bash", "-c", "'\(ambit)' run /usr/bin/seq 1000 | '\(ambit)' run /usr/bin/tail -1",
      ])
      #expect(chained.output == "1000\n", "\(chained)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `input that is no terminal and no pipe works as with any program`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let file = try world.document("input.txt", "from a file\n")
      let ambit = try Products.path("ambit")
      #expect(try world.run(["/bin/sh", "-c", "'\(ambit)' run /bin/cat <'\(file)'"]).output == "from a file\n")
      #expect(try world.run(["/bin/sh", "-c", "'\(ambit)' run /bin/cat </dev/null"]).output == "")
      let result = "\(world.home)/result.txt"
      _ = try world.run(["/bin/sh", "-c", "'\(ambit)' run /bin/echo hello >'\(result)'"])
      #expect(try world.read(result) == "hello\n")
      // Closed altogether: the app finds something harmless at 0, 1 and 2, and not the first file that it opens.
      let closed = try world.run([
        "/bin/sh", "-c", "'\(ambit)' run /bin/sh -c 'exec 3</etc/passwd; readlink /proc/self/fd/0 >&2' <&-",
      ])
      #expect(closed.errors.contains("null"), "\(closed)")
      #expect(try world.run(["/bin/sh", "-c", "'\(ambit)' run /bin/sh -c 'exit 7' <&- >&- 2>&-"]).exit == .status(7))
    }
  }

  @Test(arguments: TestUser.all)
  func `signals to the launcher reach the app`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let signals = [("HUP", SIGHUP), ("USR1", SIGUSR1), ("USR2", SIGUSR2), ("INT", SIGINT), ("TERM", SIGTERM)]
      let traps = signals.map { "trap 'echo \($0.0)' \($0.0)\n" }.joined()
      // The app goes on after each; the last one ends it.
      let script = "\(traps)trap 'echo TERM; exit 9' TERM; echo ready; while :; do sleep 0.1; done"
      let app = try world.launch(["/bin/bash", "-c", script])
      #expect(try app.process.readLine() == "ready")
      for (name, signal) in signals {
        app.process.signal(signal)
        #expect(try app.process.readLine() == name)
      }
      #expect(try app.process.waitForExit() == .status(9))
    }
  }

  @Test(arguments: TestUser.all)
  func `what an app left running ends with it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let script = "(setsid sleep 1000 &) ; sleep 1000 & (trap '' TERM HUP; sleep 1000) & echo ready; read line; exit 3"
      let app = try world.launch(["/bin/bash", "-c", script])
      #expect(try app.process.readLine() == "ready")
      let family = ProcessTable.tree(below: app.process.pid, except: try world.brokerProcess())
      #expect(family.count >= 6)
      try app.process.send("go\n")
      #expect(try app.process.waitForExit() == .status(3))
      try Deadline.wait(for: "the end of \(ProcessTable.describe(ProcessTable.alive(family)))") {
        ProcessTable.alive(family).isEmpty
      }
    }
  }

  @Test(arguments: TestUser.all)
  func `killed at any moment, launcher and app leave no process, mount or slot behind`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      // Root's broker is where the tests are, and other tests mount things in folders of theirs meanwhile.
      func mounted() -> [String] {
        ProcessTable.mounts(broker).filter { !$0.contains("/ambit-test-") || $0.contains(world.folder) }
      }
      let mounts = mounted()
      let ownMounts = ProcessTable.mounts(getpid())
      // What a broker opens once, for its first document and when it has nothing else to do.
      let first = try world.probe(picks: [document])
      try first.pick()
      #expect(try first.start())
      #expect(try first.finish() == .status(0))
      var descriptors = 0
      try Deadline.wait(for: "the broker to have nothing to do") {
        let before = ProcessTable.descriptors(broker) ?? 0
        usleep(300_000)
        descriptors = ProcessTable.descriptors(broker) ?? 0
        return before == descriptors
      }
      // The moments are spread over the whole of a launch; the same ones every time.
      for round in stride(from: 0, to: 36, by: Rounds.areAll ? 1 : 3) {
        let app = try world.probe(picks: [document], arguments: ["spin"])
        usleep(UInt32(round) * 3_000)
        if round >= 28 { _ = try app.process.readLine() }
        var family = ProcessTable.tree(below: app.process.pid, except: broker)
        if round % 2 == 1, let pid = try world.instances().first?["pid"]?.int {
          family.formUnion(ProcessTable.tree(below: app.process.pid, except: broker))
          kill(Int32(pid), SIGKILL)
          _ = try app.process.waitForExit()
        } else {
          app.process.kill()
        }
        try Deadline.wait(for: "the end, after round \(round), of \(ProcessTable.describe(ProcessTable.alive(family)))")
        { ProcessTable.alive(family).isEmpty }
        try Deadline.wait(for: "the instance of round \(round)") { try world.instances().isEmpty }
      }
      #expect(try world.brokerProcess() == broker)
      #expect(mounted() == mounts)
      #expect(
        ProcessTable.mounts(getpid()).filter { $0.contains(world.folder) }
          == ownMounts.filter { $0.contains(world.folder) })
      // A document may be kept open to be found again; nothing else that grows with the rounds.
      do {
        try Deadline.wait(for: "descriptors to be given back") {
          (ProcessTable.descriptors(broker) ?? 0) <= descriptors + 3
        }
      } catch { throw HarnessError("\(error); of \(descriptors) there are \(ProcessTable.openFiles(broker))") }
      #expect(try world.read(document) == "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      #expect(try app.tell("status")["used"] == 1)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `two apps at once have their own scopes and tokens, and so have two launches of one app`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let one = try world.probe("One", picks: [document])
      let again = try world.probe("One", picks: [document])
      let two = try world.probe("Two", picks: [document])
      let token = try #require(try one.pick().url)
      try two.pick()
      #expect(try one.start())
      #expect(try two.read().errno == refused)
      #expect(try again.tell("status")["used"] == 0)
      // One's token is nothing in two's hands, nor in those of its own other launch.
      for other in [again, two] {
        _ = try other.tell("fromString", ["string": .string(token), "as": "stolen"])
        #expect(try !other.start("stolen"))
      }
      try again.pick()
      #expect(try again.start())
      #expect(try two.start())
      #expect(try one.tell("append", ["of": "a", "text": "!"]).isDone)
      #expect(try two.read().content == "text!")
      try one.stop()
      #expect(try two.read().content == "text!")
      #expect(try one.read().errno == refused)
      one.process.kill()
      #expect(try again.read().content == "text!")
      #expect(try two.read().content == "text!")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `random messages from inside a sandbox leave the broker alive and its memory bounded`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let broker = try #require(try world.brokerProcess())
      // Warm first, so that what is measured is growth.
      _ = try app.tell("fuzz", ["count": 1_000, "seed": 1], patience: .seconds(60))
      let memory = try #require(ProcessTable.residentKibibytes(broker))
      let count = Rounds.few(4_000, of: 20_000)
      let answer = try app.tell(
        "fuzz", ["count": .number(Double(count)), "seed": 20_260], patience: .seconds(120))
      #expect(answer["sent"]?.int == count, "\(answer.text)")
      #expect(try #require(answer["hungUp"]?.int) > count / 20)
      #expect(try #require(answer["answered"]?.int) > count / 2)
      #expect(try world.brokerProcess() == broker)
      #expect(try #require(ProcessTable.residentKibibytes(broker)) < memory + 16_384)
      // The app that did it, and another, are served as before; nothing was granted.
      #expect(try app.read().content == "text")
      #expect(try app.tell("status")["used"] == 1)
      #expect(try world.audit(.grant).count == 1)
      let other = try world.probe("Other", picks: [document])
      try other.pick()
      #expect(try other.start())
    }
  }
}
