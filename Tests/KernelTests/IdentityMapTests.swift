import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct IdentityMapTests {
  private func remaining(_ program: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.filter { Int($0) != nil } ?? []
    return numbers.filter { number in
      let words = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
      return words == Data("\(program)\0maps\0".utf8)
    }
  }

  /// The helper that stands for the ids has a copy of everything that its parent has open: locks and sockets, too.
  @Test func `a process that is killed while it makes one leaves no other behind`() throws {
    let program = try Products.path("document-saver")
    for round in 0..<Rounds.few(40, of: 1000) {
      let child = try ChildProcess(
        [program, "maps"], user: TestUser.all[0], environment: ["PATH": "/usr/bin:/bin"], directory: "/")
      #expect(try child.readLine() == "ready")
      usleep(UInt32(round % 20) * 53)
      child.kill()
      _ = try child.waitForExit()
      try Deadline.wait(for: "the helper's end in round \(round)") { remaining(program).isEmpty }
    }
  }
}
