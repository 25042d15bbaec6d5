import Audit
import Foundation
import Kernel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Packages that are saved whole: a new folder beside the old one, and the two change places.
@Suite(.serialized, .waiting)
struct PackageSaveTests {
  /// `show(folder)`: what is in it, with what each file says; and `new(folder, text)`: a package that says something.
  private static let python =
    SaveAttackTests.python + """
      import sys, shutil
      def show(folder):
          found = []
          for path, folders, files in os.walk(folder):
              for name in folders + files:
                  place = os.path.join(path, name)
                  text = os.readlink(place) if os.path.islink(place) else open(place).read() if name in files else '/'
                  found.append(os.path.relpath(place, folder) + '=' + text)
          return ' '.join(sorted(found))
      def new(folder, text):
          os.makedirs(folder + '/images')
          write(folder + '/TXT.rtf', text)
          write(folder + '/images/b.png', 'b')
          os.symlink('TXT.rtf', folder + '/link')

      """

  private func package(_ world: Workspace) throws -> String {
    try world.document("Papers/Letter.rtfd/TXT.rtf", "old")
    try world.document("Papers/Letter.rtfd/images/a.png", "a")
    return "\(world.home)/Papers/Letter.rtfd"
  }

  private func start(
    _ world: Workspace, _ package: String, options: [String] = [], pick: String = "",
    environment: [String: String] = [:], _ script: String
  ) throws -> ChildProcess {
    try world.start(
      saving: [package], options: options, pick: pick, environment: environment,
      "open; exec python3 -I - <<'END'\n\(Self.python)\(script)\nEND")
  }

  /// What is in a package on the host.
  private func show(_ world: Workspace, _ package: String) throws -> String {
    try world.run(["/usr/bin/python3", "-I", "-c", "\(Self.python)\nprint(show('\(package)'))"]).output
  }

  private static let saved = "TXT.rtf=new images/b.png=b images=/ link=TXT.rtf\n"
  private static let old = "TXT.rtf=old images/a.png=a images=/\n"

  @Test(arguments: TestUser.inTurn(["default", "strict"]))
  func `FSF-1: a package and a folder that was made beside it change places, here and on the host`(
    user: TestUser, policy: String
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      #expect(unsafe chmod("\(package)/TXT.rtf", 0o640) == 0 && chmod(package, 0o750) == 0)
      if user == .root {
        for path in ["", "/TXT.rtf"] { #expect(unsafe chown("\(package)\(path)", 61235, 61236) == 0) }
      }
      let reader = try world.probe("Reader", picks: [package])
      try reader.pick()
      #expect(try reader.start())
      let outcome = try start(
        world, package, options: ["--policy", policy],
        """
        new('new', 'new')
        # With a set-id bit the filter refuses it; the bit would be the host's.
        try: os.chmod('new/images/b.png', 0o6755)
        except PermissionError: os.chmod('new/images/b.png', 0o755)
        print(rename(2, 'new', 'Letter.rtfd'))
        print(show('Letter.rtfd'))
        print(show('new'))
        write('Letter.rtfd/more', 'more')
        os.remove('Letter.rtfd/more')
        shutil.rmtree('new')
        # The other way round, as some say it.
        new('again', 'new')
        print(rename(2, 'Letter.rtfd', 'again'), show('Letter.rtfd') == show('again'), os.listdir('.'))
        """
      ).outcome()
      #expect(
        outcome.output == "done\n\(Self.saved)\(Self.old)done True ['Letter.rtfd', 'again']\n"
          || outcome.output == "done\n\(Self.saved)\(Self.old)done True ['again', 'Letter.rtfd']\n", "\(outcome)")
      #expect(try show(world, package) == Self.saved)
      #expect(try world.names() == ["Letter.rtfd"])
      // What was there keeps what it had, what is new belongs to whom the package belongs to, and nobody becomes another by it.
      let look = "import os\nfor p in ('', '/TXT.rtf', '/images/b.png', '/link'):\n  s = os.lstat('\(package)' + p)\n"
      let modes = try world.run(
        ["/usr/bin/python3", "-I", "-c", look + "  print(s.st_uid, s.st_gid, oct(s.st_mode & 0o7777))"]
      ).output.split(separator: "\n")
      let owner = user == .root ? "61235 61236" : "\(user.id) \(user.id)"
      #expect(modes.prefix(2) == ["\(owner) 0o750", "\(owner) 0o640"], "\(modes)")
      #expect(modes.dropFirst(2) == ["\(owner) 0o755", "\(owner) 0o777"], "\(modes)")
      // Every grant of it is one of the new one, and whoever has it open by its name sees that.
      #expect(try world.grants().count == 2)
      #expect(try reader.tell("list", ["of": "a"])["names"]?.strings == ["TXT.rtf", "images", "link"])
      try reader.stop()
      #expect(try reader.start())
      _ = try reader.tell("child", ["of": "a", "name": "TXT.rtf", "as": "text"])
      #expect(try reader.read("text").content == "new")
      #expect(try world.audit(.replaced).map(\.how) == ["app", "app"])
      try Deadline.wait(for: "nothing to be left") { try world.staged().allSatisfy { !$0.contains("package-") } }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-4: replaceDocument puts a folder from the container in a package's place, and what stands for it follows`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let app = try world.probe(picks: [package])
      let path = try #require(try app.pick()["path"]?.string)
      func make(_ folder: String, _ text: String) throws -> JSON {
        #expect(try app.tell("makeFolder", ["path": .string(folder)]).isDone)
        #expect(try app.tell("create", ["path": .string("\(folder)/TXT.rtf"), "text": .string(text)]).isDone)
        return .string(folder)
      }
      let own = try make("/home/user/Documents/own", "new")
      // Not started, it is refused, and the other folder is where it was.
      #expect(try app.tell("replace", ["of": "a", "with": own])["posix"] == "EACCES")
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.tell("replace", ["of": "a", "with": own]).isDone)
      #expect(try show(world, package) == "TXT.rtf=new\n")
      #expect(try app.tell("list", ["path": "/home/user/Documents"])["names"]?.strings == ["Letter.rtfd.ambitref"])
      let beside = try make("\(path).new", "newer")
      #expect(try app.tell("replace", ["of": "a", "with": beside]).isDone)
      #expect(try show(world, package) == "TXT.rtf=newer\n")
      // Foundation's own renames the old one onto the new one where it was built without renameat2(2), which is refused everywhere.
      let other = try make("\(path).sb-1", "newer")
      let foundation = try app.tell("foundationReplace", ["of": "a", "with": other])
      #expect(foundation.isDone || foundation["posix"] == "ENOTEMPTY", "\(foundation.text)")
      #expect(try show(world, package) == "TXT.rtf=newer\n")
      #expect(try world.names() == ["Letter.rtfd"])
      #expect(try app.finish() == .status(0))
      // The grant, its reference and its bookmarks follow.
      let next = try world.probe()
      let resolved = try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])
      #expect(resolved["matchedBy"] == "path" && resolved["stale"] == true, "\(resolved.text)")
      #expect(try next.start())
      _ = try next.tell("child", ["of": "a", "name": "TXT.rtf", "as": "text"])
      #expect(try next.read("text").content == "newer")
      let reference: JSON = "/home/user/Documents/Letter.rtfd.ambitref"
      #expect(try next.tell("resolveReference", ["path": reference, "as": "r"])["urls"] != nil)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: a mere rename replaces an empty package, as everywhere; and only whole folders of files come in`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let secret = try world.document("Secret/secret.txt", "secret")
      let outcome = try start(
        world, package,
        """
        new('new', 'new')
        write('file', 'file')
        print('not empty', rename(0, 'new', 'Letter.rtfd'), rename(1, 'new', 'Letter.rtfd'))
        print('file', rename(0, 'file', 'Letter.rtfd'), rename(2, 'file', 'Letter.rtfd'))
        print('nothing', rename(2, 'none', 'Letter.rtfd'), rename(2, 'Letter.rtfd', 'none'))
        print('moved', rename(0, 'Letter.rtfd', 'away') != 'done', rename(0, 'Letter.rtfd', '/home/user/x'))
        print('over', rename(0, 'Letter.rtfd', 'new'), show('Letter.rtfd'))
        os.mkfifo('new/pipe')
        print('pipe', rename(2, 'new', 'Letter.rtfd'), show('Letter.rtfd'))
        os.remove('new/pipe')
        os.symlink('\(secret)', 'new/secret')
        os.link('file', 'new/linked')
        kept = os.open('new/TXT.rtf', os.O_WRONLY)
        print('done', rename(2, 'new', 'Letter.rtfd'))
        os.write(kept, b'own')
        write('file', 'own')
        print(open('Letter.rtfd/TXT.rtf').read(), open('Letter.rtfd/linked').read())
        for name in os.listdir('Letter.rtfd'):
            place = 'Letter.rtfd/' + name
            os.remove(place) if not os.path.isdir(place) or os.path.islink(place) else shutil.rmtree(place)
        new('last', 'new')
        print('empty', rename(0, 'last', 'Letter.rtfd'), show('Letter.rtfd'), os.path.exists('last'))
        """
      ).outcome()
      #expect(
        outcome.output == """
          not empty ENOTEMPTY EEXIST
          file EISDIR EISDIR
          nothing ENOENT ENOENT
          moved True EXDEV
          over ENOTEMPTY \(Self.old.dropLast())
          pipe EPERM \(Self.old.dropLast())
          done done
          new file
          empty done \(Self.saved.dropLast()) False

          """, "\(outcome)")
      #expect(try show(world, package) == Self.saved)
      #expect(try world.read(secret) == "secret")
      #expect(try world.names() == ["Letter.rtfd"])
      #expect(try world.names(in: "Secret") == ["secret.txt"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-1: whatever an app swaps in a folder while it is copied, the package has only files of its own`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let secret = try world.document("Secret/secret.txt", "secret")
      let outcome = try start(
        world, package,
        """
        import time
        begins = time.monotonic()
        answers = {}
        # On a busy machine longer, until saves have been taken and refused.
        def goes_on():
            passed = time.monotonic() - begins
            return passed < \(Rounds.few(1, of: 4)) or passed < 40 and not ('done' in answers and 'EPERM' in answers)
        def clear(name):
            if os.path.isdir(name) and not os.path.islink(name): shutil.rmtree(name, ignore_errors=True)
            else: attempt(os.remove, name)
        def swap():
            while goes_on():
                for act in (lambda: os.symlink('\(secret)', 'x'), lambda: os.mkfifo('x'), lambda: os.mkdir('x'),
                            lambda: os.symlink('\(world.home)/Secret', 'x'), lambda: write('x', 'own')):
                    for name in ('new/TXT.rtf', 'new/images'):
                        try:
                            act()
                            clear(name)
                            os.rename('x', name)
                        except OSError: clear('x')
        thread = threading.Thread(target=swap)
        thread.start()
        while goes_on():
            try: new('new', 'own')
            except OSError: pass
            answer = rename(2, 'new', 'Letter.rtfd')
            answers[answer] = answers.get(answer, 0) + 1
        thread.join()
        print(answers.get('done', 0) > 0 and answers.get('EPERM', 0) > 0 or answers)
        """
      ).outcome(patience: .seconds(60))
      #expect(outcome.output == "True\n", "\(outcome)")
      let look = """
        import os, stat
        for path, folders, files in os.walk('\(package)'):
            for name in folders + files:
                kind = os.lstat(os.path.join(path, name)).st_mode
                if stat.S_ISREG(kind): print(open(os.path.join(path, name)).read())
                elif not stat.S_ISDIR(kind) and not stat.S_ISLNK(kind): print(oct(kind))
        """
      let texts = Set(try world.run(["/usr/bin/python3", "-I", "-c", look]).output.split(separator: "\n"))
      #expect(texts.isSubset(of: ["own", "old", "a", "b"]), "\(texts)")
      #expect(try world.read(secret) == "secret")
      #expect(try world.names() == ["Letter.rtfd"] && world.names(in: "Secret") == ["secret.txt"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-14: a package that was granted for reading only is not replaced`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let package = try package(world)
      let outcome = try start(
        world, package, pick: "--read-only",
        """
        try: new('/home/user/new', 'new')
        except OSError as error: print(error)
        print(rename(2, '/home/user/new', 'Letter.rtfd') != 'done', rename(0, '/home/user/new', 'Letter.rtfd') != 'done')
        """
      ).outcome()
      #expect(outcome.output == "True True\n", "\(outcome)")
      #expect(try show(world, package) == Self.old)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: on another file system a package is replaced as well, and nothing is left there`(user: TestUser) throws {
    try Workspace.with(user, ambitIn: "/dev/shm") { world in
      let package = try package(world)
      let outcome = try start(
        world, package,
        """
        for i in 1, 2, 3:
            new('new', 'new')
            print(rename(2, 'new', 'Letter.rtfd'))
            shutil.rmtree('new')
        """
      ).outcome()
      #expect(outcome.output == "done\ndone\ndone\n", "\(outcome)")
      #expect(try show(world, package) == Self.saved)
      try Deadline.wait(for: "nothing to be left") { try world.names() == ["Letter.rtfd"] }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-1: while a package is copied others go on, and one that is taken away meanwhile stays as it was`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (package, other) = (try package(world), try world.document("other.txt", "other\n"))
      let held = "\(world.home)/held"
      try world.write("", to: held)
      let saving = try start(
        world, package, environment: ["AMBIT_FAULT": "hold contentDue \(held)"],
        "new('new', 'new'); print('ready', flush=True); print(rename(2, 'new', 'Letter.rtfd'))")
      try saving.wait(forOutput: "ready\n")
      try Deadline.wait(for: "the copy to be begun") { try world.staged().contains { $0.contains("/package-") } }
      #expect(try world.saving([other], as: "Beside", "open; cat other.txt").output == "other\n")
      let grant = try #require(try world.grants().first { $0["kind"] == "package" }?["grant"]?.string)
      #expect(try world.ambit("revoke", grant).exit == .status(0))
      try FileManager.default.removeItem(atPath: held)
      let outcome = try saving.outcome()
      #expect(outcome.output == "ready\nEBUSY\n", "\(outcome)")
      #expect(try show(world, package) == Self.old)
      try Deadline.wait(for: "nothing to be left") { try world.staged().isEmpty }
    }
  }

  @Test(
    arguments: TestUser.one(.ordinary), [FaultPoint.replacementBegun, .filesExchanged, .grantsReplaced])
  func `FSF-1: a broker that is killed while a package is replaced leaves the old one or the new one`(
    user: TestUser, point: FaultPoint
  ) throws {
    for elsewhere in Rounds.areAll ? [false, true] : [point == .filesExchanged] {
      try Workspace.with(user, ambitIn: elsewhere ? "/dev/shm" : nil) { world in
        let package = try package(world)
        let trigger = "\(world.home)/trigger"
        try world.write("", to: trigger)
        let saving = try start(
          world, package, environment: ["AMBIT_FAULT": "kill \(point.rawValue) \(trigger)"],
          "new('new', 'new'); print(rename(2, 'new', 'Letter.rtfd'))")
        #expect(try saving.outcome().output == "EIO\n")
        #expect(unsafe access(trigger, F_OK) != 0, "nobody came by \(point)")
        // Its launcher has started the next one, or this does.
        #expect(try world.ambit("run", "/bin/true").exit == .status(0))
        #expect(try show(world, package) == (point == .replacementBegun ? Self.old : Self.saved))
        try Deadline.wait(for: "nothing to be left") {
          try world.staged().isEmpty && world.names() == ["Letter.rtfd"]
        }
        // It is still the app's.
        let again = try start(world, package, "print(show('Letter.rtfd'))").outcome()
        #expect(again.output == (point == .replacementBegun ? Self.old : Self.saved), "\(again)")
        #expect(try world.grants().count == 1)
      }
    }
  }
}
