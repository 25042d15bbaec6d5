package import Audit
package import Foundation

/// Makes a report from a log, entry by entry. `AccessHistory` knows the state between entries; this type counts.
///
/// Its memory grows with the documents, the apps and the launches that live at one time, not with the number of entries.
package struct ReportBuilder: Sendable {
  /// The requested part of the log.
  package struct Selection: Equatable, Sendable {
    package var app: String?
    package var since: Date?
    package var until: Date?

    package init(app: String? = nil, since: Date? = nil, until: Date? = nil) {
      self.app = app
      self.since = since
      self.until = until
    }
  }

  private let selection: Selection
  private let limits: ReportLimits
  private var history = AccessHistory()
  private var documents = DocumentTable()
  private var tally = ReachTally()
  private var denials = Denials()
  private var tracks: LaunchTracks
  private var leaks: [ReportModel.Leak] = []
  private var leaksLeftOut = 0
  private var totals = ReportModel.Totals()
  private var entries: Int64 = 0
  private var read: Int64 = 0
  private var first: Date?
  private var last: Date?

  package init(_ selection: Selection = Selection(), limits: ReportLimits = ReportLimits()) {
    self.selection = selection
    self.limits = limits
    tracks = LaunchTracks(limits)
  }

  /// Takes the log's next entry, also those before the requested period: scopes started earlier may still last.
  ///
  /// - Returns: false when the entry is later than the requested period, as are all that follow.
  package mutating func take(_ event: AuditEvent) -> Bool {
    if let until = selection.until, event.time > until {
      for interval in history.pass(until: until) { close(interval) }
      return false
    }
    read += 1
    let closed = history.take(event)
    let document = documents.index(of: event)
    let isCounted = isAskedFor(event)
    tally.launched(event, isCounted: isCounted) { history.instances[$0] != nil }
    if isCounted { count(event, document) }
    tracks.take(event, document: document, isCounted: isCounted)
    for interval in closed { close(interval) }
    return true
  }

  /// The report; the log's end is now.
  package mutating func finish(log: String, integrity: ReportModel.Integrity) -> ReportModel {
    // Scopes before their launches: the figure of a launch is complete when it is closed.
    let open = history.open().map { $0.asLastHeard(history.sequence) }
    for interval in open { if case .instance = interval { continue } else { close(interval) } }
    for interval in open { if case .instance = interval { close(interval) } }
    let reached = tally.folded(documents.paths, limits)
    let chosen = tracks.chosen()
    let policies = tally.policies()
    let denied = denials.listed(limits.denials)
    totals.apps = tally.apps.count
    totals.documents = reached.folding.documents
    let listed = leaks.suffix(limits.leaks)
    return ReportModel(
      source: .init(
        log: log, entries: entries, read: read, first: first, last: last, app: selection.app, since: selection.since,
        until: selection.until, integrity: integrity, isWhole: history.isWhole), totals: totals, apps: reached.apps,
      appsLeftOut: reached.appsLeftOut, places: reached.places, folding: reached.folding, reaches: reached.reaches,
      launches: chosen.tracks.map { ReportModel.Launch($0, documents.paths, limits) },
      launchesLeftOut: chosen.leftOut, denials: denied.denials, denialsLeftOut: denied.leftOut, leaks: Array(listed),
      leaksLeftOut: leaksLeftOut + leaks.count - listed.count, policies: Array(policies.prefix(limits.policies)),
      policiesLeftOut: max(0, policies.count - limits.policies))
  }

  // MARK: - Counting

  private func isAskedFor(_ event: AuditEvent) -> Bool {
    if let app = selection.app, event.app != app { return false }
    return selection.since.map { event.time >= $0 } ?? true
  }

  /// Whether an interval of an app reaches into the requested period.
  private func isAskedFor(_ interval: RecordedInterval) -> Bool {
    if let app = selection.app, interval.app != app { return false }
    guard let since = selection.since, let until = interval.until else { return true }
    return until >= since
  }

  private mutating func count(_ event: AuditEvent, _ document: Int?) {
    entries += 1
    first = min(first ?? event.time, event.time)
    last = max(last ?? event.time, event.time)
    let weight = event.occurrences
    switch event.result {
    case .refused: totals.refused += weight
    case .failed: totals.failed += weight
    case .allowed: break
    }
    if event.result != .allowed { denials.add(event, count: weight) }
    guard let app = event.app else { return }
    switch (event.kind, event.result) {
    case (.launch, .allowed): totals.launches += 1
    case (.start, .allowed): totals.starts += weight
    case (.outlived, _): outlived(event, app, document)
    default: break
    }
    tally.count(event, app, document, weight: weight)
  }

  private mutating func outlived(_ event: AuditEvent, _ app: String, _ document: Int?) {
    let holders = event.detail[AuditEvent.Fact.holders].map { "held by \($0)" }
    note(
      ReportModel.Leak(
        kind: .outlived, app: app, launch: event.instance, path: path(document), since: event.time, until: nil,
        detail: [holders, event.reason].compactMap(\.self).joined(separator: "; "), sequence: event.sequence))
    if let document { tally.leak(app, document) }
  }

  private mutating func close(_ interval: RecordedInterval) {
    let isCounted = isAskedFor(interval)
    switch interval {
    case .instance(let instance, let ending): tracks.close(instance, ending, isCounted: isCounted)
    case .grant(let grant, _):
      guard isCounted, let document = documents.index(ofGrant: grant.id) else { return }
      tally.granted(grant, document)
    case .scope(let scope, let ending):
      guard let document = documents.index(ofGrant: scope.key.grant) else { return }
      tracks.close(scope, ending, document: document, isCounted: isCounted)
      guard isCounted else { return }
      tally.used(scope, document)
      guard let ending, ending.isLeak else { return }
      tally.leak(scope.app, document)
      let place = scope.caller.map { "started at \($0)" }
      note(
        ReportModel.Leak(
          kind: .unstopped, app: scope.app, launch: scope.key.instance, path: path(document), since: scope.since,
          until: ending.time, detail: [ending.cause.words, place].compactMap(\.self).joined(separator: "; "),
          sequence: ending.sequence))
    }
  }

  /// The newest are kept.
  private mutating func note(_ leak: ReportModel.Leak) {
    totals.leaks += 1
    leaks.append(leak)
    guard leaks.count >= 2 * limits.leaks else { return }
    leaksLeftOut += leaks.count - limits.leaks
    leaks.removeFirst(leaks.count - limits.leaks)
  }

  private func path(_ document: Int?) -> String { document.map { documents.paths[$0] } ?? "" }
}

extension ReportModel.Launch {
  init(_ track: LaunchTrack, _ paths: [String], _ limits: ReportLimits) {
    let order = track.lanes.values.sorted { left, right in
      left.starts == right.starts ? left.document < right.document : left.starts > right.starts
    }
    var lanes = order.prefix(limits.lanes).map { ReportModel.Lane($0, path: paths[$0.document]) }
    let rest = order.dropFirst(limits.lanes)
    if !rest.isEmpty {
      let bars = rest.flatMap(\.bars)
      lanes.append(
        ReportModel.Lane(
          path: nil, documents: rest.count, access: nil, how: [], caller: nil,
          starts: rest.reduce(0) { $0 + $1.starts }, seconds: rest.reduce(0) { $0 + $1.seconds },
          leaks: rest.reduce(0) { $0 + $1.leaks }, ending: "",
          bars: bars.count > limits.bars ? LaunchTrack.joined(bars, limits.bars) : bars.sorted { $0.since < $1.since }))
    }
    self.init(
      id: track.id, app: track.app, name: track.name, policy: track.policy, path: track.path,
      digest: track.digest, limit: track.limit, since: track.since,
      until: track.until, isEndKnown: track.isEndKnown, ending: track.ending, lanes: lanes, inUse: track.levels,
      mostInUse: track.mostInUse,
      leaks: track.leaks, refusals: track.marks, refusalsLeftOut: track.refusals - track.marks.count)
  }
}

extension ReportModel.Lane {
  init(_ lane: LaunchTrack.Lane, path: String) {
    self.init(
      path: path, documents: 1, access: lane.access, how: lane.how.sorted(), caller: lane.caller, starts: lane.starts,
      seconds: lane.seconds, leaks: lane.leaks, ending: lane.ending, bars: lane.bars.sorted { $0.since < $1.since })
  }
}
