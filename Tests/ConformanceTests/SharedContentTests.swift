import Foundation
import TestSupport
import Testing

/// A folder that an app and the host have at once.
@Suite(.serialized, .waiting)
struct SharedContentTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-6: an app and the host use a database with a write-ahead log in a granted folder at once`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = "\(world.home)/Papers/Folder"
      try world.makeFolder(folder)
      let made = try world.run(
        ["/usr/bin/sqlite3", "-bail", "\(folder)/list.db", "PRAGMA journal_mode=wal; CREATE TABLE t (a)"])
      #expect(made.output == "wal\n", "\(made)")
      let host = try world.start(["/bin/sh", "-c", "exec sqlite3 '\(folder)/list.db' 2>&1"])
      let app = try world.start(
        saving: [folder], pick: "--folder", "open; cd \"$p\"; echo ready; exec sqlite3 list.db 2>&1")
      #expect(try app.readLine() == "ready")
      func ask(_ process: ChildProcess, _ statement: String) throws -> String {
        try process.send("\(statement);\n")
        return try process.readLine()
      }
      for (round, (writer, reader)) in [(host, app), (app, host), (host, app), (app, host)].enumerated() {
        #expect(try ask(writer, "INSERT INTO t VALUES (1); SELECT sum(a) FROM t") == "\(round + 1)")
        #expect(try ask(reader, "SELECT sum(a) FROM t") == "\(round + 1)")
      }
      // Who writes keeps others from writing, and not from reading what was before.
      for (writer, other) in [(host, app), (app, host)] {
        #expect(try ask(writer, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); SELECT sum(a) FROM t") == "5")
        #expect(try ask(other, "SELECT sum(a) FROM t") == "4")
        #expect(try ask(other, "INSERT INTO t VALUES (1)").contains("locked"))
        #expect(try ask(writer, "ROLLBACK; SELECT sum(a) FROM t") == "4")
      }
      #expect(try ask(app, "PRAGMA integrity_check") == "ok")
      #expect(try ask(host, "PRAGMA integrity_check") == "ok")
      // How it ends says that a statement of its was refused, which it was.
      _ = try app.outcome()
      #expect(try ask(host, "INSERT INTO t VALUES (1); SELECT sum(a) FROM t") == "5")
      _ = try host.outcome()
      #expect(try world.names(in: folder) == ["list.db"])
    }
  }

  private static let locker = """
    import errno, fcntl, os, struct, sys
    file = os.open(sys.argv[1], os.O_RDWR)
    print('ready', flush=True)
    for line in open(int(sys.argv[2])):
        kind, how = line.split()
        try:
            if kind == 'flock':
                fcntl.flock(file, {'lock': fcntl.LOCK_EX | fcntl.LOCK_NB, 'unlock': fcntl.LOCK_UN}[how])
            else:
                # F_OFD_SETLK, of the whole file.
                what = {'lock': fcntl.F_WRLCK, 'unlock': fcntl.F_UNLCK}[how]
                fcntl.fcntl(file, 37, struct.pack('hhqqi4x', what, 0, 0, 0, 0))
            print('done', flush=True)
        except OSError as error:
            print(errno.errorcode[error.errno], flush=True)

    """

  @Test(arguments: TestUser.one(.root))
  func `FSF-6: a lock of the host's on a file in a granted folder holds inside, and one of the app's outside`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let file = try world.document("Papers/Folder/in.txt", "text")
      let folder = "\(world.home)/Papers/Folder"
      let app = try world.start(
        saving: [folder], pick: "--folder",
        "open; exec 3<&0; exec python3 -I - \"$p/in.txt\" 3 <<'END'\n\(Self.locker)END")
      let host = try world.start(["/usr/bin/python3", "-I", "-c", Self.locker, file, "0"])
      for process in [app, host] { #expect(try process.readLine() == "ready") }
      for kind in ["flock", "ofd"] {
        func ask(_ process: ChildProcess, _ how: String) throws -> String {
          try process.send("\(kind) \(how)\n")
          return try process.readLine()
        }
        for (holder, other) in [(host, app), (app, host)] {
          #expect(try ask(holder, "lock") == "done", "\(kind)")
          #expect(try ask(other, "lock") == "EAGAIN", "\(kind)")
          #expect(try ask(holder, "unlock") == "done", "\(kind)")
          #expect(try ask(other, "lock") == "done", "\(kind)")
          #expect(try ask(other, "unlock") == "done", "\(kind)")
        }
      }
      #expect(try app.outcome().exit == .status(0))
      #expect(try host.outcome().exit == .status(0))
    }
  }
}
