package import Foundation

/// Which of the refusals and failures that an app can cause as often as it likes become entries of their own. The others are
/// counted, and an entry that says how many they were follows at least each second while it goes on: an app that is refused in a
/// loop must neither fill the log nor hide its acts.
///
/// The same holds for nested starts and stops (``AuditEvent/isNested``): the app has the document from the first start to the last
/// stop, and both of these are always written. So the log says at every moment which documents it can reach (`AUD-5`), and an app
/// that starts and stops a started document in a loop does not push the entries of others out of a log of limited size.
///
/// A value without a clock: the caller passes the time, in nanoseconds of a clock that does not go back.
package struct RefusalLimiter: Sendable {
  /// Entries of their own for one kind, rule and result of one launch, before the rest is counted.
  package static let burst = 64
  /// Between two entries after that, nanoseconds.
  package static let interval: Int64 = 1_000_000_000
  /// An app that has been quiet for so long has the whole burst again, nanoseconds.
  package static let quiet: Int64 = 60_000_000_000

  /// The app whose refusals are counted together. Kinds and rules are the broker's own words, so an app has a
  /// bounded number of these.
  fileprivate struct Key: Hashable {
    let instance: String?
    let kind: AuditEvent.Kind
    let result: AuditEvent.Result
    let rule: String?
  }

  fileprivate struct State {
    var left = RefusalLimiter.burst
    /// When it happened last, and when it last became an entry.
    var happened: Int64
    var written: Int64
    var counted: Counted?
  }

  /// The events left out since the last entry.
  fileprivate struct Counted {
    /// The last one, without the facts that the others do not share.
    var event: AuditEvent
    var count: Int
    let first: Date
    var last: Date
  }

  private static let most = 1024
  private var states: [Key: State] = [:]

  package init() {}

  /// Kinds that an app brings about by asking, however often. All others happen once a launch or a grant, or are the user's.
  private static let repeatable: Set<AuditEvent.Kind> = [
    .pick, .pickCancelled, .grant, .start, .stop, .replaced, .reference, .bookmarkCreated, .bookmarkResolved,
    .referenceResolved, .descriptor, .hostPath, .passed, .coordinated, .presenterSilent, .version, .related, .refuse,
    .protocolError,
  ]

  /// Whether an event may be counted instead of written: never one that has changed an app's access. Refusals of a sandbox have
  /// been limited and counted by its launcher.
  package static func mayCount(_ event: AuditEvent) -> Bool {
    if event.result == .allowed { return event.isNested }
    return event.how != "observed" && repeatable.contains(event.kind)
  }

  /// Whether this one becomes an entry of its own. If not, it has been counted.
  package mutating func take(_ event: AuditEvent, now: Int64) -> Bool {
    let key = Key(instance: event.instance, kind: event.kind, result: event.result, rule: event.rule)
    var state = states[key] ?? State(happened: now, written: now)
    if now - state.happened >= Self.quiet { state.left = Self.burst }
    state.happened = now
    let own = state.counted == nil && (state.left > 0 || now - state.written >= Self.interval)
    if own {
      state.left = max(0, state.left - 1)
      state.written = now
    } else {
      state.count(event)
    }
    if states[key] == nil && states.count >= Self.most { forgetQuiet(now: now) }
    states[key] = state
    return own
  }

  /// Counts one that could not be written, so that it is told of when that is possible again.
  package mutating func count(_ event: AuditEvent, now: Int64) {
    let key = Key(instance: event.instance, kind: event.kind, result: event.result, rule: event.rule)
    states[key, default: State(happened: now, written: now)].count(event)
  }

  /// When the next summary is due; `nil`: nothing has been counted.
  package var nextDue: Int64? {
    states.values.lazy.filter { $0.counted != nil }.map { $0.written + Self.interval }.min()
  }

  /// The due summaries, of all apps.
  package mutating func takeDue(now: Int64, time: Date) -> [AuditEvent] {
    summaries(now: now, time: time) { _, state in state.written + Self.interval <= now }
  }

  /// All that has been counted: for when the broker stops.
  package mutating func takeAll(now: Int64, time: Date) -> [AuditEvent] {
    summaries(now: now, time: time) { _, _ in true }
  }

  /// All that has been counted of one launch, which is over.
  package mutating func takeAll(of instance: String, now: Int64, time: Date) -> [AuditEvent] {
    let events = summaries(now: now, time: time) { key, _ in key.instance == instance }
    states = states.filter { $0.key.instance != instance }
    return events
  }

  private mutating func summaries(
    now: Int64, time: Date, where isWanted: (Key, State) -> Bool
  ) -> [AuditEvent] {
    var events: [AuditEvent] = []
    for (key, state) in states {
      guard let counted = state.counted, isWanted(key, state) else { continue }
      states[key]?.counted = nil
      states[key]?.written = now
      events.append(counted.summary(time))
    }
    // The same order, in contrast to a dictionary's.
    return events.sorted { $0.detail[AuditEvent.Fact.first] ?? "" < $1.detail[AuditEvent.Fact.first] ?? "" }
  }

  private mutating func forgetQuiet(now: Int64) {
    states = states.filter { $0.value.counted != nil || now - $0.value.happened < Self.quiet }
  }
}

extension RefusalLimiter.State {
  fileprivate mutating func count(_ event: AuditEvent) {
    guard var counted else {
      counted = .init(event: event, count: 1, first: event.time, last: event.time)
      return
    }
    counted.add(event)
    self.counted = counted
  }
}

extension RefusalLimiter.Counted {
  /// An entry must not claim for all of them a fact that held for one.
  fileprivate mutating func add(_ other: AuditEvent) {
    count = count.addingReportingOverflow(1).overflow ? .max : count + 1
    last = max(last, other.time)
    if event.pid != other.pid { event.pid = nil }
    if event.grant != other.grant { event.grant = nil }
    if event.document != other.document { event.document = nil }
    if event.how != other.how { event.how = nil }
    // Reasons differ in names: the last one is an example.
    event.reason = other.reason
    event.detail = event.detail.filter { other.detail[$0.key] == $0.value }
  }

  /// - Parameter time: when it is written. Times in a log go forward.
  fileprivate func summary(_ time: Date) -> AuditEvent {
    var event = event
    event.time = Timestamp(time).date
    event.detail[AuditEvent.Fact.suppressed] = "\(count - 1)"
    event.detail[AuditEvent.Fact.first] = Timestamp(first).text
    event.detail[AuditEvent.Fact.last] = Timestamp(last).text
    return event
  }
}
