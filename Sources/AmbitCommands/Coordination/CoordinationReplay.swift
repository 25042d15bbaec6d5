internal import Coordination
internal import Paths
internal import Wire

/// Has a fresh arbiter decide again the accesses that a log has: the same arrivals, answers and ends at the same times.
struct CoordinationReplay {
  enum Verdict: Equatable {
    case same
    /// It decides otherwise; how, and the possible reason.
    case different(String)
    /// The log lacks facts; which.
    case unjudged(String)
  }

  /// In the order of the accesses.
  private(set) var verdicts: [Verdict]

  init(_ accesses: [RecordedAccess]) {
    verdicts = accesses.map { access in
      access.facts == nil
        ? .unjudged("its entry lacks the facts: it comes from an earlier version of Ambit, or was too long") : .same
    }
    for (_, indices) in Dictionary(grouping: accesses.indices, by: { accesses[$0].run }) {
      var broker = ReplayedBroker(indices.map { accesses[$0] })
      for happening in Self.happenings(accesses, indices) {
        if let verdict = broker.take(happening, accesses) { verdicts[happening.access] = verdict }
      }
    }
  }

  /// Something that happened to the arbiter, or that it did.
  struct Happening {
    enum Kind {
      case registration(InspectorInterface.FilePresenter)
      /// The presenters of the access, just before nothing stands in its way.
      case presenters
      case arrival
      /// The end of a question, by its place among those of the access.
      case answer(Int)
      case decision
      case move(Int)
      case end
    }

    var time: Int64
    let access: Int
    let kind: Kind

    /// At one time, presenters come first, and a decision follows from all of it.
    var rank: Int {
      switch kind {
      case .registration: 0
      case .presenters: 1
      case .end, .move, .answer: 2
      case .arrival: 3
      case .decision: 4
      }
    }

    /// Whether an access may begin to ask because of it.
    func isCause(_ access: RecordedAccess) -> Bool {
      switch kind {
      case .arrival, .end, .move, .answer: true
      case .decision: access.outcome != .granted
      case .registration, .presenters: false
      }
    }
  }

  private static func happenings(_ accesses: [RecordedAccess], _ indices: [Int]) -> [Happening] {
    var result: [Happening] = []
    var registered: Set<Int> = []
    for index in indices {
      let access = accesses[index]
      guard let facts = access.facts else { continue }
      func add(_ after: Int, _ kind: Happening.Kind) {
        result.append(Happening(time: access.moment(after), access: index, kind: kind))
      }
      for presenter in facts.presenters ?? [] where registered.insert(presenter.presenter).inserted {
        result.append(Happening(time: Int64(presenter.since), access: index, kind: .registration(presenter)))
      }
      add(0, .arrival)
      for (place, question) in (facts.questions ?? []).enumerated() {
        if let ended = question.ended { add(ended, .answer(place)) }
      }
      add(access.waited, .decision)
      for (place, move) in access.moves.enumerated() { add(move.after, .move(place)) }
      if let held = access.held { add(access.waited + held, .end) }
    }
    result.sort { ($0.time, $0.rank, $0.access) < ($1.time, $1.rank, $1.access) }
    result = once(result, accesses)
    // Its presenters are known from the time at which it was their turn. They were there just before the cause of that.
    for index in indices {
      guard let first = accesses[index].facts?.first else { continue }
      let time = accesses[index].moment(first)
      let cause = result.last { $0.time <= time && $0.isCause(accesses[$0.access]) }
      result.append(Happening(time: cause?.time ?? time, access: index, kind: .presenters))
    }
    return result.sorted { ($0.time, $0.rank, $0.access) < ($1.time, $1.rank, $1.access) }
  }
}

extension CoordinationReplay {
  /// A move that no access made is noted in each that was not over then.
  fileprivate static func once(_ happenings: [Happening], _ accesses: [RecordedAccess]) -> [Happening] {
    var last: [String: Int64] = [:]
    return happenings.filter { happening in
      guard case .move(let place) = happening.kind else { return true }
      let move = accesses[happening.access].moves[place]
      let before = last.updateValue(happening.time, forKey: "\(move.from)\0\(move.to)")
      return before.map { happening.time - $0 > 1_000_000 } ?? true
    }
  }
}

/// The arbiter of one broker, deciding again.
private struct ReplayedBroker {
  private var arbiter = Arbiter()
  private var decisions: [Int: Decision] = [:]
  /// The questions of each access now.
  private var asked: [Int: Set<Asked>] = [:]
  /// The questions of then, by their numbers.
  private let questions: [Int: Questioned]
  private var known: Set<Int> = []
  private var presenters: [Int: InspectorInterface.FilePresenter] = [:]
  private var inputs = 0

  private struct Decision {
    /// `nil`: granted.
    let refusal: Refusal?
    /// The number of inputs until then, and the time.
    let inputs: Int
    let time: Int64
  }

  private struct Asked: Hashable {
    let presenter: Int
    let asks: CoordinationInterface.Question
  }

  private struct Questioned {
    let access: Int
    let asked: Asked
  }

  init(_ accesses: [RecordedAccess]) {
    var questions: [Int: Questioned] = [:]
    for access in accesses {
      for question in access.facts?.questions ?? [] {
        questions[question.question] = Questioned(
          access: access.number, asked: Asked(presenter: question.presenter, asks: question.asks))
      }
    }
    self.questions = questions
  }

  /// The same question of now.
  private func number(of question: Int) -> Int? {
    guard let then = questions[question] else { return nil }
    return arbiter.questions.filter {
      $0.value.request == then.access && $0.value.presenter == then.asked.presenter
        && $0.value.question.wire == then.asked.asks
    }.keys.min()
  }

  /// - Returns: of a decision: whether it is the same.
  mutating func take(_ happening: CoordinationReplay.Happening, _ accesses: [RecordedAccess]) -> CoordinationReplay
    .Verdict?
  {
    let access = accesses[happening.access]
    guard let facts = access.facts else { return nil }
    let time = happening.time
    // A wait that should long be over, and was not.
    if let due = arbiter.nextDue, due + Self.grace < time { apply(.time, at: time) }
    switch happening.kind {
    case .registration(let presenter): add(presenter, at: time)
    case .presenters: settle(facts, at: time)
    case .arrival:
      guard known.insert(access.number).inserted else { return nil }
      inputs += 1
      apply(.request(access.number, request(access, facts)), at: time)
    case .answer(let place): answer(facts.questions?[place], at: time)
    case .move(let place):
      inputs += 1
      let move = access.moves[place]
      apply(.moved(PathKey(move.from), to: PathKey(move.to), by: access.number), at: time)
    case .end:
      inputs += 1
      // One that was not granted now must not keep others waiting.
      let isGranted = arbiter.entries[access.number]?.phase == .granted
      apply(isGranted ? .done(access.number) : .cancel(access.number, by: .caller), at: time)
    case .decision: return judge(access, facts, at: time)
    }
    return nil
  }

  /// Nanoseconds.
  private static let grace: Int64 = 1_000_000_000

  private mutating func apply(_ input: Input, at time: Int64) {
    for effect in arbiter.apply(input, at: time) {
      switch effect {
      case .ask(_, let presenter, let question, let id):
        asked[id, default: []].insert(Asked(presenter: presenter, asks: question.wire))
      case .grant(let id, _): decisions[id] = Decision(refusal: nil, inputs: inputs, time: time)
      case .refuse(let id, let refusal): decisions[id] = Decision(refusal: refusal, inputs: inputs, time: time)
      default: break
      }
    }
  }

  // MARK: Presenters

  private mutating func add(_ presenter: InspectorInterface.FilePresenter, at time: Int64) {
    presenters[presenter.presenter] = presenter
    let new = Presenter(
      client: presenter.client, party: Party(presenter.party), item: Item(presenter.path, package: presenter.package))
    // It may have been moved by a program that coordinates nothing.
    if arbiter.presenters[presenter.presenter] != new { apply(.addPresenter(presenter.presenter, new), at: time) }
  }

  /// Presenters of its items that the log does not name had left by then.
  private mutating func settle(_ facts: InspectorInterface.Arbitration, at time: Int64) {
    for presenter in facts.presenters ?? [] { add(presenter, at: time) }
    let there = Set((facts.presenters ?? []).map(\.presenter))
    let places = facts.items.map { $0.package ?? $0.path }
    for (id, presenter) in arbiter.presenters where !there.contains(id) {
      let place = presenter.item.place.text
      if places.contains(where: { $0.lies(within: place) || place.lies(within: $0) }) {
        apply(.removePresenter(id), at: time)
      }
    }
  }

  private mutating func answer(_ question: InspectorInterface.PresenterQuestion?, at time: Int64) {
    guard let question, let outcome = question.outcome else { return }
    let number = number(of: question.question)
    inputs += 1
    switch outcome {
    case .answered: if let number { apply(.answer(number, error: nil), at: time) }
    case .failed: if let number { apply(.answer(number, error: "it could not"), at: time) }
    case .silent: apply(.time, at: time)
    case .left: apply(.removePresenter(question.presenter), at: time)
    case .withdrawn: break
    }
  }

  // MARK: Requests

  private func request(_ access: RecordedAccess, _ facts: InspectorInterface.Arbitration) -> Request {
    Request(
      client: facts.client, party: Party(access.party), intents: facts.items.map { Intent($0) },
      parents: (facts.within ?? []).map { .access($0) }
        // The same question has another number now.
        + (facts.answering ?? []).compactMap { number(of: $0).map { .question($0) } },
      isPreparation: access.prepares, patience: facts.patience.map(Int64.init),
      silence: facts.proceeds == true ? .proceed : .refuse)
  }

  // MARK: Verdicts

  private mutating func judge(
    _ access: RecordedAccess, _ facts: InspectorInterface.Arbitration, at time: Int64
  ) -> CoordinationReplay.Verdict {
    let id = access.number
    if case .refused(let rule, _) = access.outcome, decisions[id] == nil {
      // These come from without: the user, the app, the clock.
      inputs += 1
      switch rule {
      case "COO-14": apply(.cancel(id, by: .caller), at: time)
      case "COO-23": apply(.cancel(id, by: .suspension), at: time)
      case "COO-8": apply(.time, at: time)
      default: break
      }
    }
    let verdict = verdict(access, facts)
    // From here on both go the same way.
    switch (access.outcome, arbiter.entries[id]?.phase) {
    case (.refused, .granted?): apply(.done(id), at: time)
    case (.refused, .some): apply(.cancel(id, by: .caller), at: time)
    default: break
    }
    return verdict
  }

  private func verdict(
    _ access: RecordedAccess, _ facts: InspectorInterface.Arbitration
  ) -> CoordinationReplay.Verdict {
    guard let decision = decisions[access.number] else { return .different(waiting(access.number)) }
    switch (access.outcome, decision.refusal) {
    case (.granted, nil):
      if let difference = questionDifference(access.number, facts) { return .different(difference) }
      guard decision.inputs == inputs else {
        let early = access.moment(access.waited) - decision.time
        return .different(
          "it is granted \(CoordinationWords.time(Int(early))) earlier: something stood in its way then that the log does "
            + "not have, such as an access from before its first entry")
      }
      return .same
    case (.refused(let rule, _), let refusal?):
      return rule == refusal.rule
        ? .same : .different("it is refused by \(refusal.rule), and not by \(rule ?? "a rule")")
    case (.granted, let refusal?): return .different("it is refused (\(refusal.rule))")
    case (.refused, nil): return .different("it is granted: a holder or a presenter of then is not in the log")
    }
  }

  private func waiting(_ id: Int) -> String {
    guard let entry = arbiter.entries[id] else { return "it does not come to a decision" }
    let holders = arbiter.blockers(of: id).sorted().map { "access \($0)" }
    let silent = entry.outstanding.compactMap { arbiter.questions[$0]?.presenter }
    let names =
      holders
      + Set(silent).sorted().map { presenter in
        presenters[presenter].map { "the presenter \(CoordinationWords.name($0.party))" } ?? "a presenter"
      }
    return
      "it still waits for \(names.joined(separator: " and ")): the log lacks an end or an answer, or a file was moved "
      + "by a program that coordinates nothing"
  }

  private func questionDifference(_ id: Int, _ facts: InspectorInterface.Arbitration) -> String? {
    let then = Set((facts.questions ?? []).map { Asked(presenter: $0.presenter, asks: $0.asks) })
    let now = asked[id] ?? []
    func words(_ questions: Set<Asked>) -> String {
      questions.map { question in
        let name = presenters[question.presenter].map { CoordinationWords.name($0.party) } ?? "a presenter"
        return "\(name) is asked to \(CoordinationWords.request(question.asks))"
      }.sorted().joined(separator: ", ")
    }
    if !now.isSubset(of: then) {
      return "\(words(now.subtracting(then))): then it was not; it may have left just before"
    }
    if !then.isSubset(of: now) {
      return
        "the log has it that \(words(then.subtracting(now))): now it is not; a file may have been moved by a program "
        + "that coordinates nothing"
    }
    return nil
  }
}

extension Party {
  /// As the broker makes it: two apps never share a purpose.
  fileprivate init(_ party: InspectorInterface.Party) {
    self.init(
      app: party.app, process: Int32(truncatingIfNeeded: party.process),
      purpose: "\(party.instance == nil ? "" : party.app)\n\(party.purpose)")
  }
}

extension Intent {
  /// Options that this version does not know are left out.
  fileprivate init(_ item: InspectorInterface.CoordinatedItem) {
    let place = Item(item.path, package: item.package)
    switch item.use {
    case .read: self.init(place, .read(ReadingOptions(names: item.options, CoordinationInterface.readingOptions) ?? []))
    case .write:
      self.init(place, .write(WritingOptions(names: item.options, CoordinationInterface.writingOptions) ?? []))
    }
  }
}

extension Question {
  fileprivate var wire: CoordinationInterface.Question {
    switch self {
    case .relinquishToReader: .relinquishToReader
    case .relinquishToWriter: .relinquishToWriter
    case .saveChanges: .saveChanges
    case .accommodateDeletion: .accommodateDeletion
    case .accommodateSubitemDeletion: .accommodateSubitemDeletion
    }
  }
}
