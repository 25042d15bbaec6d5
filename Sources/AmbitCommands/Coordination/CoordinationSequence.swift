internal import Foundation
internal import Paths
internal import Wire

/// Recorded accesses as a sequence: one step after the other, between processes.
struct CoordinationSequence {
  /// A process that uses files or presents them.
  struct Lifeline: Hashable {
    let run: Int
    let app: String
    let process: Int
  }

  enum Act: Equatable {
    case asks
    case question(String)
    case answer(InspectorInterface.PresenterQuestion.Outcome, after: Int)
    case begins(after: Int)
    case refused(String)
    case moves(String)
    case ends(after: Int)
  }

  struct Step {
    let time: Date
    /// The place of its access in ``accesses``.
    let access: Int
    let act: Act
    let from: Int
    /// Of questions and answers.
    let to: Int?
    fileprivate let order: (Int, Int64, Int)
  }

  let accesses: [RecordedAccess]
  let verdicts: [CoordinationReplay.Verdict]
  private(set) var lifelines: [Lifeline] = []
  private(set) var steps: [Step] = []

  /// - Parameter isShown: which accesses it has.
  init(
    _ accesses: [RecordedAccess], _ verdicts: [CoordinationReplay.Verdict], where isShown: (RecordedAccess) -> Bool
  ) {
    let shown = zip(accesses, verdicts).filter { isShown($0.0) }
    (self.accesses, self.verdicts) = (shown.map(\.0), shown.map(\.1))
    var places: [Lifeline: Int] = [:]
    var lines: [Lifeline] = []
    func place(_ run: Int, _ party: InspectorInterface.Party?) -> Int {
      let line = Lifeline(run: run, app: party?.app ?? "a presenter", process: party?.process ?? 0)
      if let place = places[line] { return place }
      places[line] = lines.count
      lines.append(line)
      return lines.count - 1
    }
    var steps: [Step] = []
    // Processes stand in the order of their first appearance.
    for (index, access) in self.accesses.enumerated().sorted(by: { $0.element.arrival < $1.element.arrival }) {
      let own = place(access.run, access.party)
      func add(_ after: Int, _ act: Act, from: Int? = nil, to: Int? = nil) {
        steps.append(
          Step(
            time: access.date(after), access: index, act: act, from: from ?? own, to: to,
            order: (access.run, access.facts == nil ? Int64(after) : access.moment(after), steps.count)))
      }
      add(0, .asks)
      let presenters = Dictionary((access.facts?.presenters ?? []).map { ($0.presenter, $0.party) }) { $1 }
      for question in access.facts?.questions ?? [] {
        let presenter = place(access.run, presenters[question.presenter])
        add(question.asked, .question(CoordinationWords.request(question.asks)), to: presenter)
        guard let ended = question.ended, let outcome = question.outcome else { continue }
        add(ended, .answer(outcome, after: ended - question.asked), from: presenter, to: own)
      }
      switch access.outcome {
      case .granted: add(access.waited, .begins(after: access.waited))
      case .refused(let rule, let reason): add(access.waited, .refused(reason ?? rule ?? "no reason"))
      }
      for move in access.moves { add(move.after, .moves(move.to)) }
      if let held = access.held { add(access.waited + held, .ends(after: held)) }
    }
    lifelines = lines
    // A decision stands behind the answer that led to it, and the end of one access before the beginning of the next.
    self.steps = steps.sorted { $0.order < $1.order }
  }

  func name(_ lifeline: Int) -> String {
    let line = lifelines[lifeline]
    return line.process == 0 ? line.app : "\(line.app) (\(line.process))"
  }

  /// “write a.txt”, with the whole path where there is room for it.
  func use(_ access: RecordedAccess, short: Bool) -> String {
    let items = access.facts?.items ?? []
    let words = items.map { "\(CoordinationWords.use($0)) \(short ? $0.path.lastPathName : $0.path)" }
    guard let first = words.first else { return "use a file" }
    if short, words.count > 1 { return "\(first) and \(words.count - 1) more" }
    return words.joined(separator: ", ")
  }

  /// In words.
  func text(_ step: Step, short: Bool = false) -> String {
    let access = accesses[step.access]
    switch step.act {
    case .asks: return "asks to \(access.prepares ? "prepare: " : "")\(use(access, short: short))"
    case .question(let words): return words
    case .answer(let outcome, let after):
      let time = CoordinationWords.time(after)
      switch outcome {
      case .answered: return "done, after \(time)"
      case .failed: return "could not, after \(time)"
      case .silent: return "no answer for \(time)"
      case .left: return "has left, after \(time)"
      case .withdrawn: return "not needed, after \(time)"
      }
    case .begins(let after): return after < 50_000_000 ? "begins" : "begins, after \(CoordinationWords.time(after))"
    case .refused(let reason): return "is refused: \(reason)"
    case .moves(let place): return "has moved it to \(short ? place.lastPathName : place)"
    case .ends(let after): return "ends, after \(CoordinationWords.time(after))"
    }
  }
}

extension RecordedAccess {
  var arrival: Date { date(0) }
}
