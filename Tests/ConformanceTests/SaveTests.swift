import Audit
import Foundation
import TestSupport
import Testing

/// Group L of the catalogue: programs that know nothing of Ambit save a document that they were given alone.
@Suite(.waiting) struct SaveTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    /// Turns “old” in `$1`, a file in the current folder, into “new”.
    let command: String
    /// Whether it writes into the file that is there.
    var inPlace = false
    /// What it leaves beside it, outside as well.
    var leaves: [String] = []

    var testDescription: String { name }
  }

  static let vim = "vim -N -u NONE -i NONE -es -c 'set backupskip= writebackup"
  static let programs = [
    Program(name: "sed -i", command: "sed -i s/old/new/ $1"),
    Program(name: "sed -i with a backup", command: "sed -i.bak s/old/new/ $1", leaves: ["letter.txt.bak"]),
    Program(name: "perl -i", command: "perl -pi -e s/old/new/ $1"),
    Program(name: "perl -i with a backup", command: "perl -pi.bak -e s/old/new/ $1", leaves: ["letter.txt.bak"]),
    Program(name: "vim, backupcopy=auto", command: "\(vim) backupcopy=auto' -c s/old/new/ -c wq $1", inPlace: true),
    Program(name: "vim, backupcopy=no", command: "\(vim) backupcopy=no' -c s/old/new/ -c wq $1", inPlace: true),
    Program(
      name: "vim with a backup that stays", command: "\(vim) backup backupcopy=no' -c s/old/new/ -c wq $1",
      inPlace: true,
      leaves: ["letter.txt~"]),
    Program(name: "mv of a new file", command: "printf 'new\\n' >.t && mv .t $1"),
    Program(name: "mv with a backup", command: "printf 'new\\n' >.t && mv -b .t $1", leaves: ["letter.txt~"]),
    Program(name: "sort -o", command: "printf 'new\\n' | sort -o $1", inPlace: true),
    Program(name: "ed", command: "printf 's/old/new/\\nw\\nq\\n' | ed -s $1", inPlace: true),
    Program(name: "rename by an absolute path", command: #"printf 'new\n' >t && cd / && mv "$OLDPWD/t" "$OLDPWD/$1""#),
    Program(
      name: "renameat by descriptors",
      command: """
        python3 -I -c "
        import os
        open('t', 'w').write('new\\n')
        d = os.open('.', os.O_RDONLY)
        os.chdir('/')
        os.rename('t', '$1', src_dir_fd=d, dst_dir_fd=d)"
        """),
  ]

  @Test(arguments: TestUser.inTurn(programs))
  func `FSF-1 and FSF-3: a program saves a single document as it does outside, and leaves nothing beside it`(
    user: TestUser, program: Program
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let control = try world.document("Control/letter.txt", "old\n")
      let outside = try world.run(["/bin/sh", "-c", "cd \(world.home)/Control; set letter.txt; \(program.command)"])
      #expect(outside.exit == .status(0), "\(outside)")
      #expect(try world.read(control) == "new\n")
      #expect(try world.names(in: "Control") == (["letter.txt"] + program.leaves).sorted())

      let before = try world.inode(document)
      let inside = try world.saving(
        [document],
        """
        open
        sh -c 'set letter.txt; \(program.command.replacingOccurrences(of: "'", with: #"'\''"#))' || say "status $?"
        say again; cat letter.txt; ls -A
        grep -c deleted /proc/self/mountinfo
        ambitctl stop "$u"; cat "$p" 2>/dev/null && exit 93
        ambitctl start "$u"; cat "$p"; ls -A "${p%/*}"
        """)
      #expect(inside.exit == .status(0), "\(inside)")
      let names = (["letter.txt"] + program.leaves).sorted().joined(separator: "\n")
      #expect(inside.output == outside.output + "again\nnew\n\(names)\n0\nnew\nletter.txt\n", "\(inside)")
      #expect(try world.read(document) == "new\n")
      #expect(try world.names() == ["letter.txt"])
      #expect(try world.staged() == [])
      #expect(try (world.inode(document) == before) == program.inPlace)
      #expect(try world.audit(.replaced).count == (program.inPlace ? 0 : 1))
    }
  }
}
