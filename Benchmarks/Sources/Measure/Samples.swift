#if canImport(Glibc)
  internal import Glibc
#endif

/// Nanoseconds on a clock that nobody sets.
package func nanoseconds() -> UInt64 {
  var now = timespec()
  _ = unsafe clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// Runs the body and answers how many microseconds it took.
package func microseconds<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
  let start = nanoseconds()
  try body()
  return Double(nanoseconds() - start) / 1000
}

extension [Double] {
  /// The middle value, or the mean of the two in the middle; nil when there is none.
  package var median: Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// Where the median lies with a probability of 95 in 100, whatever they are spread like: by rank, as it is of independent samples.
  /// Nil when there are too few of them to tell.
  package var medianRange: ClosedRange<Double>? {
    guard count >= 8 else { return nil }
    let sorted = sorted()
    let reach = Int((0.98 * Double(count).squareRoot()).rounded(.up))
    return sorted[Swift.max(0, count / 2 - reach)]...sorted[Swift.min(count - 1, (count - 1) / 2 + reach)]
  }

  /// The value that so many of a hundred are not above; nil when there is none.
  package func percentile(_ percent: Double) -> Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return sorted[Swift.min(count - 1, Int((Double(count) * percent / 100).rounded(.down)))]
  }
}
