internal import Audit
internal import Foundation

/// The scopes of launches and their times, for the figures: folded while the log is read, within bounds that do not depend on how
/// long it is.
struct LaunchTracks: Sendable {
  private let limits: ReportLimits
  /// Launches that run, by their identifier.
  private var live: [String: LaunchTrack] = [:]
  /// Launches that have ended, only as many as could still have a figure.
  private var ended: [LaunchTrack] = []
  private var leftOut = 0

  init(_ limits: ReportLimits) { self.limits = limits }

  /// Takes an entry that is about a launch.
  mutating func take(_ event: AuditEvent, document: Int?, isCounted: Bool) {
    guard let id = event.instance, let app = event.app, event.kind != .exit else { return }
    // In its place: a copy would be one of all that it has had started.
    live[id, default: LaunchTrack(id: id, app: app, since: event.time, sequence: event.sequence)]
      .take(event, document, isCounted: isCounted, limits)
  }

  mutating func close(_ scope: RecordedScope, _ ending: RecordedScopeEnding?, document: Int, isCounted: Bool) {
    live[scope.key.instance]?.close(scope, ending, document, isCounted: isCounted, limits)
  }

  mutating func close(_ instance: RecordedInstance, _ ending: RecordedInstanceEnding?, isCounted: Bool) {
    guard var track = live.removeValue(forKey: instance.id), isCounted, !track.isEmpty else { return }
    track.close(instance, ending)
    ended.append(track)
    if ended.count > 4 * limits.launches { prune() }
  }

  /// Those that tell most, the oldest first, and how many there are besides.
  mutating func chosen() -> (tracks: [LaunchTrack], leftOut: Int) {
    prune()
    return (ended.sorted { $0.sequence < $1.sequence }, leftOut)
  }

  private mutating func prune() {
    guard ended.count > limits.launches else { return }
    leftOut += ended.count - limits.launches
    ended = Array(ended.sorted { $0.tellsMore(than: $1) }.prefix(limits.launches))
  }
}

/// One launch's figure in the making.
struct LaunchTrack: Sendable {
  struct Lane: Sendable {
    var document: Int
    var access: RecordedAccess?
    var how: Set<String> = []
    var caller: String?
    var starts = 0
    var seconds = 0.0
    var leaks = 0
    var ending = ""
    var last = Int64(0)
    var bars: [ReportModel.Bar] = []
  }

  let id: String
  let app: String
  var name: String?
  var policy: String?
  var path: String?
  var digest: String?
  var limit: Int?
  var since: Date
  let sequence: Int64
  var until: Date?
  var isEndKnown = true
  var ending = "still running at the end of what was read"
  var lanes: [Int: Lane] = [:]
  var levels: [ReportModel.Level] = []
  var mostInUse = 0
  var leaks = 0
  var starts = 0
  var marks: [ReportModel.Mark] = []
  var refusals = 0
  private var used: [Int32: Int] = [:]

  init(id: String, app: String, since: Date, sequence: Int64) {
    (self.id, self.app, self.since, self.sequence) = (id, app, since, sequence)
  }

  var isEmpty: Bool { lanes.isEmpty && refusals == 0 }

  /// The rule by which launches get a figure: leaks, then refusals, then the number of starts; of equals the newer.
  func tellsMore(than other: Self) -> Bool {
    if (leaks > 0) != (other.leaks > 0) { return leaks > 0 }
    if (refusals > 0) != (other.refusals > 0) { return refusals > 0 }
    return starts == other.starts ? sequence > other.sequence : starts > other.starts
  }

  mutating func take(_ event: AuditEvent, _ document: Int?, isCounted: Bool, _ limits: ReportLimits) {
    limit = event.detail[AuditEvent.Fact.limit].flatMap { Int($0) } ?? limit
    let process = event.detail[AuditEvent.Fact.process].flatMap { Int32($0) } ?? 0
    switch (event.kind, event.result) {
    case (.start, .allowed), (.stop, .allowed):
      if !event.standsForOthers, let slots = event.detail[AuditEvent.Fact.used].flatMap({ Int($0) }) {
        use(slots, by: process, event.time, isCounted, limits)
      }
      if event.kind == .start, let document, isCounted {
        starts += event.occurrences
        lanes[document, default: Lane(document: document)].starts += event.occurrences
      }
    case (_, .refused):
      guard isCounted else { return }
      refusals += 1
      guard marks.count < limits.marks else { return }
      marks.append(
        ReportModel.Mark(time: event.time, rule: event.rule, what: event.sentence, sequence: event.sequence))
    default: break
    }
  }

  mutating func close(
    _ scope: RecordedScope, _ ending: RecordedScopeEnding?, _ document: Int, isCounted: Bool, _ limits: ReportLimits
  ) {
    let process = scope.key.process ?? 0
    // A stop itself states the remaining scopes.
    if let ending, ending.cause != .stopped, let before = used[process], before > 0 {
      use(before - 1, by: process, ending.time, isCounted, limits)
    }
    guard isCounted else { return }
    if ending?.isLeak ?? false { leaks += 1 }
    lanes[document, default: Lane(document: document)].close(scope, ending, limits)
  }

  mutating func close(_ instance: RecordedInstance, _ ending: RecordedInstanceEnding?) {
    name = instance.name
    policy = instance.policy
    path = instance.path
    digest = instance.digest
    limit = instance.limit ?? limit
    since = min(since, instance.since)
    guard let ending else { return }
    until = ending.time
    isEndKnown = ending.certain == ending.time
    self.ending =
      switch (ending.isRecorded, ending.signal, ending.status) {
      case (false, _, _): "not heard of since its broker died: its end is not in the log"
      case (_, let signal?, _) where signal != 0: "ended by signal \(signal)"
      case (_, _, let status?): "ended with status \(status)"
      default: ending.reason ?? "ended"
      }
  }

  private mutating func use(
    _ slots: Int, by process: Int32, _ time: Date, _ isCounted: Bool, _ limits: ReportLimits
  ) {
    if slots > 0 { used[process] = slots } else { used[process] = nil }
    let most = used.values.max() ?? 0
    guard isCounted else {
      // The requested period begins with the scopes in use at that time.
      (levels, mostInUse) = ([ReportModel.Level(time: time, used: most)], most)
      return
    }
    mostInUse = max(mostInUse, most)
    if levels.last?.used == most { return }
    levels.append(ReportModel.Level(time: time, used: most))
    if levels.count > limits.levels { levels = Self.halved(levels) }
  }

  /// Of each two steps the higher one, from where the earlier began: a peak is never lost.
  private static func halved(_ levels: [ReportModel.Level]) -> [ReportModel.Level] {
    stride(from: 0, to: levels.count, by: 2).map { place in
      let pair = levels[place..<min(place + 2, levels.count)]
      return ReportModel.Level(time: levels[place].time, used: pair.map(\.used).max() ?? 0)
    }
  }

  /// Bars with the smallest gaps between them become one, until so many are left.
  static func joined(_ bars: [ReportModel.Bar], _ most: Int) -> [ReportModel.Bar] {
    let sorted = bars.sorted { $0.since < $1.since }
    func gap(_ place: Int) -> Double {
      sorted[place].since.timeIntervalSince(sorted[place - 1].until ?? .distantFuture)
    }
    let apart = Set((1..<sorted.count).sorted { (gap($0), $1) > (gap($1), $0) }.prefix(max(0, most - 1)))
    var result: [ReportModel.Bar] = []
    for (place, bar) in sorted.enumerated() {
      guard var last = result.popLast() else {
        result.append(bar)
        continue
      }
      if apart.contains(place) {
        result += [last, bar]
        continue
      }
      if (bar.until ?? .distantFuture) >= (last.until ?? .distantFuture) { last.certain = bar.certain }
      last.until = last.until.flatMap { until in bar.until.map { max(until, $0) } }
      last.isLeak = last.isLeak || bar.isLeak
      result.append(last)
    }
    return result
  }
}

extension LaunchTrack.Lane {
  fileprivate mutating func close(_ scope: RecordedScope, _ ending: RecordedScopeEnding?, _ limits: ReportLimits) {
    let isLeak = ending?.isLeak ?? false
    access = scope.access ?? access
    if let how = scope.how, self.how.count < 8 { self.how.insert(how) }
    caller = scope.caller ?? caller
    seconds += max(0, (ending?.certain ?? scope.since).timeIntervalSince(scope.since))
    if isLeak { leaks += 1 }
    let sequence = ending?.sequence ?? Int64.max
    if sequence >= last { (last, self.ending) = (sequence, ending?.cause.words ?? "still started") }
    let certain = ending.flatMap { $0.isExact ? nil : $0.certain }
    bars.append(ReportModel.Bar(since: scope.since, until: ending?.time, certain: certain, isLeak: isLeak))
    if bars.count > limits.bars { bars = LaunchTrack.joined(bars, limits.bars / 2) }
  }
}

extension RecordedScopeEnding.Cause {
  var words: String {
    switch self {
    case .stopped: "stopped"
    case .processEnded: "not stopped: its process ended"
    case .appEnded: "not stopped: the app ended"
    case .withdrawn: "its grant was withdrawn"
    case .brokerEnded: "the broker ended"
    case .notShown: "could not be shown"
    case .unknown: "not heard of since its broker died"
    }
  }
}
