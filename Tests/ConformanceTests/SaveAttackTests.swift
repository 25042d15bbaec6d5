import Audit
import Foundation
import TestSupport
import Testing

/// What a hostile app can make of saving.
@Suite(.waiting) struct SaveAttackTests {
  /// `rename(flags, a, b)` and `link(a, b)`, which answer an errno's name.
  static let python = """
    import ctypes, errno, os, stat, threading
    libc = ctypes.CDLL(None, use_errno=True)
    def rename(flags, a, b):
        failed = libc.renameat2(-100, a.encode(), -100, b.encode(), flags)
        return errno.errorcode[ctypes.get_errno()] if failed else 'done'
    def attempt(act, *arguments, **more):
        try:
            act(*arguments, **more)
            return 'done'
        except OSError as error:
            return errno.errorcode[error.errno]
    def write(path, text):
        # A pipe has no reader here, and is not waited for.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o600)
        os.write(file, text.encode())
        os.close(file)

    """

  private func run(_ world: Workspace, _ document: String, _ script: String, patience: Duration = .seconds(30)) throws
    -> Outcome
  {
    try world.start(saving: [document], "open; export u; exec python3 -I - <<'END'\n\(Self.python)\(script)\nEND")
      .outcome(patience: patience)
  }

  @Test(arguments: TestUser.all)
  func `FSF-1: nothing but a file of the app's own comes into a document's place, and the document goes nowhere`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let before = try world.inode(document)
      let outcome = try run(
        world, document,
        """
        os.symlink('/etc/passwd', 'l')
        os.mkfifo('f')
        os.mkdir('d')
        print('link', rename(0, 'l', 'letter.txt'), os.readlink('l'))
        print('fifo', rename(0, 'f', 'letter.txt'), stat.S_ISFIFO(os.stat('f').st_mode))
        print('folder', rename(0, 'd', 'letter.txt'), os.path.isdir('d'))
        print('nothing', rename(0, 'n', 'letter.txt'))
        write('t', 'new')
        print('kept', rename(1, 't', 'letter.txt'))
        print('exchanged', rename(2, 't', 'letter.txt'), rename(2, 'letter.txt', 't'))
        print('whiteout', rename(4, 't', 'letter.txt') != 'done')
        print('linked', attempt(os.link, 'letter.txt', 'x'), attempt(os.link, 'letter.txt', '/home/user/x'))
        print('removed', attempt(os.unlink, 'letter.txt'), attempt(os.rmdir, '../' + os.path.basename(os.getcwd())))
        print('taken along', rename(0, 'letter.txt', '/home/user/x'), rename(0, '.', '/home/user/y') != 'done')
        print('itself', rename(0, 'letter.txt', 'letter.txt'))
        print('onto a folder', rename(0, 'letter.txt', 'd'), sorted(os.listdir('.')))
        print(open('letter.txt').read())
        """)
      #expect(
        outcome.output == """
          link EPERM /etc/passwd
          fifo EPERM True
          folder EPERM True
          nothing ENOENT
          kept EEXIST
          exchanged EINVAL EINVAL
          whiteout True
          linked EXDEV EXDEV
          removed EBUSY EROFS
          taken along EXDEV True
          itself done
          onto a folder EISDIR ['d', 'f', 'l', 'letter.txt', 't']
          old


          """, "\(outcome)")
      #expect(try world.read(document) == "old\n")
      #expect(try world.inode(document) == before)
      #expect(try world.names() == ["letter.txt"])
      #expect(try world.staged() == [])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: a file that has another name besides is copied, and the other name is not the document's`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let outcome = try run(
        world, document,
        """
        write('t', 'new')
        os.link('t', 'other')
        print(rename(0, 't', 'letter.txt'), os.stat('letter.txt').st_nlink)
        write('other', 'later')
        print(open('letter.txt').read(), sorted(os.listdir('.')))
        """)
      #expect(outcome.output == "done 1\nnew ['letter.txt', 'other']\n", "\(outcome)")
      #expect(try world.read(document) == "new")
      #expect(try world.names() == ["letter.txt"])
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: no name that an app gives a file of its own leads to the document that was saved from it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let outcome = try run(
        world, document,
        """
        import subprocess
        write('t', 'new')
        # A file with two names, and one that is given another name while it is saved and after that, by its descriptor.
        os.link('t', 'u')
        file, folder = os.open('t', os.O_RDWR), os.open('.', os.O_RDONLY)
        def name(name):
            libc.linkat(-100, b'/proc/self/fd/%d' % file, folder, name, 0x400)
            libc.linkat(file, b'', folder, name + b'-empty', 0x1000)
        def naming():
            for i in range(300): name(b'w%d' % i)
        thread = threading.Thread(target=naming)
        thread.start()
        print(rename(0, 't', 'letter.txt'), open('letter.txt').read())
        thread.join()
        name(b'x')
        same = os.stat('letter.txt').st_ino
        print([n for n in os.listdir(folder) if n != 'letter.txt' and os.stat(n).st_ino == same])
        print('named', len(os.listdir(folder)) > 100)
        subprocess.run(['ambitctl', 'stop', os.environ['u']], check=True)
        name(b'y')
        for n in os.listdir(folder):
            try:
                os.write(os.open(n, os.O_WRONLY | os.O_TRUNC, dir_fd=folder), b'late')
            except OSError:
                pass
        print('end')
        """)
      #expect(outcome.output == "done new\n[]\nnamed True\nend\n", "\(outcome)")
      #expect(try world.read(document) == "new")
      #expect(try world.names() == ["letter.txt"])
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-1: whatever an app swaps while it saves, the document's place has only files of its own`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "own")
      let secret = try world.document("Secret/secret.txt", "secret")
      let outcome = try run(
        world, document,
        """
        import time
        ends = time.monotonic() + \(Rounds.few(1, of: 4))
        def swap():
            while time.monotonic() < ends:
                for act in (lambda: os.symlink('\(secret)', 'x'), lambda: os.mkfifo('x'), lambda: os.mkdir('x'),
                            lambda: os.symlink('../../../../../../..\(secret)', 'x'), lambda: write('x', 'own')):
                    try:
                        act()
                        os.rename('x', 't')
                    except OSError:
                        for remove in (os.unlink, os.rmdir):
                            for name in ('x', 't'):
                                try: remove(name)
                                except OSError: pass
        thread = threading.Thread(target=swap)
        thread.start()
        answers = {}
        while time.monotonic() < ends:
            try: write('t', 'own')
            except OSError: pass
            answer = rename(0, 't', 'letter.txt')
            answers[answer] = answers.get(answer, 0) + 1
            kind = os.lstat('letter.txt').st_mode
            if not stat.S_ISREG(kind): print('a file of kind', oct(kind))
        thread.join()
        print(answers.get('done', 0) > 0 and answers.get('EPERM', 0) > 0 or answers)
        """, patience: .seconds(60))
      #expect(outcome.output == "True\n", "\(outcome)")
      #expect(["own", ""].contains(try world.read(document)))
      #expect(try FileManager.default.attributesOfItem(atPath: document)[.type] as? FileAttributeType == .typeRegular)
      #expect(try world.read(secret) == "secret")
      #expect(try world.names() == ["letter.txt"])
      #expect(try world.staged() == [])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `B21: what an app keeps beside its documents counts as its container does`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "old\n")
      let app = try world.start(
        saving: [document], options: ["--limit", "container=16MiB"],
        "open; head -c 67108864 /dev/zero >t; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done; echo went on")
      let outcome = try app.outcome()
      #expect(!outcome.output.contains("went on"), "\(outcome)")
      #expect(outcome.errors.contains("container"), "\(outcome)")
      #expect(try world.read(document) == "old\n")
      #expect(try world.staged() == [])
    }
  }
}
