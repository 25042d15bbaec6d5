import Foundation
import TestSupport
import Testing

/// What a save keeps, what is seen of it, and by whom.
@Suite(.waiting) struct SaveRuleTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-1: while a save is being copied, other apps and other documents do not wait for it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let other = try world.document("other.txt", "other\n")
      let held = "\(world.home)/held"
      try world.write("", to: held)
      // Under “strict” every save is a copy.
      let saving = try world.start(
        saving: [document, other], options: ["--policy", "strict"],
        environment: ["AMBIT_FAULT": "hold contentDue \(held)"],
        """
        open; cd /; (cd "${p%/*}"; echo first >t; mv t letter.txt; echo "first $?") & (
          cd "${p%/*}"; sleep 0.05; echo second >s; mv s letter.txt; echo "second $?") &
        take; ambitctl start "$u" && cat "$p" && ambitctl stop "$u" && echo others
        wait
        cat /documents/*/letter.txt
        """)
      try Deadline.wait(for: "the app to go on with another document") { saving.allOutput.contains("others\n") }
      let beside = try world.saving([other], as: "Beside", "open; cat other.txt")
      #expect(beside.output == "other\n", "\(beside)")
      #expect(try world.read(document) == "old\n")
      #expect(!saving.allOutput.contains("first"))
      try FileManager.default.removeItem(atPath: held)
      let outcome = try saving.outcome()
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.output.contains("first 0\n") && outcome.output.contains("second 0\n"), "\(outcome)")
      #expect(try ["first\n", "second\n"].contains(world.read(document)))
      #expect(try world.names() == ["letter.txt", "other.txt"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: a document that is taken away while a save is being copied stays as it was`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let held = "\(world.home)/held"
      try world.write("", to: held)
      let saving = try world.start(
        saving: [document], options: ["--policy", "strict"],
        environment: ["AMBIT_FAULT": "hold contentDue \(held)"],
        "open; echo new >t; echo ready; mv t letter.txt; echo \"moved $?\"")
      try Deadline.wait(for: "the app to save") { saving.allOutput.contains("ready\n") }
      let grant = try #require(try world.grants().first?["grant"]?.string)
      #expect(try world.ambit("revoke", grant).exit == .status(0))
      try FileManager.default.removeItem(atPath: held)
      let outcome = try saving.outcome()
      #expect(!outcome.output.contains("moved 0"), "\(outcome)")
      #expect(try world.read(document) == "old\n")
      #expect(try world.names() == ["letter.txt"])
      try Deadline.wait(for: "nothing to be left beside it") { try world.staged().isEmpty }
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-1: a saved document keeps owner, group, mode, access list and attributes`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let list = "system.posix_acl_access"
      let prepare = """
        import os, struct
        \(user == .root ? "os.chown('\(document)', 61234, 61235)" : "")
        os.chmod('\(document)', 0o4640)
        os.setxattr('\(document)', 'user.note', b'mine')
        entries = [(1, 6, -1), (2, 4, 61236), (4, 0, -1), (0x10, 6, -1), (0x20, 0, -1)]
        os.setxattr('\(document)', '\(list)', b'\\2\\0\\0\\0' + b''.join(struct.pack('<HHi', *e) for e in entries))
        """
      let look = """
        import os
        s = os.stat('\(document)')
        print(s.st_uid, s.st_gid, oct(s.st_mode & 0o1777))
        print(sorted((n, os.getxattr('\(document)', n)) for n in os.listxattr('\(document)')))
        """
      func python(_ script: String) throws -> Outcome { try world.run(["/usr/bin/python3", "-I", "-c", script]) }
      let prepared = try python(prepare)
      #expect(prepared.exit == .status(0), "\(prepared)")
      let before = try python(look).output
      #expect(before.contains(" 0o660\n") && before.contains(list))
      let outcome = try world.saving(
        [document], "open; printf 'new\\n' >t; chmod 6777 t; mv t letter.txt; stat -c %a letter.txt")
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(try world.read(document) == "new\n")
      let after = try python(look).output
      // A broker that is only its user cannot name another user in a list, and gives the group nothing rather than too much.
      let without = before.replacingOccurrences(of: "0o660", with: "0o600")
      #expect(after == before || (user == .ordinary && after.hasPrefix(without.prefix { $0 != "\n" })), "\(after)")
      #expect(after.contains("('user.note', b'mine')"))
      // The content is another: whoever runs it becomes nobody else by it.
      #expect(try python("import os; print(oct(os.stat('\(document)').st_mode & 0o6000))").output == "0o0\n")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-1: on another file system a save works as well, and leaves nothing there`(user: TestUser) throws {
    try Workspace.with(user, ambitIn: "/dev/shm") { world in
      let document = try world.document("letter.txt", "old\n")
      #expect(unsafe chmod(document, 0o640) == 0)
      let outcome = try world.saving(
        [document], "open; for i in 1 2 3; do printf $i >t; mv t letter.txt; cat letter.txt; done; ls -A")
      #expect(outcome.output == "123letter.txt\n", "\(outcome)")
      #expect(try world.read(document) == "3")
      #expect(try FileManager.default.attributesOfItem(atPath: document)[.posixPermissions] as? Int == 0o640)
      #expect(try world.names() == ["letter.txt"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-10, FSF-12: unnamed files and attributes work beside and on the document, and an open one has its name`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let outcome = try world.saving(
        [document],
        """
        open
        python3 -I - <<'END'
        import os
        f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
        os.write(f, b'new\\n')
        os.link(f'/proc/self/fd/{f}', 't', src_dir_fd=0, follow_symlinks=True)
        os.setxattr('letter.txt', 'user.seen', b'yes')
        d = os.open('letter.txt', os.O_RDONLY)
        print(os.readlink(f'/proc/self/fd/{d}') == os.path.join(os.getcwd(), 'letter.txt'))
        os.rename('t', 'letter.txt')
        print(os.getxattr('letter.txt', 'user.seen').decode())
        d = os.open('letter.txt', os.O_RDONLY)
        print(os.readlink(f'/proc/self/fd/{d}') == os.path.join(os.getcwd(), 'letter.txt'))
        END
        """)
      #expect(outcome.output == "True\nyes\nTrue\n", "\(outcome)")
      #expect(try world.read(document) == "new\n")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-4: Foundation writes a document atomically, and replaceDocument takes what lies in the container`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old")
      let before = try world.inode(document)
      let app = try world.probe(picks: [document])
      try app.pick()
      let own: JSON = "/home/user/Documents/own.txt"
      #expect(try app.tell("create", ["path": own, "text": "newer"]).isDone)
      // Not started, it is refused, and the other file is where it was.
      #expect(try !app.tell("replace", ["of": "a", "with": own]).isDone)
      #expect(try app.tell("read", ["path": own]).content == "newer")
      #expect(try app.start())
      #expect(try app.tell("foundationWrite", ["of": "a", "text": "new"]).isDone)
      #expect(try app.read().content == "new")
      #expect(try world.read(document) == "new")
      #expect(try world.inode(document) != before)
      #expect(try app.tell("replace", ["of": "a", "with": own]).isDone)
      #expect(try app.read().content == "newer")
      #expect(try world.read(document) == "newer")
      #expect(try app.tell("read", ["path": own]).errno == "ENOENT")
      #expect(try world.names() == ["letter.txt"])
      #expect(try app.finish() == .status(0))
    }
  }
}
