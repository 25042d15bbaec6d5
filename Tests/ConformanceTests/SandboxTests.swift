import Audit
import Foundation
import TestSupport
import Testing

/// Group A of the catalogue: the sandbox and its containers.
@Suite(.serialized, .waiting)
struct SandboxTests {
  @Test(arguments: TestUser.all)
  func `SBX-2: without a grant, another app's container and the user's files are out of reach`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "private")
      let other = try world.probe("Other")
      #expect(try other.tell("create", ["path": "/home/user/Documents/secret.txt", "text": "other's"]).isDone)
      let secret = "\(world.container("io.ambit.tests.other"))/Documents/secret.txt"
      // The control: both are there to be read, by whom they belong to.
      #expect(try world.read(secret) == "other's")
      #expect(try world.read(document) == "private")

      let app = try world.probe()
      for path in [secret, document, world.home, "\(world.ambitHome)/state/sealing.key", "\(world.ambitHome)/run/user"]
      {
        for act in ["read", "list"] {
          let answer = try app.tell(act, ["path": .string(path)])
          #expect(!answer.isDone, "\(act) \(path)")
          #expect(answer.errno == "ENOENT", "\(act) \(path)")
        }
        #expect(try !app.tell("append", ["path": .string(path), "text": "x"]).isDone)
      }
      // Nor by way of the processes outside, nor of the other app's name for it.
      #expect(try !app.tell("read", ["path": .string("/proc/\(app.process.pid)/root\(document)")]).isDone)
      #expect(try app.tell("read", ["path": "/home/user/Documents/secret.txt"]).errno == "ENOENT")
      #expect(try app.tell("list", ["path": "/documents"])["names"]?.strings == [])
    }
  }

  /// Where refusals are seen, they are what the catalogue says: EPERM from the sandbox, EACCES from mode bits.
  @Test(arguments: TestUser.all)
  func `SBX-3: the sandbox denies with EPERM, mode bits with EACCES, and Foundation says 257`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(
        picks: [try world.document("letter.txt", "text")], options: ["--policy", "observed"])
      try app.pick()
      // Before the start, whatever is asked for.
      for act in ["read", "append", "write"] {
        #expect(try app.tell(act, ["of": "a", "text": "x"]).errno == "EPERM", "\(act)")
      }
      // A file of the user's, a place where none is, and one of another app's: the answer does not tell which are there.
      let theirs = HostFolder()
      for path in [
        theirs?.file ?? "/srv", "/srv/nothing", "/home/ann/.local/share/ambit/containers/io.other/Documents/x", "/root",
      ] {
        #expect(try app.tell("read", ["path": .string(path)]).errno == "EPERM", "\(path)")
        #expect(try app.tell("create", ["path": .string("\(path)/x"), "text": "x"]).errno == "EPERM", "\(path)")
      }
      #expect(try app.tell("create", ["path": "/usr/x", "text": "x"]).errno == "EPERM")
      let error = try app.tell("foundationRead", ["of": "a"])
      #expect(error["domain"] == "NSCocoaErrorDomain")
      #expect(error["code"] == 257)
      #expect(error["posix"] == "EPERM")
      // Mode bits, in the app's own container; and what is simply not there.
      #expect(try app.tell("create", ["path": "/home/user/closed", "text": "x"]).isDone)
      let own = "\(world.container("io.ambit.tests.probe"))/closed"
      try #require(unsafe chmod(own, 0) == 0)
      #expect(try app.tell("read", ["path": "/home/user/closed"]).errno == "EACCES")
      #expect(try app.tell("read", ["path": "/home/user/none"]).errno == "ENOENT")
      #expect(try app.tell("read", ["path": "/etc/none"]).errno == "ENOENT")
      // The control: the same calls on the same URL, once it is started.
      #expect(try app.start())
      #expect(try app.tell("foundationRead", ["of": "a"]).content == "text")
      #expect(try app.tell("append", ["of": "a", "text": "!"]).isDone)
    }
  }

  /// Where nobody observes, the kernel speaks for itself: a host path is not there (ENOENT), a granted one whose scope is not
  /// active lets nobody in (EACCES). What people build on holds: a permission error for what they may have after a start.
  @Test(arguments: TestUser.all)
  func `SBX-3: unobserved, an inactive scope is a permission error, in POSIX and in Foundation`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      for act in ["read", "append"] {
        #expect(try app.tell(act, ["of": "a", "text": "x"]).errno == refused, "\(act)")
      }
      // Where an open would truncate, the kernel looks at the mount before it looks at the mode.
      #expect(try app.tell("write", ["of": "a", "text": "x"]).errno == "EROFS")
      let error = try app.tell("foundationRead", ["of": "a"])
      #expect(error["code"] == 257)
      #expect(error["posix"] == .string(refused))
      #expect(try app.start())
      #expect(try app.tell("foundationRead", ["of": "a"]).content == "text")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-16: a refused open is one record with app, path, operation, rule and what would have granted it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(
        picks: [try world.document("letter.txt", "text")], options: ["--policy", "observed"])
      let placeholder = try #require(try app.pick()["path"]?.string)
      func records() throws -> [AuditEvent] { try world.audit(.refuse).filter { $0.how == "observed" } }
      #expect(try records().isEmpty)

      #expect(try app.tell("read", ["path": "/srv/data/plan.txt"]).errno == "EPERM")
      // It is in the log before the app hears of it.
      let first = try #require(try records().first)
      #expect(try records().count == 1)
      #expect(first.app == "io.ambit.tests.probe")
      #expect(first.instance != nil && first.result == .refused && first.rule == "SBX-2")
      #expect(first.detail["operation"] == "read /srv/data/plan.txt")
      #expect(first.detail["errno"] == "EPERM")
      #expect(first.detail["remedy"]?.contains("pick") == true)
      #expect(first.reason?.isEmpty == false)

      _ = try app.read()
      #expect(try app.tell("create", ["path": "/usr/x", "text": "x"]).errno == "EPERM")
      let all = try records()
      #expect(all.map(\.rule) == ["SBX-2", "TOK-1", "SBX-1"])
      #expect(
        all.map { $0.detail["operation"] } == ["read /srv/data/plan.txt", "read \(placeholder)", "create /usr/x"])
      #expect(all[1].detail["remedy"]?.contains("start") == true)

      // By a relative path and through a link the record names what was meant.
      #expect(try app.tell("link", ["path": "/home/user/link", "text": "/srv/data"]).isDone)
      #expect(try !app.tell("read", ["path": "/home/user/link/plan2.txt"]).isDone)
      #expect(try !app.tell("read", ["path": "../../srv/../srv/./data/plan3.txt"]).isDone)
      #expect(
        try records().dropFirst(3).map { $0.detail["operation"] } == [
          "read /srv/data/plan2.txt", "read /srv/data/plan3.txt",
        ])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `SBX-16: an app that is refused in a loop does not fill the log, and is counted`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let outcome = try world.run([
        try Products.path("ambit"), "run", "--policy", "observed", "/bin/sh", "-c",
        // Without a process for each: the log has room for so many a second, and a slow machine would take more of them.
        "i=0; while [ $i -lt 400 ]; do read x 2>/dev/null </srv/$i; read x 2>/dev/null </srv/same; i=$((i+1)); done; echo done",
      ])
      #expect(outcome.output == "done\n", "\(outcome)")
      let records = try world.audit(.refuse).filter { $0.how == "observed" }
      #expect((64...400).contains(records.count))
      let counted = records.compactMap { $0.detail["suppressed"].flatMap { Int($0) } }.reduce(0, +)
      let single = records.count { $0.detail["operation"] != "more" }
      #expect(single + counted == 800 && counted > 0)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `--trace shows each refusal as it happens, and what would have granted it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let outcome = try world.run([
        try Products.path("ambit"), "run", "--trace", "/bin/sh", "-c",
        "cat /srv/x; python3 -c 'import socket; socket.socket(2)'",
      ])
      #expect(outcome.errors.contains("ambit: refused read /srv/x (EPERM, SBX-2): "), "\(outcome)")
      #expect(outcome.errors.contains("would grant it: the user picks it"))
      #expect(outcome.errors.contains("refused socket AF_INET (EAFNOSUPPORT, network)"))
      // The same without it is silent, and nothing is recorded.
      let silent = try world.run([try Products.path("ambit"), "run", "/bin/sh", "-c", "cat /srv/x"])
      #expect(!silent.errors.contains("ambit:"))
      #expect(try world.audit(.refuse).filter { $0.how == "observed" }.count >= 2)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-5: the picker lists in another process, and the app sees only what was chosen`(user: TestUser) throws {
    try Workspace.with(user) { world in
      for name in ["a.txt", "b.txt", "c.txt"] { try world.document(name, name) }
      let app = try world.probe(picks: ["\(world.home)/Papers/b.txt"])
      let before = try app.tell("descriptors")["names"]?.strings ?? []
      let answer = try app.pick()
      #expect(answer["name"] == "b.txt")
      for name in ["a.txt", "c.txt", "Papers", world.home] { #expect(!answer.text.contains(name)) }

      let after = try app.tell("descriptors")["names"]?.strings ?? []
      // One more at most: the connection that AmbitKit keeps. Nothing that leads to a file.
      let more = after.filter { !before.contains($0) }
      #expect(more.allSatisfy { $0.hasPrefix("socket:") }, "\(more)")
      // What the app itself has by itself: three pipes and the folder that was just listed.
      #expect(before.allSatisfy { $0.hasPrefix("pipe:") || $0.hasPrefix("/proc/") }, "\(before)")

      let path = try #require(answer["path"]?.string)
      let folder = (path as NSString).deletingLastPathComponent
      // Of what lies under the granted name's folder, at most that name can be seen.
      #expect(try app.tell("list", ["path": .string(folder)])["names"]?.strings == ["b.txt"])
      #expect(try app.tell("mounts").content?.contains("Papers") == false)
    }
  }

  @Test(arguments: TestUser.all)
  func `SBX-10: a link in a granted folder reads as text and leads nowhere outside`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let outside = try world.document("outside.txt", "host")
      try world.document("Papers/Folder/inside.txt", "inside")
      let folder = "\(world.home)/Papers/Folder"
      for (name, target) in [
        ("absolute", outside), ("relative", "../outside.txt"), ("system", "/etc/passwd"), ("good", "inside.txt"),
      ] {
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
      }
      // The control: on the host the links lead there.
      #expect(try world.read("\(folder)/absolute") == "host")
      #expect(try world.read("\(folder)/relative") == "host")

      let app = try world.probe(picks: [folder])
      try app.pick(["kind": "folder"])
      #expect(try app.start())
      for (name, target) in [("absolute", outside), ("relative", "../outside.txt"), ("system", "/etc/passwd")] {
        _ = try app.tell("child", ["of": "a", "name": .string(name), "as": "link"])
        #expect(try app.tell("readLink", ["of": "link"]).content == target)
      }
      for name in ["absolute", "relative"] {
        _ = try app.tell("child", ["of": "a", "name": .string(name), "as": "link"])
        #expect(try app.tell("read", ["of": "link"]).errno == "ENOENT", "\(name)")
      }
      // In the app's own namespace: its passwd, in which nobody of the host stands.
      _ = try app.tell("child", ["of": "a", "name": "system", "as": "link"])
      let passwd = try #require(try app.tell("read", ["of": "link"]).content)
      #expect(passwd == (try app.tell("read", ["path": "/etc/passwd"]).content))
      #expect(passwd != (try world.read("/etc/passwd")))
      _ = try app.tell("child", ["of": "a", "name": "good", "as": "link"])
      #expect(try app.tell("read", ["of": "link"]).content == "inside")
      // A link that the app makes itself is worth no more.
      _ = try app.tell("child", ["of": "a", "name": "made", "as": "link"])
      #expect(try app.tell("link", ["of": "link", "text": .string(outside)]).isDone)
      #expect(try app.tell("read", ["of": "link"]).errno == "ENOENT")
    }
  }
}
