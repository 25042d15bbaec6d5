internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Brings written bytes to the disk, by the kernel's word: fdatasync(2).
enum Disk {
  static let sync: @Sendable (Int32) -> Int32 = { descriptor in
    FaultPoint.syncDue.pass()
    FaultPoint.syncDue.hold()
    if FaultPoint.syncDue.fails { return EIO }
    while fdatasync(descriptor) != 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  /// CLOCK_MONOTONIC and CLOCK_REALTIME, in nanoseconds and microseconds.
  static func now() -> Int64 { clock(CLOCK_MONOTONIC) }
  static func time() -> Int64 { clock(CLOCK_REALTIME) / 1000 }

  private static func clock(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
