import Audit
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
}
