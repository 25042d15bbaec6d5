import Audit
import Foundation
import TestSupport
import Testing

/// What a granted folder is to programs: the whole of itself, and nothing above.
@Suite(.serialized, .waiting)
struct FolderGrantTests {
  /// An app in a language of its own, since AmbitKit would not ask for most of this. `folder` is the picked one, started.
  private static let prelude = """
    #!/usr/bin/python3 -I
    import ctypes, errno, os, subprocess, sys
    def ctl(*words): return subprocess.run(["ambitctl", *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    url = ctl("pick", "--folder"); ctl("start", url); folder = ctl("path", url)
    def attempt(name, act):
      try: print(name, act(), flush=True)
      except OSError as e: print(name, errno.errorcode[e.errno], flush=True)
    def content(path, dir_fd=None):
      f = os.open(path, os.O_RDONLY, dir_fd=dir_fd)
      try: return os.read(f, 100).decode()
      finally: os.close(f)

    """

  @Test(arguments: TestUser.one(.ordinary))
  func `SBX-13: no path with .. leads out of a granted folder, by whatever call and from wherever`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let outside = try world.document("outside.txt", "host")
      try world.document("Papers/Folder/sub/in.txt", "in")
      let folder = "\(world.home)/Papers/Folder"
      for (name, target) in [("up", ".."), ("far", "../../Papers"), ("sub/out", "../../outside.txt")] {
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
      }
      // The control: outside each of them leads there.
      for way in ["../outside.txt", "sub/../../outside.txt", "up/outside.txt", "far/outside.txt", "sub/out"] {
        #expect(try world.read("\(folder)/\(way)") == "host", "\(way)")
      }
      let script =
        Self.prelude + """
          attempt("control", lambda: content(folder + "/sub/../sub/in.txt"))
          for way in ["../outside.txt", "sub/../../outside.txt", "../../Papers/outside.txt", "up/outside.txt", "far/outside.txt",
              "sub/out", "../" * 9 + "\(outside)"[1:]]:
            attempt("path", lambda: content(folder + "/" + way))
          fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
          attempt("openat", lambda: content("../outside.txt", fd))
          attempt("openat of ..", lambda: content("outside.txt", os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)))
          attempt("proc", lambda: content(f"/proc/self/fd/{fd}/../outside.txt"))
          os.symlink("../..", folder + "/made")
          attempt("own link", lambda: content(folder + "/made/Papers/outside.txt"))
          os.chdir(folder + "/sub")
          attempt("chdir control", lambda: content("in.txt"))
          attempt("chdir", lambda: content("../../outside.txt"))
          os.chdir("../..")
          attempt("above", lambda: os.listdir("."))
          attempt("chdir to ..", lambda: content("outside.txt"))
          attempt("write", lambda: os.open(folder + "/../new.txt", os.O_WRONLY | os.O_CREAT))
          attempt("rename", lambda: os.rename(folder + "/sub/in.txt", folder + "/../moved.txt"))
          libc = ctypes.CDLL(None, use_errno=True)
          class how(ctypes.Structure):
            _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]
          def openat2():
            h = how(0, 0, 0)
            if libc.syscall(437, fd, b"../outside.txt", ctypes.byref(h), 24) == -1:
              raise OSError(ctypes.get_errno(), "openat2")
            return "opened"
          attempt("openat2", openat2)
          done = ctl("stop", url)

          """
      let app = try world.bundle("Climber", identifier: "io.ambit.tests.climber", script: script)
      let outcome = try world.ambit("run", "--pick", folder, app)
      #expect(outcome.exit == .status(0), "\(outcome)")
      let lines = outcome.output.split(separator: "\n").map(String.init)
      #expect(
        lines == ["control in"] + Array(repeating: "path ENOENT", count: 7) + [
          "openat ENOENT", "openat of .. ENOENT", "proc ENOENT", "own link ENOENT", "chdir control in", "chdir ENOENT",
          "above ['Folder']", "chdir to .. ENOENT", "write EROFS", "rename EXDEV",
          // Programs are told to use openat, which is looked at above.
          "openat2 ENOSYS",
        ], "\(outcome)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(world.home)/Papers").sorted() == [
          "Folder", "outside.txt",
        ])
      #expect(try world.read("\(folder)/sub/in.txt") == "in" && world.read(outside) == "host")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-13: the broker makes nothing of a path with .. either`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("outside.txt", "host")
      try world.document("Papers/Folder/in.txt", "in")
      let app = try world.probe(picks: ["\(world.home)/Papers/Folder"])
      let url = try #require(try app.pick(["kind": "folder"]).url)
      #expect(try app.start())
      let scope = try #require(url.split(separator: "=").last.map(String.init))
      func create(_ inside: String) throws -> String {
        let call: JSON = .object([
          "method": "io.ambit.Bookmarks.Create",
          "parameters": .object([
            "scope": .string(scope), "readOnly": false, "kind": "app", "values": .array([]), "minimal": false,
            "inside": .string(inside),
          ]),
        ])
        return try app.tell("raw", ["text": .string(call.text)])["reply"]?.string ?? ""
      }
      #expect(try create("in.txt").contains("\"bookmark\""))
      for way in ["../outside.txt", "in.txt/../../outside.txt", "..", "./../outside.txt"] {
        let reply = try create(way)
        #expect(reply.contains("NotFound") && !reply.contains("\"bookmark\""), "\(way): \(reply)")
      }
    }
  }

  private static let git = """
    git -c init.defaultBranch=main init -q .
    git config user.name Somebody; git config user.email somebody@example.org
    for n in 1 2 3; do echo "line $n" >>file; git add file; git commit -q -m "commit $n"; done
    git switch -q -c other HEAD~1; echo other >other; git add other; git commit -q -m other
    git switch -q main; git merge -q -m merge other; git tag v1; git branch -q -d other
    git gc -q --aggressive --prune=now; git fsck --strict 2>&1
    git log --oneline --graph --decorate; git status --short; git rev-parse HEAD; cat file other
    """

  @Test(arguments: TestUser.one(.root))
  func `FSF-7: git works in a granted folder as outside, and its user goes on there`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let dates = "GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'"
      let settings = "set -eu; export \(dates) GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8"
      for name in ["Outside", "Inside"] { try world.makeFolder("\(world.home)/Papers/\(name)") }
      let outside = try world.run(["/bin/sh", "-c", "\(settings); cd \"$HOME/Papers/Outside\"; \(Self.git)"])
      #expect(outside.exit == .status(0) && outside.output.contains("(HEAD -> main, tag: v1)"), "\(outside)")
      let script = """
        #!/bin/sh
        \(settings)
        url=$(ambitctl pick --folder); ambitctl start "$url" >/dev/null; cd "$(ambitctl path "$url")"
        \(Self.git)
        """
      let folder = "\(world.home)/Papers/Inside"
      let app = try world.bundle("Git", identifier: "io.ambit.tests.git", script: script)
      let inside = try world.ambit("run", "--pick", folder, app)
      #expect(inside.exit == .status(0), "\(inside)")
      #expect(inside.output == outside.output, "\(inside)")
      // On the host the repository is the user's own: sound, the same, and theirs to go on with.
      let after = try world.run([
        "/bin/sh", "-c",
        """
        \(settings); cd "$HOME/Papers/Inside"; git fsck --strict; git status --short; git rev-parse HEAD
        echo more >>file; git commit -qam more; git log --oneline | wc -l
        find . ! -user \(user.id) -o -name '*.lock' -o -name 'tmp_*'
        """,
      ])
      #expect(after.exit == .status(0) && after.output.hasSuffix("\n6\n"), "\(after)")
      #expect(outside.output.contains(after.output.split(separator: "\n").first.map(String.init) ?? "-"))
    }
  }
}
