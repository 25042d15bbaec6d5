internal import Foundation

/// The places of the parts of a launch's timeline: scopes as bars in lanes, below them the number in use as a stepped line, the
/// limit across it, and refusals as marks. Lengths are in the picture's own units.
struct ScopeFigure {
  struct Bar {
    let x: Double
    let width: Double
    /// How much of it is certain.
    let certain: Double
    let isLeak: Bool
    /// It was still open when the picture ends.
    let isOpen: Bool
  }

  struct Tick {
    let x: Double
    let words: String
  }

  static let width = 960.0
  static let left = 214.0
  static let right = 944.0
  static let laneHeight = 22.0
  static let chartHeight = 96.0

  let begin: Date
  let end: Date
  let bars: [[Bar]]
  /// Where the lanes begin, the chart's top and its bottom.
  let top = 30.0
  let chartTop: Double
  let chartBottom: Double
  let height: Double
  /// The line of scopes in use, as its corners.
  let steps: [(x: Double, y: Double)]
  let limitLine: Double?
  /// The limit is beyond the scale, and drawn at its end.
  let isLimitBeyond: Bool
  /// The highest number of the scale.
  let scale: Int
  let marks: [Double]
  let ticks: [Tick]

  /// - Parameter period: the period of the report; a launch may have begun before it, and go on after.
  init(_ launch: ReportModel.Launch, period: ClosedRange<Date>) {
    let begin = max(launch.since, period.lowerBound)
    let end = max(min(launch.until ?? period.upperBound, period.upperBound), begin.addingTimeInterval(0.001))
    (self.begin, self.end) = (begin, end)
    let span = end.timeIntervalSince(begin)
    func x(_ time: Date) -> Double {
      Self.left + (Self.right - Self.left) * min(1, max(0, time.timeIntervalSince(begin) / span))
    }
    bars = launch.lanes.map { lane in
      lane.bars.map { bar in
        let start = x(bar.since)
        let width = max(2, x(bar.until ?? end) - start)
        return Bar(
          x: start, width: width, certain: bar.certain.map { min(width, x($0) - start) } ?? width, isLeak: bar.isLeak,
          isOpen: bar.until == nil)
      }
    }
    chartTop = top + Double(launch.lanes.count) * Self.laneHeight + 34
    chartBottom = chartTop + Self.chartHeight
    height = chartBottom + 30

    let most = max(launch.mostInUse, 1)
    let beyond = launch.limit.map { $0 > max(4 * most, 10) } ?? false
    isLimitBeyond = beyond
    let scale = beyond ? most + max(1, most / 2) : max(most, launch.limit ?? most)
    self.scale = scale
    let floor = chartBottom
    let roof = chartTop + 12
    let y = { (used: Int) in floor - (floor - roof) * Double(used) / Double(scale) }
    limitLine = launch.limit.map { beyond ? roof : y($0) }
    var corners: [(x: Double, y: Double)] = [(Self.left, y(0))]
    for level in launch.inUse {
      let place = x(level.time)
      if let last = corners.last { corners.append((place, last.y)) }
      corners.append((place, y(level.used)))
    }
    if let last = corners.last { corners.append((Self.right, last.y)) }
    steps = corners
    marks = launch.refusals.filter { $0.time >= begin && $0.time <= end }.map { x($0.time) }
    ticks = Self.ticks(span).map { Tick(x: Self.left + (Self.right - Self.left) * $0 / span, words: Self.words($0)) }
  }

  /// In seconds.
  private static let roundSteps: [Double] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
    10800, 21600, 43200, 86400,
  ]

  /// Round moments since the beginning, five to nine of them.
  private static func ticks(_ span: Double) -> [Double] {
    let step = roundSteps.first { span / $0 <= 8 } ?? (span / 86400 / 6).rounded(.up) * 86400
    return Array(stride(from: 0, through: span, by: step))
  }

  /// A span of time in the unit that suits it: `250 ms`, `1.5 s`, `12 min`, `2 h 30 min`, `3 d`.
  static func words(_ seconds: Double) -> String {
    func number(_ value: Double) -> String {
      let tenths = (value * 10).rounded()
      return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))" : "\(tenths / 10)"
    }
    func pair(_ large: Int, _ unit: String, _ small: Int, _ part: String) -> String {
      small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(part)"
    }
    guard seconds.isFinite, seconds < 1e12 else { return "for ever" }
    switch seconds {
    case ..<0.0000005: return "0"
    case ..<0.9995: return "\(number(seconds * 1000)) ms"
    case ..<59.95: return "\(number(seconds)) s"
    case ..<3599.5: return pair(Int(seconds.rounded()) / 60, "min", Int(seconds.rounded()) % 60, "s")
    case ..<86370: return pair(Int((seconds / 60).rounded()) / 60, "h", Int((seconds / 60).rounded()) % 60, "min")
    default: return pair(Int((seconds / 3600).rounded()) / 24, "d", Int((seconds / 3600).rounded()) % 24, "h")
    }
  }
}
