#if canImport(Glibc)
  internal import Glibc
#endif

package enum Clock {
  /// Nanoseconds of a clock that does not go back.
  package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }
  /// Nanoseconds since 1970.
  package static func realtime() -> Int64 { read(CLOCK_REALTIME) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
