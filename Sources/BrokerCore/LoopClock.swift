internal import Kernel

/// The time, for a broker. Tests set their own.
package protocol LoopClock: Sendable {
  /// Nanoseconds of a clock that does not go back.
  var monotonic: Int64 { get }
  /// Nanoseconds since 1970.
  var realtime: Int64 { get }
}

/// The kernel's clocks (`clock_gettime(2)`).
package struct SystemClock: LoopClock {
  package init() {}
  package var monotonic: Int64 { Clock.monotonic() }
  package var realtime: Int64 { Clock.realtime() }
}
