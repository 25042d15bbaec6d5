package import Audit
internal import Foundation
internal import Paths

/// Judges rules over a log, entry by entry. It keeps only the launches, grants and scopes that live at one time, and the first
/// findings of each rule.
package struct RuleChecker: Sendable {
  private var history = AccessHistory()
  private var answers: [RuleAnswer]
  /// Scopes that are started, by whom they are counted for, of each rule that counts them.
  private var counts: [Int: [String: Int]] = [:]
  private let limit: Int
  /// The time of the first entry.
  private var began: Date?

  /// - Parameter limit: how many findings of a rule are kept; the others are counted.
  package init(_ rules: [LogRule], limit: Int) {
    answers = rules.map { RuleAnswer(rule: $0) }
    self.limit = max(1, limit)
  }

  /// Takes the log's next entry.
  package mutating func take(_ event: AuditEvent) {
    let before = event.grant.flatMap { history.grants[$0] }
    let closed = history.take(event)
    if began == nil { began = event.time }
    for index in answers.indices { judge(index, event, closed, before) }
  }

  /// The answers at the end of the log.
  package func finish() -> [RuleAnswer] {
    var ended = self
    for index in answers.indices { ended.judgeEnd(index) }
    return ended.answers
  }

  // MARK: Findings

  private mutating func violated(_ index: Int, _ sequence: Int64, _ sentence: @autoclosure () -> String) {
    answers[index].violationCount += 1
    guard answers[index].violations.count < limit else { return }
    answers[index].violations.append(.init(sequence: sequence, sentence: sentence()))
  }

  private mutating func unknown(_ index: Int, _ sequence: Int64, _ sentence: @autoclosure () -> String) {
    answers[index].unknownCount += 1
    guard answers[index].unknowns.count < limit else { return }
    answers[index].unknowns.append(.init(sequence: sequence, sentence: sentence()))
  }

  // MARK: Rules

  private mutating func judge(
    _ index: Int, _ event: AuditEvent, _ closed: [RecordedInterval], _ before: RecordedGrant?
  ) {
    let rule = answers[index].rule
    let isMeant = rule.covers(app: event.app) && rule.covers(time: event.time)
    switch rule.kind {
    case .noWrites(let folder):
      if isMeant { judgeWrite(index, event, below: folder, before) }
    case .stopsWithin(let seconds, let orExit):
      for case .scope(let scope, let ending?) in closed
      where rule.covers(app: scope.app) && rule.covers(time: scope.since) {
        judgeStop(index, scope, ending, seconds, orExit)
      }
    case .noGrants(let document, let access, let folder):
      if isMeant, event.isNewGrant { judgeGrant(index, event, document, access, folder) }
    case .scopesAtMost(let most, let per): count(index, event, closed, most, per, isMeant)
    case .noEvents(let kind, let result, let name):
      guard isMeant, event.kind == kind, result == nil || event.result == result, name == nil || event.rule == name
      else { return }
      answers[index].judged += 1
      violated(index, event.sequence, "\(event.who) \(event.sentence)")
    case .grantsBy(let ways):
      guard isMeant, event.isNewGrant else { return }
      answers[index].judged += 1
      guard let how = event.how else {
        return unknown(index, event.sequence, "the entry does not say how the grant to \(event.who) came about")
      }
      if !ways.contains(how) {
        violated(index, event.sequence, "\(event.who) was granted \(event.subject) by \(how)")
      }
    case .onlyDuring(let hours, let kinds):
      guard isMeant, event.result == .allowed, kinds.contains(event.kind) else { return }
      answers[index].judged += 1
      if !hours.contains(event.time) {
        violated(index, event.sequence, "\(event.who) \(event.sentence), at \(Timestamp(event.time).text)")
      }
    }
  }

  private mutating func judgeWrite(_ index: Int, _ event: AuditEvent, below folder: String, _ before: RecordedGrant?) {
    guard event.result == .allowed else { return }
    let grant = event.grant.flatMap { history.grants[$0] } ?? before
    let access: RecordedAccess?
    switch event.kind {
    // The start that these were nested in has been judged.
    case .start where event.standsForOthers: return
    // The scope's rights are those of its grant.
    case .start: access = event.access ?? grant?.access
    case .descriptor, .passed: access = event.access
    case .replaced where event.how == "app": access = .readWrite
    default: return
    }
    guard access != .readOnly else { return }
    guard let path = [event.document?.path, grant?.document?.path].compactMap(\.self).first(where: { !$0.isEmpty })
    else {
      return unknown(index, event.sequence, "it is not known where the document lay that \(event.who) could write")
    }
    // A folder that holds this one is as good.
    guard path.lies(within: folder) || folder.lies(below: path) else { return }
    answers[index].judged += 1
    if access == nil {
      unknown(index, event.sequence, "it is not known whether \(event.who) could write \(path), or only read it")
    } else {
      violated(index, event.sequence, "\(event.who) \(event.sentence): \(path)")
    }
  }

  private mutating func judgeStop(
    _ index: Int, _ scope: RecordedScope, _ ending: RecordedScopeEnding, _ seconds: Int, _ orExit: Bool
  ) {
    answers[index].judged += 1
    let name = scope.document?.name ?? "grant \(scope.key.grant)"
    let lasted = ending.time.timeIntervalSince(scope.since)
    if !ending.isExact, lasted > Double(seconds) {
      return judgeUnheard(index, scope, ending.certain, seconds)
    }
    if lasted > Double(seconds) {
      return violated(
        index, scope.sequence,
        "\(scope.app) started \(name), and it ended \(LogRule.span(Int(lasted))) later, with entry \(ending.sequence)")
    }
    switch ending.cause {
    case .processEnded, .appEnded:
      if !orExit {
        violated(index, scope.sequence, "\(scope.app) started \(name), and ended without stopping it")
      }
    case .unknown:
      unknown(
        index, scope.sequence, "\(scope.app) started \(name); its broker died, and how that went on is not in the log")
    case .stopped, .withdrawn, .brokerEnded, .notShown: break
    }
  }

  /// Its broker died, and the log does not say when it ended.
  private mutating func judgeUnheard(_ index: Int, _ scope: RecordedScope, _ certain: Date, _ seconds: Int) {
    let name = scope.document?.name ?? "grant \(scope.key.grant)"
    let lasted = certain.timeIntervalSince(scope.since)
    if lasted > Double(seconds) {
      return violated(
        index, scope.sequence,
        "\(scope.app) started \(name), and it was started for \(LogRule.span(Int(lasted))) at least")
    }
    unknown(
      index, scope.sequence, "\(scope.app) started \(name); its broker died, and how that went on is not in the log")
  }

  private mutating func judgeGrant(
    _ index: Int, _ event: AuditEvent, _ document: String?, _ access: RecordedAccess?, _ folder: String?
  ) {
    answers[index].judged += 1
    let path = event.document?.path ?? ""
    if let folder, !path.lies(within: folder) { return }
    if let access, let known = event.access, known != access { return }
    if let document, let known = event.detail[AuditEvent.Fact.documentKind], known != document { return }
    guard access == nil || event.access != nil, document == nil || event.detail[AuditEvent.Fact.documentKind] != nil
    else { return unknown(index, event.sequence, "the entry does not say what \(event.who) was granted: \(path)") }
    violated(index, event.sequence, "\(event.who) \(event.sentence): \(path)")
  }

  private mutating func count(
    _ index: Int, _ event: AuditEvent, _ closed: [RecordedInterval], _ most: Int, _ per: LogRule.Counted,
    _ isMeant: Bool
  ) {
    let rule = answers[index].rule
    for case .scope(let scope, _) in closed where rule.covers(app: scope.app) {
      counts[index, default: [:]][per.key(scope), default: 0] -= 1
      if counts[index]?[per.key(scope)] == 0 { counts[index]?[per.key(scope)] = nil }
    }
    guard event.kind == .start, event.result == .allowed, let key = RecordedScope.Key(event),
      let scope = history.active[key.instance]?[key], scope.sequence == event.sequence, rule.covers(app: scope.app)
    else { return }
    let now = (counts[index]?[per.key(scope)] ?? 0) + 1
    counts[index, default: [:]][per.key(scope)] = now
    guard isMeant else { return }
    answers[index].judged += 1
    if now > most {
      violated(index, event.sequence, "\(scope.app) started \(event.subject), and \(now) were started at a time")
    }
  }

  private mutating func judgeEnd(_ index: Int) {
    let rule = answers[index].rule
    switch rule.kind {
    case .stopsWithin(let seconds, _):
      for scope in history.scopes where rule.covers(app: scope.app) && rule.covers(time: scope.since) {
        guard let end = history.time else { break }
        answers[index].judged += 1
        if let gap = scope.gap {
          if end.timeIntervalSince(scope.since) > Double(seconds) { judgeUnheard(index, scope, gap.from, seconds) }
          continue
        }
        guard end.timeIntervalSince(scope.since) > Double(seconds) else { continue }
        let name = scope.document?.name ?? "grant \(scope.key.grant)"
        violated(index, scope.sequence, "\(scope.app) started \(name), and it is started still when the log ends")
      }
    case .scopesAtMost:
      if !history.isWhole {
        unknown(index, 0, "the log's beginning is gone, and with it what was started before")
      }
      return
    default: break
    }
    // A rule about a later time is not concerned.
    guard !history.isWhole, let began, rule.since.map({ $0 < began }) ?? true else { return }
    unknown(index, 0, "the log's beginning is gone, and with it what happened before \(Timestamp(began).text)")
  }
}

extension LogRule.Counted {
  fileprivate func key(_ scope: RecordedScope) -> String {
    switch self {
    case .process: "\(scope.key.instance) \(scope.key.process ?? 0)"
    case .instance: scope.key.instance
    case .app: scope.app
    case .all: ""
    }
  }
}

extension AuditEvent {
  /// A grant that came to be with this entry.
  fileprivate var isNewGrant: Bool {
    kind == .grant && result == .allowed && detail[AuditEvent.Fact.kept] != "true"
  }

  fileprivate var access: RecordedAccess? { detail[AuditEvent.Fact.access].flatMap(RecordedAccess.init) }
  fileprivate var who: String { app ?? "somebody" }
  fileprivate var subject: String { document?.name ?? grant.map { "grant \($0)" } ?? "a document" }
}
