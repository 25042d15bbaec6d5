import Kernel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `A process by its number and its beginning` {
  @Test
  func `has ended when the kernel says so, or when another one has its number; not while it is stopped`() throws {
    let own = try #require(ProcessMark(of: getpid()))
    #expect(!own.hasEnded)
    #expect(ProcessMark("\(own)") == own)
    #expect(ProcessMark(pid: own.pid, started: own.started + 1).hasEnded)

    try Workspace.with(TestUser.all[0]) { world in
      let child = try world.start(["/bin/sh", "-c", "echo in; read line"])
      #expect(try child.readLine() == "in")
      let mark = try #require(ProcessMark(of: child.pid))
      child.signal(SIGSTOP)
      try Deadline.wait(for: "it to be stopped") { ProcessTable.state(child.pid) == "T" }
      #expect(!mark.hasEnded)
      child.kill()
      try Deadline.wait(for: "its end") { mark.hasEnded }
    }
  }
}
