package import Audit
package import Foundation

/// The access of each app, computed from the log alone (`AUD-5`). It folds the log's entries in their order, holds the state after
/// the last one that it was given, and hands out each interval as it closes.
///
/// Its memory is bounded by the launches, grants and scopes that live at one time, not by the length of the log. It also reads a
/// log without its beginning: a fact first mentioned in the middle is marked as inferred.
package struct AccessHistory: Sendable {
  /// Launches that run, by their identifier.
  package internal(set) var instances: [String: RecordedInstance] = [:]
  /// Grants in force, by their identifier.
  package internal(set) var grants: [String: RecordedGrant] = [:]
  package internal(set) var refusals = RecordedRefusals()
  /// Whether a broker ran after the last entry, as far as the log says: one that dies says nothing.
  package internal(set) var hasBroker = false
  /// The number and the time of the last entry; 0 before the first.
  package private(set) var sequence: Int64 = 0
  package private(set) var time: Date?
  /// The first entry is the log's first: nothing has to be inferred.
  package private(set) var isWhole = true
  /// The state at the beginning of a part has been stated in full: nothing older is unknown any more.
  package private(set) var isCarried = false
  /// Entries with a time earlier than that of the one before: the clock was set back.
  package private(set) var backwards = 0

  /// Scopes by launch: all of a launch end together.
  var active: [String: [RecordedScope.Key: RecordedScope]] = [:]
  /// The grants of each file, by the number that it has: a document is replaced with every save.
  var grantsByInode: [UInt64: Set<String>] = [:]
  /// Grants that the entries just before ended: should the next ones say that this failed, they are in force again.
  var justEnded: [String: RecordedGrant] = [:]
  /// The earliest moment at which the time of a grant may be over.
  var nextEnd: Date = .distantFuture
  var closed: [RecordedInterval] = []
  /// The time of the entry before the last.
  var timeBefore: Date?
  /// The time between two starts of the machine that the last broker ran in, as it named that.
  var boot: String?

  package init() {}

  /// Scopes that are started, in the order in which they were.
  package var scopes: [RecordedScope] {
    active.values.flatMap(\.values).sorted { ($0.sequence, $0.key.grant) < ($1.sequence, $1.key.grant) }
  }

  package func scopes(ofInstance id: String) -> [RecordedScope] {
    (active[id] ?? [:]).values.sorted { ($0.sequence, $0.key.grant) < ($1.sequence, $1.key.grant) }
  }

  /// The slots that a process of a launch uses.
  package func used(by process: Int32?, of instance: String) -> Int {
    active[instance]?.keys.count { $0.process == process } ?? 0
  }

  /// Takes the log's next entry.
  ///
  /// - Returns: the intervals that it closed, and those of grants whose time was over before it. If a grant's withdrawal fails in
  ///   the next entry, another interval of it begins, with the same first entry.
  @discardableResult
  package mutating func take(_ event: AuditEvent) -> [RecordedInterval] {
    closed = []
    // A withdrawal says itself which grant was over.
    if event.kind != .revoke { endDue(by: event.time) }
    if time == nil, event.sequence > 1 { isWhole = false }
    if let time, event.time < time { backwards += 1 }
    (sequence, time, timeBefore) = (event.sequence, event.time, time)
    if event.kind != .revoke, !justEnded.isEmpty { justEnded = [:] }
    if event.result == .refused { refusals.add(event) }
    // Only a broker writes entries: a broker ran even if the entry of its beginning was removed.
    hasBroker = true
    apply(event)
    return closed
  }

  /// Nothing else has been recorded up to then.
  ///
  /// - Returns: the intervals of grants that had expired by then.
  @discardableResult
  package mutating func pass(until time: Date) -> [RecordedInterval] {
    closed = []
    endDue(by: time)
    return closed
  }

  /// The intervals that are still open, in the order in which they began.
  package func open() -> [RecordedInterval] {
    let all =
      instances.values.map { ($0.sequence, RecordedInterval.instance($0, nil)) }
      + grants.values.map { ($0.sequence, .grant($0, nil)) } + scopes.map { ($0.sequence, .scope($0, nil)) }
    return all.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private mutating func apply(_ event: AuditEvent) {
    switch (event.kind, event.result) {
    case (.brokerStarted, .allowed): brokerStarted(event)
    case (.brokerStopped, .allowed): brokerStopped()
    case (.launch, .allowed): begin(event)
    case (.attach, .allowed): attach(event)
    case (.exit, .allowed): exit(event)
    case (.grant, .allowed): grant(event)
    case (.pick, .allowed): picked(event)
    case (.revoke, .allowed): revoke(event)
    case (.revoke, .failed): keep(event)
    case (.start, .allowed): start(event)
    case (.start, .failed): notShown(event)
    case (.stop, .allowed): stop(event)
    case (.scopeEnded, .allowed): scopeEnded(event)
    case (.replaced, .allowed): replaced(event, isUndone: false)
    case (.replaced, .failed): replaced(event, isUndone: true)
    case (.outlived, _): outlived(event)
    case (.appRemoved, .allowed): appRemoved(event)
    case (.bookmarkCreated, .allowed), (.bookmarkResolved, .allowed), (.referenceResolved, .allowed),
      (.reference, .allowed), (.descriptor, .allowed):
      seen(event)
    case (.carried, .allowed): carried(event)
    case (.carriedAll, .allowed): isCarried = true
    default: break
    }
  }
}
