import Foundation
import TestSupport
import Testing

/// `ambit seccomp`: profiles explained and compared.
@Suite(.serialized, .waiting)
struct SeccompReportTests {
  private static let mixed = #"""
    { "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "syscalls": [
      { "names": ["read", "execve", "not_a_call"], "action": "SCMP_ACT_ALLOW", "comment": "plain" },
      { "names": ["keyctl"], "action": "SCMP_ACT_ALLOW" },
      { "names": ["write"], "action": "SCMP_ACT_ALLOW", "args": [ { "index": 0, "value": 3, "op": "SCMP_CMP_LT" } ] },
      { "names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": { "caps": ["CAP_SYS_ADMIN"] } } ] }
    """#

  @Test func `ambit seccomp explain says what holds, by which entry, and what was left out`() throws {
    try Workspace.with(.root) { world in
      try world.write(Self.mixed, to: "\(world.home)/p.json")
      func explain(_ words: String...) throws -> JSON {
        let outcome = try world.run(
          [try Products.path("ambit"), "seccomp", "explain", "--format", "json"] + words)
        #expect(outcome.exit == .status(0), "\(outcome)")
        return try #require(JSON(outcome.output))
      }
      let whole = try explain("p.json")
      #expect(whole["groups"]?.array?.map { $0["name"] } == ["syscalls[0]", "syscalls[1]", "syscalls[2]"])
      #expect(whole["leftOut"]?.array?.first?["entry"] == "syscalls[3]")
      #expect(whole["unknown"]?.strings == ["not_a_call"])
      #expect(whole["otherwise"] == "fails with ENOSYS")
      let write = try explain("p.json", "--syscall", "write")
      #expect(write["rules"]?.array?.first?["group"] == "syscalls[2]")
      #expect(write["rules"]?.array?.first?["conditions"]?.strings == ["argument 0 < 3"])
      #expect(write["outcomes"]?.strings == ["is let through", "fails with ENOSYS"])
      let mount = try explain("p.json", "--syscall", "mount")
      #expect(mount["canPass"] == false && mount["leftOut"]?.array?.count == 1)
      #expect(try explain("p.json", "--syscall", "keyctl")["refusedByAmbit"] == true)
      #expect(try explain("--syscall", "keyctl")["canPass"] == false)
      // With a set-id bit in its mode it is refused before anybody looks.
      #expect(
        try explain("observed", "--syscall", "openat")["outcomes"]?.strings == [
          "is looked at by the launcher", "fails with EPERM",
        ])

      let text = try world.ambit("seccomp", "explain", "p.json").output
      for piece in ["syscalls[2]", "by its arguments", "left out: syscalls[3] (mount)", "not_a_call", "stricter"] {
        #expect(text.contains(piece), "\(piece): \(text)")
      }
      #expect(try world.ambit("seccomp", "explain", "--syscall", "ioctl").output.contains("more comparisons"))
      for (words, piece) in [(["--syscall", "nonsense"], "no such system call"), (["gone.json"], "cannot be read")] {
        let wrong = try world.run([try Products.path("ambit"), "seccomp", "explain"] + words)
        #expect(wrong.exit == .status(125) && wrong.errors.contains(piece), "\(wrong)")
      }
    }
  }

  @Test func `ambit seccomp diff says what becomes possible and impossible, and what Ambit refuses all the same`()
    throws
  {
    try Workspace.with(.root) { world in
      try world.write(Self.mixed, to: "\(world.home)/p.json")
      let outcome = try world.ambit("seccomp", "diff", "standard", "p.json", "--format", "json")
      #expect(outcome.exit == .status(1))
      let found = try #require(JSON(outcome.output))
      #expect(found["possible"]?.array?.map { $0["call"] } == ["keyctl"])
      #expect(found["possible"]?.array?.first?["refusedByAmbit"] == true)
      let impossible = found["impossible"]?.array?.compactMap { $0["call"]?.string } ?? []
      #expect(impossible.contains("openat") && !impossible.contains("read") && !impossible.contains("write"))
      #expect(found["other"]?.array?.contains { $0["call"] == "write" } == true)
      #expect(try world.ambit("seccomp", "diff", "standard", "p.json").output.contains("refuses it all the same"))
      let same = try world.ambit("seccomp", "diff", "p.json", "p.json")
      #expect(same.exit == .status(0) && same.output == "The two treat every call in the same way.\n")
    }
  }
}
