import Audit
import Foundation
import TestSupport
import Testing

/// The host's programs save a document that an app has active; and brokers die in the middle.
@Suite(.waiting) struct HostSaveTests {
  /// Answers each line with what stands in the document.
  private static let reader = "open; echo ready; while read -r line; do cat letter.txt; echo end; done"

  private func content(_ app: ChildProcess) throws -> String {
    try app.send("\n")
    return try app.wait(forOutput: "end\n")
  }

  static let saves = [
    "mv": "printf 'new\\n' >.t && mv .t letter.txt", "sed": "sed -i s/old/new/ letter.txt",
    "vim": "\(SaveTests.vim) backupcopy=no' -c s/old/new/ -c wq letter.txt",
    "removed and made anew": "rm letter.txt && printf 'new\\n' >letter.txt",
    "linked and renamed over": "ln letter.txt l && printf 'new\\n' >.t && mv .t letter.txt && rm l",
  ]

  @Test(arguments: TestUser.inTurn(["", "--read-only"]))
  func `FSF-2: the app sees what the host has put in the document's place`(user: TestUser, options: String) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let app = try world.start(saving: [document], pick: options, Self.reader)
      #expect(try app.readLine() == "ready")
      for (name, save) in Self.saves.sorted(by: { $0.key < $1.key }) {
        let before = try world.run(["/bin/sh", "-c", "printf 'old\\n' >Papers/letter.txt"])
        #expect(before.exit == .status(0), "\(before)")
        #expect(try content(app) == "old\n", "\(name)")
        let host = try world.run(["/bin/sh", "-c", "cd Papers; \(save)"])
        #expect(host.exit == .status(0), "\(name): \(host)")
        try Deadline.wait(for: "the new content by \(name)") { try content(app) == "new\n" }
      }
      #expect(try app.outcome().exit == .status(0))
      let events = try world.audit(.replaced)
      #expect(events.count == Self.saves.count)
      for event in events {
        #expect(event.how == "host" && event.detail["matchedBy"] == "path" && event.detail["oldInode"] != nil)
      }
      #expect(try world.names() == ["letter.txt"])
    }
  }

  @Test(arguments: TestUser.inTurn(["", "mv Papers Old; mkdir Papers; mv Old/letter.txt Papers;"]))
  func `FSF-2: so it does when its scope has just ended and begun again, wherever the folder is by now`(
    user: TestUser, meanwhile: String
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "old\n")])
      try app.pick()
      for _ in 0..<3 {
        #expect(try app.start())
        #expect(try app.read().content == "old\n")
        try app.stop()
      }
      let moved = try world.run(["/bin/sh", "-c", "\(meanwhile) :"])
      #expect(moved.exit == .status(0), "\(moved)")
      #expect(try app.start())
      let save = try world.run(["/bin/sh", "-c", "cd Papers; printf 'new\\n' >.t && mv .t letter.txt"])
      #expect(save.exit == .status(0), "\(save)")
      try Deadline.wait(for: "the new content") { try app.read().content == "new\n" }
      try app.stop()
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-2: a folder or a pipe in the document's place is not the document`(user: TestUser) throws {
    try Workspace.with(user) { world in
      for impostor in ["mkdir letter.txt", "mkfifo letter.txt"] {
        let document = try world.document("letter.txt", "old\n")
        let app = try world.start(saving: [document], Self.reader)
        #expect(try app.readLine() == "ready")
        #expect(
          try world.run(["/bin/sh", "-c", "cd Papers; rm letter.txt; \(impostor); sleep 0.2"]).exit == .status(0))
        #expect(try content(app) == "old\n", "\(impostor)")
        _ = try app.outcome()
        _ = try world.run(["/bin/rm", "-r", "Papers/letter.txt"])
      }
      #expect(try world.audit(.replaced).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root), [false, true])
  func `FSF-1: a broker that is killed while an app saves leaves the old or the new document whole, and nothing else`(
    user: TestUser, elsewhere: Bool
  ) throws {
    try Workspace.with(user, ambitIn: elsewhere ? "/dev/shm" : nil) { world in
      let document = try world.document("letter.txt", String(repeating: "start\n", count: 2000))
      let app = try world.start(
        saving: [document],
        """
        echo ready; while true; do
          until ambitctl start "$u" 2>/dev/null && cd "${p%/*}"; do sleep 0.02; done
          python3 -I -c "
        import os, itertools
        for i in itertools.count():
            with open('t', 'w') as f: f.write(f'{os.getpid()}-{i}\\n' * 2000)
            os.rename('t', 'letter.txt')
        " 2>/dev/null; cd /
        done
        """)
      #expect(try app.readLine() == "ready")
      var seen: Set<String> = []
      var killed = 0
      for round in 0..<Rounds.few(5, of: 12) {
        try Deadline.wait(.seconds(20), for: "a save after broker \(round)") {
          guard let first = try? world.read(document).prefix(while: { $0 != "\n" }) else { return false }
          return !seen.contains(String(first)) && first != "start"
        }
        // Somewhere in the middle of the next saves.
        usleep(UInt32.random(in: 0..<20_000))
        guard let broker = try world.brokerProcess() else { continue }
        #expect(kill(broker, SIGKILL) == 0)
        killed += 1
        try Deadline.wait(for: "the end of broker \(broker)") { !ProcessTable.isAlive(broker) }
        let content = try world.read(document)
        let lines = content.split(separator: "\n")
        #expect(lines.count == 2000 && Set(lines).count == 1 && content.last == "\n", "round \(round)")
        seen.insert(lines.first.map(String.init) ?? "")
      }
      #expect(killed > 0)
      app.kill()
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty }
      // Whatever is left of the last one the next broker clears away.
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      try Deadline.wait(for: "staging to be empty") { try world.staged() == [] }
      #expect(try world.names() == ["letter.txt"])
    }
  }
}
