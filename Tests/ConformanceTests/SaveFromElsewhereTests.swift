import Foundation
import TestSupport
import Testing

/// Documents that are replaced by a file which the app made somewhere else.
@Suite(.waiting) struct SaveFromElsewhereTests {
  private func run(_ world: Workspace, _ documents: [String], options: [String] = [], _ script: String) throws
    -> Outcome
  {
    try world.saving(
      documents, options: options, "open; exec python3 -I - <<'END'\n\(SaveAttackTests.python)\(script)\nEND")
  }

  @Test(arguments: TestUser.all)
  func `FSF-4: a file from the container or from memory is put in the document's place by a mere rename`(
    user: TestUser
  ) throws {
    let commands = [
      "mv ~/own letter.txt", "mv -f /tmp/own letter.txt", "mv -T ~/own \"$PWD/letter.txt\"",
      "python3 -Ic 'import os; os.replace(\"/dev/shm/own\", \"letter.txt\")'",
      "python3 -Ic 'import shutil; shutil.move(\"/home/user/Documents/own\", \"letter.txt\")'",
    ]
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: document)
      let saves = commands.enumerated().map { number, command in
        """
        for place in ~ /tmp /dev/shm ~/Documents; do echo \(number) >$place/own; done
        \(command) && cat letter.txt && ls -A . && ls ~ /tmp /dev/shm ~/Documents | grep -c own
        exec 3<letter.txt; grep -c deleted /proc/self/fdinfo/3; readlink /proc/self/fd/3; stat -c %a letter.txt; exec 3<&-
        """
      }
      let outcome = try world.saving([document], "open\n" + saves.joined(separator: "\n"))
      let lines = outcome.output.split(separator: "\n")
      try #require(lines.count == 6 * commands.count, "\(outcome)")
      for (number, command) in commands.enumerated() {
        let said = Array(lines.dropFirst(6 * number).prefix(6))
        #expect(said.prefix(4) == ["\(number)", "letter.txt", "3", "0"], "\(command): \(outcome)")
        #expect(said[4].hasSuffix("/letter.txt") && said[5] == "640", "\(command): \(outcome)")
      }
      #expect(try world.read(document) == "\(commands.count - 1)\n")
      #expect(try FileManager.default.attributesOfItem(atPath: document)[.posixPermissions] as? Int == 0o640)
      #expect(try world.names() == ["letter.txt"])
      #expect(try world.staged() == [])
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-4: what is no file of the app's own elsewhere is refused with EXDEV, and nothing is lost`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let other = try world.document("other.txt", "other\n")
      let before = try world.inode(document)
      let outcome = try run(
        world, [document, other],
        """
        os.symlink('/etc/passwd', '/home/user/l')
        os.mkfifo('/home/user/f')
        os.mkdir('/home/user/d')
        write('/home/user/own', 'new')
        write('/home/user/hidden', 'new')
        os.chmod('/home/user/hidden', 0)
        os.mkdir('/home/user/closed')
        write('/home/user/closed/own', 'new')
        os.chmod('/home/user/closed', 0o500)
        print('link', rename(0, '/home/user/l', 'letter.txt'), os.readlink('/home/user/l'))
        print('fifo', rename(0, '/home/user/f', 'letter.txt'))
        print('folder', rename(0, '/home/user/d', 'letter.txt'))
        print('nothing', rename(0, '/home/user/n', 'letter.txt') != 'done')
        print('hidden', rename(0, '/home/user/hidden', 'letter.txt'))
        print('closed', rename(0, '/home/user/closed/own', 'letter.txt'))
        print('system', rename(0, '/usr/bin/env', 'letter.txt'))
        print('kept', rename(1, '/home/user/own', 'letter.txt'))
        print('exchanged', rename(2, '/home/user/own', 'letter.txt'), rename(2, 'letter.txt', '/home/user/own'))
        print('away', rename(0, 'letter.txt', '/home/user/own'))
        print(sorted(os.listdir('.')), open('letter.txt').read(), end='')
        print(open('/home/user/own').read())
        """)
      #expect(
        outcome.output == """
          link EXDEV /etc/passwd
          fifo EXDEV
          folder EXDEV
          nothing True
          hidden EXDEV
          closed EXDEV
          system EXDEV
          kept EEXIST
          exchanged EXDEV EXDEV
          away EXDEV
          ['letter.txt'] old
          new

          """, "\(outcome)")
      #expect(try world.read(document) == "old\n")
      #expect(try world.inode(document) == before)
      #expect(try world.names() == ["letter.txt", "other.txt"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-4: one document is not moved over another, and what is for reading alone stays as it is`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let other = try world.document("other.txt", "other\n")
      let outcome = try world.saving(
        [document, other],
        """
        open; a=$p; take; open; b=$p
        mv -n "$a" "$b"; python3 -Ic 'import os, sys; os.rename(*sys.argv[1:])' "$a" "$b" 2>&1 | tail -n 1
        """)
      #expect(outcome.output.contains("Errno 18"), "\(outcome)")
      #expect(try world.read(document) == "old\n")
      #expect(try world.read(other) == "other\n")
      let reading = try world.saving(
        [document], options: ["--policy", "viewer"],
        "echo new >~/own; open; mv ~/own letter.txt; echo $?; cat ~/own letter.txt")
      #expect(reading.output.hasSuffix("1\nnew\nold\n"), "\(reading)")
      #expect(try world.read(document) == "old\n")
    }
  }
}
