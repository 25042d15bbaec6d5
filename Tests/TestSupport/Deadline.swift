#if canImport(Glibc)
  internal import Glibc
#endif

/// A moment until which something is waited for. Nothing is measured with it: it ends tests that would hang.
package struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  package init(in patience: Duration) { end = .now + patience * Self.factor }

  /// `AMBIT_TEST_PATIENCE`: how many times slower than usual this machine is, where it is an emulated one.
  static let factor = unsafe getenv("AMBIT_TEST_PATIENCE").flatMap { unsafe Int(String(cString: $0)) } ?? 1

  package var isOver: Bool { .now >= end }

  /// Milliseconds left, for `poll(2)`.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = (end - .now).components
    return max(0, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
  }

  /// Asks again and again until the answer is yes, and between two times waits for three times as long as asking took, within bounds:
  /// many ask by starting a program, and others are to get on meanwhile.
  package static func wait(
    _ patience: Duration = .seconds(10), for what: @autoclosure () -> String, until isSo: () throws -> Bool
  ) throws {
    let deadline = Deadline(in: patience)
    while true {
      let asked = ContinuousClock.now
      if try isSo() { return }
      if deadline.isOver { throw HarnessError("waited \(patience) for \(what())") }
      let pause = min(max((ContinuousClock.now - asked) * 3, .milliseconds(5)), .milliseconds(300))
      usleep(useconds_t(pause / .microseconds(1)))
    }
  }
}
