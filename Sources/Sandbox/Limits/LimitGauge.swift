/// Something with a ceiling that is dear to measure, beside something cheap that grows at least as much.
///
/// Shared memory is counted once only by asking the kernel for each page; a folder's size is known only after a visit to all of it.
/// The memory that processes have mapped, and the space that a file system has given out, are read in microseconds, and tell when
/// the other could have reached the ceiling: only then is it measured.
package struct LimitGauge: Sendable {
  package let ceiling: Int
  /// The cheap quantity is never below the dear one. (Else only its growth says something.)
  private let isBound: Bool
  /// The dear quantity at the last measurement, or its assumed value before that.
  private var known: Int
  /// The cheap one when that was, or the least that it has been since.
  private var reference: Int
  /// After a measurement that did not find the ceiling exceeded: so much growth until the next.
  private let step: Int
  /// The cheap quantity at the last measurement, and when that was; at first, at the beginning.
  private var last: (cheap: Int, time: Int64)
  private var isMeasured = false
  /// Nanoseconds after which a changed quantity is measured again although it did not grow: a loss here may hide a growth there.
  /// This is the minimum; otherwise a multiple of the cost of a measurement.
  private let leastRecheck: Int64
  private var recheck: Int64
  private static let costs: Int64 = 100

  /// - Parameter recheck: nanoseconds.
  package init(boundWithCeiling ceiling: Int, recheck: Int64) {
    self.init(ceiling, isBound: true, known: 0, reference: 0, recheck: recheck, start: 0)
  }

  /// For something of unknown size: it is taken for so large that it is measured soon.
  ///
  /// - Parameters:
  ///   - cheap: the cheap quantity now.
  ///   - unmeasured: the growth before it is measured for the first time.
  package init(relativeWithCeiling ceiling: Int, cheap: Int, unmeasured: Int, recheck: Int64, start: Int64) {
    self.init(
      ceiling, isBound: false, known: ceiling - min(unmeasured, ceiling / 8), reference: cheap, recheck: recheck,
      start: start)
  }

  private init(_ ceiling: Int, isBound: Bool, known: Int, reference: Int, recheck: Int64, start: Int64) {
    self.ceiling = ceiling
    self.isBound = isBound
    self.known = known
    self.reference = reference
    leastRecheck = recheck
    self.recheck = recheck
    last = (reference, start)
    step = max(1, ceiling / 64)
  }

  /// Takes note of the cheap quantity, and says whether the dear one has to be measured now.
  package mutating func needsMeasuring(cheap: Int, now: Int64) -> Bool {
    reference = min(reference, cheap)
    if isBound, cheap <= ceiling { return false }
    let growth = cheap - reference
    if growth >= (isMeasured ? step : 0), known + growth > ceiling { return true }
    return cheap != last.cheap && now - last.time >= recheck
  }

  /// Takes note of a measurement.
  ///
  /// - Parameter cost: nanoseconds that it took.
  /// - Returns: whether it exceeds the ceiling.
  package mutating func isExceeded(by value: Int, cheap: Int, now: Int64, cost: Int64 = 0) -> Bool {
    // More than can be counted is the greatest number, and growth is added to this one.
    known = min(value, .max / 2)
    reference = cheap
    last = (cheap, now)
    isMeasured = true
    recheck = max(leastRecheck, Self.costs * cost)
    return value > ceiling
  }

  /// How much it can grow at the least until the ceiling could be reached. While its size is unknown, an eighth of the ceiling
  /// stands for that: if it looked nearly full, the launcher of an idle app would be kept busy.
  package func room(cheap: Int) -> Int {
    if isBound, cheap <= ceiling { return ceiling - cheap }
    if !isBound, !isMeasured { return max(0, ceiling / 8 - max(0, cheap - reference)) }
    return max(0, ceiling - known - max(0, cheap - reference))
  }
}
