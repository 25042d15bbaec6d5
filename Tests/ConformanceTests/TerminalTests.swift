import Foundation
import TestSupport
import Testing

/// `ambit run` at a terminal, under a shell with job control, as a person uses it.
@Suite(.serialized, .waiting)
struct TerminalTests {
  /// A shell at its prompt. `$AMBIT` is the program.
  private func withShell(_ user: TestUser, _ body: (Workspace, TerminalRun) throws -> Void) throws {
    try Workspace.with(user) { world in
      let shell = try world.terminal(["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"])
      // What is waited for must not stand in the line that was typed, since the terminal echoes that.
      try shell.type("PS1='%''> '; AMBIT='\(try Products.path("ambit"))'; echo set''up\n")
      try shell.see("setup\r\n%> ")
      try body(world, shell)
      try shell.type("echo last=''$?\n")
      try shell.see("last=")
      #expect(shell.isCooked)
      try shell.type("exit\n")
      _ = try shell.process.waitForExit()
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `Ctrl-C ends the app and gives the shell back`(user: TestUser) throws {
    try withShell(user) { (_, shell) throws in
      try shell.type("$AMBIT run /bin/sh -c 'echo rea''dy; exec sleep 1000'\n")
      try shell.see("ready")
      try shell.type("\u{3}")
      try shell.see("%> ")
      try shell.type("echo status=''$?\n")
      try shell.see("status=130")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `Ctrl-C reaches an app that handles it, and the app goes on`(user: TestUser) throws {
    try withShell(user) { (_, shell) throws in
      try shell.type("$AMBIT run /bin/bash -c 'trap \"echo cau\"\"ght\" INT; echo rea''dy; read a; read a; exit 5'\n")
      try shell.see("ready")
      try shell.type("\u{3}")
      try shell.see("caught")
      try shell.type("\n\n\n")
      try shell.see("%> ")
      try shell.type("echo status=''$?\n")
      try shell.see("status=5")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `Ctrl-Z stops the job, fg goes on with it`(user: TestUser) throws {
    try withShell(user) { (world, shell) throws in
      for _ in 1...3 {
        try shell.type("$AMBIT run /bin/sh -c 'echo rea''dy; read line; echo got=\"$line\"'\n")
        try shell.see("ready")
        try shell.type("\u{1a}")
        try shell.see("Stopped")
        try shell.see("%> ")
        #expect(shell.isCooked)
        // The app itself stands still as well.
        let pid = try #require(try world.instances().first?["pid"]?.int)
        let family = ProcessTable.tree(below: Int32(pid))
        #expect(family.contains { ProcessTable.state($0.pid) == "T" })
        try shell.type("jobs; echo between=''$?\n")
        try shell.see("between=0")
        try shell.type("fg\n")
        try shell.see("$AMBIT run")
        try shell.type("hello\n")
        try shell.see("got=hello")
        try shell.see("%> ")
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `the app's terminal has the size of the user's, and follows it`(user: TestUser) throws {
    try withShell(user) { (_, shell) throws in
      try shell.resize(columns: 91, rows: 33)
      try shell.type(
        "$AMBIT run /bin/bash -c 'stty size; trap \"stty size; exit\" WINCH; echo rea''dy; while :; do sleep 0.02; done'\n"
      )
      try shell.see("33 91")
      try shell.see("ready")
      try shell.resize(columns: 120, rows: 40)
      try shell.see("40 120")
      try shell.see("%> ")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `the app has a terminal, and not the user's; pipes are pipes and the rest is the terminal`(
    user: TestUser
  ) throws {
    try withShell(user) { (_, shell) throws in
      try shell.type("tty; $AMBIT run /bin/sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && echo three''terminals'\n")
      try shell.see("/dev/pts/")
      try shell.see("/dev/pts/0")
      try shell.see("threeterminals")
      try shell.see("%> ")
      try shell.type("echo piped | $AMBIT run /bin/cat | tr a-z A-Z; echo don''e=${PIPESTATUS[*]}\n")
      try shell.see("PIPED")
      try shell.see("done=0 0 0")
      try shell.see("%> ")
      try shell.type("echo abc | $AMBIT run /bin/sh -c 'test -t 0 || echo nop''e; test -t 1 && echo yes''s'\n")
      try shell.see("nope")
      try shell.see("yess")
      try shell.see("%> ")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a program that closes its streams still has its terminal`(user: TestUser) throws {
    try withShell(user) { (_, shell) throws in
      // For a moment no process of the app has it open.
      try shell.type(
        "$AMBIT run /bin/sh -c 'exec </dev/null >/dev/null 2>&1; sleep 0.2; echo bey''ond >/dev/tty; "
          + "read line </dev/tty; echo go''t=\"$line\" >/dev/tty; exit 6'\n")
      try shell.see("beyond")
      try shell.type("hello\n")
      try shell.see("got=hello")
      try shell.see("%> ")
      try shell.type("echo status=''$?\n")
      try shell.see("status=6")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a launcher that is killed gives its app's end, and the shell its prompt`(user: TestUser) throws {
    try withShell(user) { (world, shell) throws in
      try shell.type("$AMBIT run /bin/sh -c 'echo rea''dy; exec sleep 1000' & echo job=''$!\n")
      try shell.see("job=")
      try shell.see("%> ")
      try Deadline.wait(for: "the instance") { try world.instances().count == 1 }
      try shell.type("kill -9 $!; wait $!; echo status=''$?\n")
      try shell.see("status=137")
      try Deadline.wait(for: "its end") { try world.instances().isEmpty }
    }
  }

  /// Under a program that, unlike interactive shells, does not set its terminal right when a job dies.
  @Test(arguments: TestUser.one(.ordinary))
  func `a launcher that is killed outright leaves no raw terminal`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let ambit = try Products.path("ambit")
      let shell = try world.terminal([
        "/bin/sh", "-c", "'\(ambit)' run /bin/sh -c 'echo rea''dy; sleep 1000'; echo status=$?; read line",
      ])
      try shell.see("ready")
      #expect(!shell.isCooked)
      kill(try launcher(of: shell), SIGKILL)
      try shell.see("status=137")
      try Deadline.wait(.seconds(1), for: "the terminal as it was") { shell.isCooked }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `a launcher that is killed while its picker is up gives the screen back`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let ambit = try Products.path("ambit")
      let app = try world.bundle(
        "Asking", identifier: "io.ambit.tests.asking", script: "#!/bin/sh\n/run/ambit/bin/ambitctl pick\n")
      let shell = try world.terminal(["/bin/sh", "-c", "'\(ambit)' run '\(app)'; echo status=$?; read line"])
      try shell.see("\u{1B}[?1049h")
      let pid = try launcher(of: shell)
      kill(pid, SIGKILL)
      try shell.see("\u{1B}[?1049l", patience: .seconds(1))
      try Deadline.wait(.seconds(1), for: "the terminal as it was") { shell.isCooked }
    }
  }

  /// The terminal's foreground program, seen from its shell: the child that is no broker.
  private func launcher(of shell: TerminalRun) throws -> Int32 {
    let child = ProcessTable.children(of: shell.process.pid).first { ProcessTable.commandLine($0).contains(" run ") }
    return try #require(child)
  }
}
