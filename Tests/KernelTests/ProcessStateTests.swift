import Glibc
import Testing

@testable import Kernel

@Suite struct `The state of a process` {
  @Test(arguments: [
    ("7 (a) S 1", ProcessState.sleeping), ("7 (a) T (b) R 1", .running), ("7 (a) D 1", .waitingForDevice),
    ("7 (a b) T 1", .stopped), ("7 (a) t 1", .stopped), ("7 (a) Z 1", .ended), ("7 (a) ? 1", nil), ("", nil),
    ("7 (a)", nil),
  ])
  func `is told whatever the program is called`(line: String, state: ProcessState?) {
    #expect(ProcessState(Array(line.utf8)) == state)
  }

  @Test func `is known of this one, and of one that is not there`() {
    #expect([.running, .sleeping].contains(ProcessState.of(getpid())))
    #expect(ProcessState.of(Int32.max) == .ended)
  }
}
