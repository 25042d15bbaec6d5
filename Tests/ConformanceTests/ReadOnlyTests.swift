import Foundation
import TestSupport
import Testing

/// TOK-14: what was granted to be read, tried with every call that changes something.
@Suite(.serialized, .waiting)
struct ReadOnlyTests {
  private static let prelude = """
    import errno, os, sys
    path = sys.argv[1]
    def tried(name, act):
        try:
            act()
            print(name, 'done')
        except OSError as error:
            print(name, errno.errorcode[error.errno])

    """

  private static let file =
    prelude + """
      tried('utime', lambda: os.utime(path, (1, 1)))
      tried('setxattr', lambda: os.setxattr(path, 'user.ambit', b'1'))
      tried('open', lambda: os.close(os.open(path, os.O_WRONLY)))
      tried('truncate', lambda: os.truncate(path, 0))
      tried('chmod', lambda: os.chmod(path, 0o600))

      """

  private static let folder =
    prelude + """
      os.chdir(path)
      tried('utime', lambda: os.utime('in.txt', (1, 1)))
      tried('setxattr', lambda: os.setxattr('in.txt', 'user.ambit', b'1'))
      tried('create', lambda: os.close(os.open('made.txt', os.O_WRONLY | os.O_CREAT | os.O_EXCL)))
      tried('mkdir', lambda: os.mkdir('made'))
      tried('rmdir', lambda: os.rmdir('empty'))
      tried('symlink', lambda: os.symlink('in.txt', 'symbolic'))
      tried('link', lambda: os.link('in.txt', 'hard'))
      tried('rename', lambda: os.rename('in.txt', 'out.txt'))
      tried('unlink', lambda: os.unlink('other.txt'))
      tried('utime of the folder', lambda: os.utime('.', (1, 1)))
      tried('setxattr of the folder', lambda: os.setxattr('.', 'user.ambit', b'1'))

      """

  /// Everything that could have been changed: names, sizes, times to the nanosecond, modes, attributes.
  private static let look = """
    import os, sys
    for folder, folders, files in os.walk(sys.argv[1]):
        folders.sort()
        for name in ['.'] + sorted(files):
            path = os.path.join(folder, name)
            found = os.lstat(path)
            print(path, found.st_size, found.st_mtime_ns, oct(found.st_mode), found.st_nlink, os.listxattr(path, follow_symlinks=False))
    """

  @Test(arguments: TestUser.all, ["file", "folder"])
  func `TOK-14: no call changes what is granted for reading alone, nor its times or attributes`(
    user: TestUser, kind: String
  ) throws {
    try Workspace.with(user) { world in
      let file = try world.document("Papers/Folder/in.txt", "text")
      try world.document("Papers/Folder/other.txt", "other")
      try world.makeFolder("\(world.home)/Papers/Folder/empty")
      let document = kind == "file" ? file : "\(world.home)/Papers/Folder"
      let script = kind == "file" ? Self.file : Self.folder
      func python(_ script: String, _ argument: String) throws -> String {
        let outcome = try world.run(["/usr/bin/python3", "-I", "-c", script, argument])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return outcome.output
      }
      func results(_ more: String) throws -> [String: String] {
        let outcome = try world.saving(
          [document], pick: "\(kind == "folder" ? "--folder" : "") \(more)",
          "open; exec python3 -I - \"$p\" <<'END'\n\(script)END")
        #expect(outcome.exit == .status(0), "\(outcome)")
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(
          uniqueKeysWithValues: lines.map { ($0.dropLast().joined(separator: " "), "\($0.last ?? "")") })
      }
      let before = try python(Self.look, "\(world.home)/Papers")
      let refused = try results("--read-only")
      #expect(refused.count == (kind == "file" ? 5 : 11), "\(refused)")
      #expect(refused.filter { $0.value != "EROFS" } == [:])
      #expect(try python(Self.look, "\(world.home)/Papers") == before)
      // The control: whoever may write does all of it.
      let done = try results("")
      #expect(done.keys.sorted() == refused.keys.sorted())
      #expect(done.filter { $0.value != "done" } == [:])
      #expect(try python(Self.look, "\(world.home)/Papers") != before)
    }
  }
}
