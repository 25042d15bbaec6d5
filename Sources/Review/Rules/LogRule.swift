package import Audit
package import Foundation

/// An assertion over a log (`AUD-6`): a thing that must never have happened, or must always have held.
///
/// Plain values, read from a file (``LogRules``), said in words (``words``) and judged by a ``RuleChecker``.
package struct LogRule: Equatable, Sendable {
  /// Each is a family of assertions, by the word that a rules file has for it.
  package enum Kind: Equatable, Sendable {
    /// No app could write below a folder: by a scope for writing, a descriptor for writing, a save, or a right to write that was
    /// passed on.
    case noWrites(below: String)
    /// Each started scope was stopped again, at most so many seconds later.
    ///
    /// - Parameter orExit: the end of the app or of its process counts as a stop.
    case stopsWithin(seconds: Int, orExit: Bool)
    /// No grant was given that fits everything that is named; nil fits all.
    case noGrants(document: String?, access: RecordedAccess?, below: String?)
    /// So many scopes were started at a time, at the most.
    case scopesAtMost(Int, per: Counted)
    /// No entry of a kind, with a result and a rule, if they are named.
    case noEvents(kind: AuditEvent.Kind, result: AuditEvent.Result?, rule: String?)
    /// Every grant came about in one of these ways.
    case grantsBy([String])
    /// Entries of these kinds fall within some hours of the day.
    case onlyDuring(DailyHours, kinds: [AuditEvent.Kind])

    package var word: String {
      switch self {
      case .noWrites: "no-writes"
      case .stopsWithin: "stops-within"
      case .noGrants: "no-grants"
      case .scopesAtMost: "scopes-at-most"
      case .noEvents: "no-events"
      case .grantsBy: "grants-by"
      case .onlyDuring: "only-during"
      }
    }

    package static let words = [
      "no-writes", "stops-within", "no-grants", "scopes-at-most", "no-events", "grants-by", "only-during",
    ]
  }

  /// Says which scopes are counted together.
  package enum Counted: String, CaseIterable, Equatable, Sendable {
    case process, instance, app, all
  }

  package var name: String
  package var kind: Kind
  /// Only these apps are judged; nil: all.
  package var apps: [String]?
  /// These are not.
  package var except: [String]
  /// Only events from this time on, and up to ``until``, are judged.
  package var since: Date?
  package var until: Date?

  package init(
    name: String, kind: Kind, apps: [String]? = nil, except: [String] = [], since: Date? = nil, until: Date? = nil
  ) {
    self.name = name
    self.kind = kind
    self.apps = apps
    self.except = except
    self.since = since
    self.until = until
  }

  func covers(app: String?) -> Bool {
    guard let app else { return apps == nil }
    return (apps?.contains(app) ?? true) && !except.contains(app)
  }

  func covers(time: Date) -> Bool { (since.map { time >= $0 } ?? true) && (until.map { time <= $0 } ?? true) }
}

/// Some hours of every day, or of some days of the week.
package struct DailyHours: Equatable, Sendable {
  /// Minutes from midnight. Past midnight when the second is the smaller one; the whole day when they are equal.
  package var from: Int
  package var until: Int
  /// Minutes that the place's clocks are ahead of UTC.
  package var offset: Int
  /// 0: Monday, … 6: Sunday.
  package var weekdays: Set<Int>

  package static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  package init(from: Int, until: Int, offset: Int = 0, weekdays: Set<Int> = Set(0...6)) {
    self.from = from
    self.until = until
    self.offset = offset
    self.weekdays = weekdays
  }

  /// The end is outside. Of hours past midnight the day that they began on counts.
  package func contains(_ time: Date) -> Bool {
    let minutes = Int((time.timeIntervalSince1970 / 60).rounded(.down)) + offset
    let (day, minute) = (floorDivided(minutes, 1440), minutes - floorDivided(minutes, 1440) * 1440)
    // 1 January 1970 was a Thursday.
    let weekday = day + 3 - floorDivided(day + 3, 7) * 7
    if from < until { return minute >= from && minute < until && weekdays.contains(weekday) }
    if from == until { return weekdays.contains(weekday) }
    return minute >= from ? weekdays.contains(weekday) : minute < until && weekdays.contains((weekday + 6) % 7)
  }
}

private func floorDivided(_ number: Int, _ divisor: Int) -> Int {
  let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
  return rest < 0 ? quotient - 1 : quotient
}
