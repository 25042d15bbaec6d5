import Measure

/// One comparison: what was measured on Ambit, what on a peer, and what was aimed at.
struct Row: Codable {
  /// The part of the benchmark it belongs to: `launch`, `crowd`, `calls`, `scope`, `grant`, `growth`, `io`, `resolve`, `save`,
  /// `picker`, `cloud`, `provider`, `audit-explain`, `audit`.
  var part: String
  var measure: String
  /// `ms`, `µs`, `ns`, `MiB`, `MiB/s`, `apps/s`, `lives/s`, `events/s` or `s`. Every time and rate is a median.
  var unit: String
  var ambit: Double?
  var peer: String
  var other: Double?
  /// Ambit's value over the other's; where both were taken in pairs, the median of the pairs' ratios.
  var ratio: Double?
  /// Where the ratio lies with a probability of 95 in 100, by how the pairs' ratios are spread.
  var ratioFrom: Double?
  var ratioTo: Double?
  var aim: String?
  /// Whether the aim was reached; nil when it could not be told.
  var holds: Bool?
  /// Why a value is not there.
  var note: String?

  enum Aim {
    /// The ratio at most, or at least, this.
    case ratioAtMost(Double)
    case ratioAtLeast(Double)
    /// Ambit's value at most, or at least, this.
    case valueAtMost(Double)
    case valueAtLeast(Double)
  }

  init(
    _ part: String, _ measure: String, unit: String, ambit: Double?, peer: String = "", other: Double? = nil,
    ratio: Double? = nil, spread: ClosedRange<Double>? = nil, aim: Aim? = nil, note: String? = nil
  ) {
    self.part = part
    self.measure = measure
    self.unit = unit
    self.ambit = ambit
    self.peer = peer
    self.other = other
    self.note = note
    self.ratio = ratio
    (ratioFrom, ratioTo) = (spread?.lowerBound, spread?.upperBound)
    if ratio == nil, let ambit, let other, other > 0 { self.ratio = ambit / other }
    switch aim {
    case .ratioAtMost(let limit):
      self.aim = "≤ \(fixed(limit, 2)) ×"
      holds = self.ratio.map { $0 <= limit }
    case .ratioAtLeast(let limit):
      self.aim = "≥ \(fixed(limit, 2)) ×"
      holds = self.ratio.map { $0 >= limit }
    case .valueAtMost(let limit):
      self.aim = "≤ \(fixed(limit, limit == limit.rounded() ? 0 : 1)) \(unit)"
      holds = ambit.map { $0 <= limit }
    case .valueAtLeast(let limit):
      self.aim = "≥ \(fixed(limit, limit == limit.rounded() ? 0 : 1)) \(unit)"
      holds = ambit.map { $0 >= limit }
    case nil: break
    }
  }
}

extension Row {
  /// Samples that were taken in pairs, one of each in a round.
  init(
    _ part: String, _ measure: String, unit: String, pairs ambit: [Double], _ peer: String, _ other: [Double],
    aim: Aim?,
    note: String? = nil
  ) {
    let ratios = zip(ambit, other).map { $0 / $1 }
    self.init(
      part, measure, unit: unit, ambit: ambit.median, peer: peer, other: other.median, ratio: ratios.median,
      spread: ratios.medianRange, aim: aim, note: note)
  }
}

/// A number with so many decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
  var scale = 1.0
  for _ in 0..<decimals { scale *= 10 }
  let whole = Int((value * scale).rounded())
  let digits = String(abs(whole))
  let sign = whole < 0 ? "-" : ""
  guard decimals > 0 else { return sign + digits }
  let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
  return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}

/// A number with three digits that count.
func short(_ value: Double) -> String { fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2) }
