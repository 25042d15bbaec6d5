import Audit
import Foundation
import TestSupport
import Testing

/// SQLite on a database that was granted alone.
@Suite(.waiting) struct DatabaseTests {
  private func database(_ world: Workspace, mode: String) throws -> String {
    let path = "\(world.home)/Papers/list.db"
    #expect(
      try sql(world, "PRAGMA journal_mode=\(mode); CREATE TABLE t (a); INSERT INTO t VALUES (1)").exit == .status(0))
    return path
  }

  private func sql(_ world: Workspace, _ statement: String) throws -> Outcome {
    try world.run(["/usr/bin/sqlite3", "-bail", "Papers/list.db", statement])
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-6: a lock of the host's holds inside, and one of the app's outside`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let path = try database(world, mode: "delete")
      let app = try world.start(
        saving: [path],
        """
        open; echo ready; read -r line; sqlite3 list.db 'INSERT INTO t VALUES (2)' 2>&1 | grep -o locked; echo end
        read -r line; coproc sqlite3 list.db; echo 'BEGIN EXCLUSIVE; SELECT 9;' >&${COPROC[1]}; read -r nine <&${COPROC[0]}; echo end
        read -r line
        """)
      #expect(try app.readLine() == "ready")
      let host = try world.start(["/usr/bin/sqlite3", path])
      try host.send("BEGIN EXCLUSIVE; SELECT 9;\n")
      #expect(try host.readLine() == "9")
      try app.send("\n")
      #expect(try app.wait(forOutput: "end\n") == "locked\n")
      #expect(try host.outcome().exit == .status(0))
      try app.send("\n")
      try app.wait(forOutput: "end\n")
      #expect(try sql(world, "INSERT INTO t VALUES (2)").errors.contains("locked"))
      _ = try app.outcome()
    }
  }

  @Test(arguments: TestUser.one(.root), ["delete", "wal", "delete, and the broker", "wal, and the broker"])
  func `FSF-6: what a killed app has committed is in the database, and what it has not is not`(
    user: TestUser, killed: String
  ) throws {
    let mode = killed.hasPrefix("wal") ? "wal" : "delete"
    let broker = killed.hasSuffix("broker")
    try Workspace.with(user) { world in
      let path = try database(world, mode: mode)
      let app = try world.start(
        saving: [path],
        """
        open; coproc sqlite3 list.db
        echo 'PRAGMA cache_size=2; PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES (2); BEGIN;
        INSERT INTO t SELECT 100 FROM generate_series(1, 20000); SELECT 9;' >&${COPROC[1]}
        while read -r nine <&${COPROC[0]} && [ "$nine" != 9 ]; do :; done
        ls -A; echo end; read -r line
        """)
      let names = try app.wait(forOutput: "end\n")
      #expect(names.contains("list.db-\(mode == "wal" ? "wal" : "journal")\n"), "\(names)")
      if broker, let process = try world.brokerProcess() {
        // Both at once: nobody is left but the next one.
        app.signal(SIGSTOP)
        #expect(kill(process, SIGKILL) == 0)
      }
      app.kill()
      if broker { #expect(try world.ambit("run", "/bin/true").exit == .status(0)) }
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty && world.staged() == [] }
      #expect(try sql(world, "SELECT sum(a) FROM t; PRAGMA integrity_check").output == "3\nok\n")
      #expect(try world.audit(.replaced).map(\.rule) == ["FSF-6"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-6: what an app still has open of a journal that it left is not the one on the host`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let path = try database(world, mode: "delete")
      let script = "open; exec 5>list.db-journal; echo before >&5; ambitctl stop \"$u\"; echo after >&5 && echo end"
      #expect(try world.saving([path], script).output == "end\n")
      #expect(try world.read("\(path)-journal") == "before\n")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-6: while an app has a database in write-ahead mode the host cannot open it, and no commit is lost`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let path = try database(world, mode: "wal")
      let app = try world.start(
        saving: [path],
        """
        open; coproc sqlite3 list.db; echo 'INSERT INTO t VALUES (2); SELECT 9;' >&${COPROC[1]}; read -r nine <&${COPROC[0]}
        echo ready; read -r line; echo 'INSERT INTO t VALUES (4); SELECT 9;' >&${COPROC[1]}; read -r nine <&${COPROC[0]}
        echo end; read -r line
        """)
      #expect(try app.readLine() == "ready")
      let link = try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)-shm")
      #expect(link.hasPrefix("held-by-ambit/"), "\(link)")
      for statement in ["INSERT INTO t VALUES (100)", "SELECT sum(a) FROM t"] {
        let host = try sql(world, statement)
        #expect(host.exit != .status(0) && host.errors.contains("unable to open"), "\(host)")
      }
      try Deadline.wait(for: "the log to say so") {
        try world.audit(.refuse).contains { $0.rule == "FSF-6" && $0.how == "host" }
      }
      try app.send("\n")
      #expect(try app.readLine() == "end")
      app.kill()
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty && world.staged() == [] }
      #expect(try sql(world, "SELECT sum(a) FROM t; PRAGMA integrity_check").output == "7\nok\n")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-6: a host program that has a database open in write-ahead mode keeps it, and two apps share none`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let path = try database(world, mode: "wal")
      let script = "ambitctl start \"$u\" 2>/dev/null || echo refused"
      // One that has written keeps its log there, and one that has only read the database.
      for (statement, answer, named) in [
        ("INSERT INTO t VALUES (2); SELECT 9", "9", "list.db-wal"), ("SELECT sum(a) FROM t", "3", "list.db"),
      ] {
        let host = try world.start(["/usr/bin/sqlite3", path])
        try host.send("\(statement);\n")
        #expect(try host.readLine() == answer)
        #expect(try world.saving([path], script).output == "refused\n")
        let reason = try world.audit(.start).last?.reason
        #expect(reason?.contains(named) == true, "\(statement): \(reason ?? "-")")
        #expect(try host.outcome().exit == .status(0))
      }
      let app = try world.start(saving: [path], "open; echo ready; read -r line")
      #expect(try app.readLine() == "ready")
      #expect(try world.saving([path], script).output == "refused\n")
      app.kill()
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty }
      #expect(try world.saving([path], script).output == "")
    }
  }
}
