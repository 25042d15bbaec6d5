import Foundation
import TestSupport
import Testing

/// A document or a folder that several have at once: two apps, or an app and the host.
@Suite(.serialized, .waiting)
struct SharedContentTests {
  @Test(arguments: TestUser.one(.root))
  func `SBX-14, FSF-9: two apps that have a document started see what the other one writes in place, and maps`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let apps = try ["One", "Two"].map { try world.probe($0, picks: [document]) }
      for app in apps {
        try app.pick()
        #expect(try app.start())
      }
      var content = "text"
      for round in 1...3 {
        for (writer, reader) in [(0, 1), (1, 0)] {
          #expect(try apps[writer].tell("append", ["of": "a", "text": .string("\(writer)")]).isDone)
          content += "\(writer)"
          #expect(try apps[reader].read().content == content, "round \(round)")
          #expect(try world.read(document) == content)
        }
      }
      for app in apps { #expect(try app.tell("map", ["of": "a"]).isDone) }
      for (writer, reader, text) in [(0, 1, "TEXT"), (1, 0, "Text")] {
        #expect(try apps[writer].tell("mapWrite", ["text": .string(text)]).isDone)
        #expect(try apps[reader].tell("mapRead", ["count": 4]).content == text)
        #expect(try apps[reader].read().content?.hasPrefix(text) == true)
        #expect(try world.read(document).hasPrefix(text))
      }
      // The other one's stop is the other one's.
      _ = try apps[0].tell("unmap")
      try apps[0].stop()
      #expect(try apps[0].read().errno == refused)
      #expect(try apps[1].tell("append", ["of": "a", "text": "!"]).isDone)
      #expect(try world.read(document) == "Text\(content.dropFirst(4))!")
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-5: who watches a granted folder is told what the host makes, moves, renames and deletes in it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let folder = "\(world.home)/Papers/Folder"
      try world.makeFolder(folder)
      let other = try world.document("other.txt", "other")
      let app = try world.start(
        saving: [folder], pick: "--folder",
        """
        open; exec 3<&0; exec python3 -I - "$p" <<'END'
        import ctypes, os, select, struct, sys
        libc = ctypes.CDLL(None)
        queue = libc.inotify_init1(0)
        libc.inotify_add_watch(queue, sys.argv[1].encode(), 0x3c0)
        names = {0x40: 'from', 0x80: 'to', 0x100: 'made', 0x200: 'gone'}
        print('ready', flush=True)
        while queue in select.select([queue, 3], [], [])[0]:
            data = os.read(queue, 4096)
            while data:
                _, mask, _, length = struct.unpack_from('IIII', data)
                name = data[16:16 + length].rstrip(bytes(1)).decode()
                print(names[mask & 0x3c0], name, 'folder' if mask & 0x40000000 else 'file', flush=True)
                data = data[16 + length:]
        END
        """)
      #expect(try app.readLine() == "ready")
      func told(_ expected: String...) throws {
        for line in expected { #expect(try app.readLine() == line) }
      }
      try world.write("new", to: "\(folder)/new.txt")
      try told("made new.txt file")
      try world.makeFolder("\(folder)/inner")
      try told("made inner folder")
      try world.rename(other, to: "\(folder)/other.txt")
      try told("to other.txt file")
      try world.rename("\(folder)/other.txt", to: "\(folder)/renamed.txt")
      try told("from other.txt file", "to renamed.txt file")
      try world.rename("\(folder)/renamed.txt", to: other)
      try told("from renamed.txt file")
      try FileManager.default.removeItem(atPath: "\(folder)/new.txt")
      try told("gone new.txt file")
      // The control: what happens beside the folder is not told.
      try world.document("beside.txt", "beside")
      try FileManager.default.removeItem(atPath: "\(folder)/inner")
      try told("gone inner folder")
      #expect(try app.outcome().exit == .status(0))
    }
  }

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

  @Test(arguments: TestUser.one(.root), ["flock", "ofd"])
  func `FSF-6: a lock of the host's on a file in a granted folder holds inside, and one of the app's outside`(
    user: TestUser, kind: String
  ) throws {
    try Workspace.with(user) { world in
      let file = try world.document("Papers/Folder/in.txt", "text")
      let folder = "\(world.home)/Papers/Folder"
      let app = try world.start(
        saving: [folder], pick: "--folder",
        "open; exec 3<&0; exec python3 -I - \"$p/in.txt\" 3 <<'END'\n\(Self.locker)END")
      let host = try world.start(["/usr/bin/python3", "-I", "-c", Self.locker, file, "0"])
      for process in [app, host] { #expect(try process.readLine() == "ready") }
      func ask(_ process: ChildProcess, _ how: String) throws -> String {
        try process.send("\(kind) \(how)\n")
        return try process.readLine()
      }
      for (holder, other) in [(host, app), (app, host)] {
        #expect(try ask(holder, "lock") == "done")
        #expect(try ask(other, "lock") == "EAGAIN")
        #expect(try ask(holder, "unlock") == "done")
        #expect(try ask(other, "lock") == "done")
        #expect(try ask(other, "unlock") == "done")
      }
      #expect(try app.outcome().exit == .status(0))
      #expect(try host.outcome().exit == .status(0))
    }
  }
}
