/// Something that has a ceiling and is dear to measure, beside something cheap that grows at least as much.
///
/// Shared memory is counted once only by asking the kernel for each page; a folder's size is known only when one has been
/// everywhere in it. What processes have mapped, and what a file system has given out, is read in microseconds, and
/// says when the other could have reached the ceiling: only then is it measured.
package struct LimitGauge: Sendable {
  package let ceiling: Int
  /// The cheap quantity is never below the dear one. (Else only its growth says something.)
  private let isBound: Bool
  /// The dear quantity when it was measured last, or what it is taken for before that.
  private var known: Int
  /// The cheap one when that was, or the least that it has been since.
  private var reference: Int
  /// After a measurement that did not find the ceiling exceeded: so much growth until the next.
  private let step: Int
  /// The cheap quantity at the last measurement, and when that was; at first, at the beginning.
  private var last: (cheap: Int, time: Int64)
  private var isMeasured = false
  /// Nanoseconds after which what has moved is measured again although it did not grow: what shrank here may have grown
  /// there. At the least, and as many times what a measurement takes.
  private let leastRecheck: Int64
  private var recheck: Int64
  private static let costs: Int64 = 100

  /// - Parameter recheck: nanoseconds.
  package init(boundWithCeiling ceiling: Int, recheck: Int64) {
    self.init(ceiling, isBound: true, known: 0, reference: 0, recheck: recheck, start: 0)
  }

  /// For something whose size nobody knows yet: it is taken for so large that it is measured soon.
  ///
  /// - Parameters:
  ///   - cheap: the cheap quantity now.
  ///   - unmeasured: so much may it grow before it is measured for the first time.
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
    known = value
    reference = cheap
    last = (cheap, now)
    isMeasured = true
    recheck = max(leastRecheck, Self.costs * cost)
    return value > ceiling
  }

  /// How much it can grow at the least until the ceiling could be reached. As long as nobody knows how large it is, an eighth of
  /// the ceiling stands for that: looking as if it were nearly full would keep the launcher of an idle app busy.
  package func room(cheap: Int) -> Int {
    if isBound, cheap <= ceiling { return ceiling - cheap }
    if !isBound, !isMeasured { return max(0, ceiling / 8 - max(0, cheap - reference)) }
    return max(0, ceiling - known - max(0, cheap - reference))
  }
}
