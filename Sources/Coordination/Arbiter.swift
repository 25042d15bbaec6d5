internal import Paths

/// Decides on coordinated access: many readers or one writer of an item, presenters who are asked first, fair queues (`COO-1`…`COO-30`).
///
/// A value without kernel, clock or connections. An input leads to effects, which the caller carries out in their order; the same inputs
/// at the same times lead to the same effects.
///
/// A request is *waiting* until no earlier one stands in its way, *asking* until the presenters have answered, then *granted* until it
/// is done. Later requests wait for it in each of these states, so that neither readers nor writers starve.
package struct Arbiter: Sendable {
  /// Requests that are not over, by number; numbers rise in the order of arrival.
  private(set) package var entries: [Int: Entry] = [:]
  private(set) package var presenters: [Int: Presenter] = [:]
  /// Questions without an answer.
  private(set) package var questions: [Int: Asked] = [:]
  private(set) package var suspended: Set<Int> = []
  private var nextQuestion = 1
  private var effects: [Effect] = []
  private var now: Int64 = 0

  package struct Entry: Sendable {
    package var request: Request
    package var phase = Phase.waiting
    /// Requests that have to end first.
    package var blockers: Set<Int> = []
    /// Requests that wait for this one.
    package var followers: Set<Int> = []
    /// Requests that came earlier, and that this one goes before.
    var overtaken: Set<Int> = []
    /// Questions of each presenter that are still to come.
    var agenda: [Int: [Question]] = [:]
    /// Questions without an answer.
    package var outstanding: Set<Int> = []
    /// Presenters that have let go for it, in the order of their answers, and the answered questions.
    package var relinquished: [Int] = []
    var answered: [Int: [Question]] = [:]
    /// Since when nothing before it has ended.
    package var since: Int64
    package var arrived: Int64
  }

  package enum Phase: String, Sendable { case waiting, asking, granted }

  package struct Asked: Sendable, Hashable {
    package var presenter: Int
    package var question: Question
    package var request: Int
    package var since: Int64
  }

  package init() {}

  /// - Parameter now: nanoseconds of a clock that does not go back.
  package mutating func apply(_ input: Input, at now: Int64) -> [Effect] {
    self.now = max(self.now, now)
    effects = []
    switch input {
    case .request(let id, let request): add(id, request)
    case .answer(let question, let error): answer(question, error)
    case .done(let id): finish(id)
    case .cancel(let id, let canceller): if isPending(id) { refuse(id, .cancelled(canceller)) }
    case .addPresenter(let id, let presenter): presenters[id] = presenter
    case .removePresenter(let id): removePresenter(id)
    case .clientEnded(let client): end(client)
    case .suspend(let client): suspend(client)
    case .resume(let client): suspended.remove(client)
    case .moved(let from, let to, let request): move(from, to, by: request)
    case .changed(let path, let change): tell(of: change, at: path, by: nil, isCoordinated: false)
    case .time: passTime()
    }
    return effects
  }

  /// When ``Input/time`` is due next, in nanoseconds of the same clock; `nil`: nothing waits for the clock.
  package var nextDue: Int64? {
    let asked = questions.values.compactMap { asked in patience(of: asked.request).map { asked.since + $0 } }
    let blocked = entries.values.compactMap { entry in
      entry.phase != .granted && !entry.blockers.isEmpty ? entry.request.patience.map { entry.since + $0 } : nil
    }
    return (asked + blocked).min()
  }

  private func patience(of id: Int) -> Int64? { entries[id]?.request.patience }
  private func isPending(_ id: Int) -> Bool { entries[id].map { $0.phase != .granted } ?? false }

  // MARK: Coming and going

  private mutating func add(_ id: Int, _ request: Request) {
    precondition(entries[id] == nil, "request \(id) came twice")
    if suspended.contains(request.client) {
      effects.append(.refuse(id, .cancelled(.suspension)))
      return
    }
    entries[id] = Entry(request: request, since: now, arrived: now)
    for (other, entry) in entries where other != id && conflict(entry.request, request) { block(id, by: other) }
    guard untangle(id) else { return }
    advance(id)
  }

  private func conflict(_ one: Request, _ other: Request) -> Bool {
    guard !one.isPreparation, !other.isPreparation, one.party.purpose != other.party.purpose else { return false }
    return one.intents.contains { intent in other.intents.contains { intent.conflicts(with: $0) } }
  }

  private mutating func block(_ id: Int, by other: Int) {
    entries[id]?.blockers.insert(other)
    entries[other]?.followers.insert(id)
  }

  private mutating func unblock(_ id: Int, from other: Int) {
    entries[id]?.blockers.remove(other)
    entries[other]?.followers.remove(id)
  }

  private mutating func finish(_ id: Int) {
    guard let entry = entries[id], entry.phase == .granted else { return }
    for intent in entry.request.intents {
      guard case .write(let options) = intent.use, options.isDisjoint(with: .forMoving) else { continue }
      let change: Change =
        options.contains(.forDeleting)
        ? .deleted : options == .contentIndependentMetadataOnly ? .attributes : .content
      tell(of: change, at: intent.item.path, by: id, isCoordinated: true)
    }
    remove(id)
  }

  private mutating func refuse(_ id: Int, _ refusal: Refusal) {
    effects.append(.refuse(id, refusal))
    remove(id)
  }

  /// Nobody waits for it any more, and presenters may have their items back.
  private mutating func remove(_ id: Int) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    for number in entry.outstanding.sorted() {
      guard let asked = questions.removeValue(forKey: number) else { continue }
      effects.append(.withdraw(question: number, presenter: asked.presenter))
    }
    for presenter in entry.relinquished where presenters[presenter] != nil {
      effects.append(.reacquire(presenter: presenter, after: id))
    }
    for other in entry.blockers { entries[other]?.followers.remove(id) }
    for other in entry.followers {
      entries[other]?.blockers.remove(id)
      entries[other]?.since = now
    }
    for other in entry.followers.sorted() { advance(other) }
  }

  private mutating func end(_ client: Int) {
    suspended.remove(client)
    // Nobody answers any more; only then do those who wait go on.
    for id in presenters.keys.sorted() where presenters[id]?.client == client { removePresenter(id) }
    for id in entries.keys.sorted() where entries[id]?.request.client == client {
      // It may have written anything.
      if entries[id]?.phase == .granted { finish(id) } else { remove(id) }
    }
  }

  private mutating func suspend(_ client: Int) {
    suspended.insert(client)
    let asked = questions.filter { presenters[$0.value.presenter]?.client == client }.keys.sorted()
    for number in asked { skip(number) }
    for id in entries.keys.sorted() where entries[id]?.request.client == client && isPending(id) {
      refuse(id, .cancelled(.suspension))
    }
  }

  private mutating func removePresenter(_ id: Int) {
    presenters[id] = nil
    let asked = questions.filter { $0.value.presenter == id }.keys.sorted()
    for number in asked { skip(number) }
  }

  // MARK: Asking

  private mutating func advance(_ id: Int) {
    guard let entry = entries[id], entry.blockers.isEmpty else { return }
    if entry.phase == .waiting { ask(id) }
    grantIfPossible(id)
  }

  private mutating func ask(_ id: Int) {
    entries[id]?.phase = .asking
    for (presenter, questions) in agenda(of: id) {
      entries[id]?.agenda[presenter] = questions
      askNext(presenter, for: id)
    }
  }

  private mutating func askNext(_ presenter: Int, for id: Int) {
    guard let question = entries[id]?.agenda[presenter]?.first else { return }
    entries[id]?.agenda[presenter]?.removeFirst()
    let number = nextQuestion
    nextQuestion += 1
    questions[number] = Asked(presenter: presenter, question: question, request: id, since: now)
    entries[id]?.outstanding.insert(number)
    effects.append(.ask(question: number, presenter: presenter, question, for: id))
  }

  private mutating func answer(_ number: Int, _ error: String?) {
    guard let asked = questions.removeValue(forKey: number), let entry = entries[asked.request] else { return }
    entries[asked.request]?.outstanding.remove(number)
    if !entry.relinquished.contains(asked.presenter) { entries[asked.request]?.relinquished.append(asked.presenter) }
    if let error {
      refuse(asked.request, .presenterFailed(presenter: asked.presenter, error))
      return
    }
    entries[asked.request]?.answered[asked.presenter, default: []].append(asked.question)
    askNext(asked.presenter, for: asked.request)
    grantIfPossible(asked.request)
  }

  /// The presenter is gone, or not waited for.
  private mutating func skip(_ number: Int) {
    guard let asked = questions.removeValue(forKey: number) else { return }
    entries[asked.request]?.outstanding.remove(number)
    entries[asked.request]?.agenda[asked.presenter] = nil
    if presenters[asked.presenter] != nil {
      effects.append(.withdraw(question: number, presenter: asked.presenter))
      // It may have let go: then it hears of the end.
      if entries[asked.request]?.relinquished.contains(asked.presenter) == false {
        entries[asked.request]?.relinquished.append(asked.presenter)
      }
    }
    grantIfPossible(asked.request)
  }

  private mutating func grantIfPossible(_ id: Int) {
    guard let entry = entries[id], entry.phase == .asking, entry.outstanding.isEmpty, entry.blockers.isEmpty else {
      return
    }
    entries[id]?.phase = .granted
    effects.append(.grant(id, paths: entry.request.intents.map(\.item.path)))
  }

  /// The questions of each presenter, in the order of the presenters' numbers.
  private func agenda(of id: Int) -> [(Int, [Question])] {
    guard let request = entries[id]?.request else { return [] }
    return presenters.sorted { $0.key < $1.key }.compactMap { number, presenter in
      guard presenter.party.purpose != request.party.purpose, !suspended.contains(presenter.client) else { return nil }
      var questions: [Question] = []
      for intent in request.intents {
        for question in intent.questions(to: presenter.item, isPreparation: request.isPreparation)
        where !questions.contains(question) { questions.append(question) }
      }
      // The stronger one says it all.
      if questions.contains(.relinquishToWriter) { questions.removeAll { $0 == .relinquishToReader } }
      let prepared = request.parents.flatMap { parent -> [Question] in
        guard case .access(let id) = parent, let entry = entries[id], entry.request.isPreparation else { return [] }
        return entry.answered[number] ?? []
      }
      questions.removeAll { question in
        prepared.contains(question)
          || question == .relinquishToReader && prepared.contains(.relinquishToWriter)
      }
      return questions.isEmpty ? nil : (number, questions)
    }
  }

  // MARK: Time

  private mutating func passTime() {
    for number in questions.keys.sorted() {
      guard let asked = questions[number], let entry = entries[asked.request], let patience = entry.request.patience,
        now - asked.since >= patience
      else { continue }
      let after = now - asked.since
      effects.append(.silent(presenter: asked.presenter, asked.question, for: asked.request, after: after))
      switch entry.request.silence {
      case .proceed: skip(number)
      case .refuse:
        refuse(asked.request, .presenterSilent(presenter: asked.presenter, asked.question, after: after))
      }
    }
    for id in entries.keys.sorted() {
      guard let entry = entries[id], entry.phase != .granted, !entry.blockers.isEmpty,
        let patience = entry.request.patience, now - entry.since >= patience
      else { continue }
      refuse(id, .held(by: holders(before: id), for: now - entry.since))
    }
  }

  /// The requests that those before it wait for in the end.
  package func holders(before id: Int) -> [Int] {
    var found: Set<Int> = []
    var seen: Set<Int> = [id]
    var left = Array(entries[id]?.blockers ?? [])
    while let next = left.popLast() {
      guard seen.insert(next).inserted, let entry = entries[next] else { continue }
      if entry.blockers.isEmpty { found.insert(next) } else { left += entry.blockers }
    }
    return found.sorted()
  }

  // MARK: Moves and changes

  private mutating func move(_ from: PathKey, _ to: PathKey, by mover: Int?) {
    guard from != to else { return }
    tellOfMove(from, to, by: mover)
    for id in presenters.keys { _ = presenters[id]?.item.follow(from: from, to: to) }
    var isRelinked = false
    for id in entries.keys {
      guard let intents = entries[id]?.request.intents else { continue }
      for (index, intent) in intents.enumerated() where !intent.keepsPath {
        if entries[id]?.request.intents[index].item.follow(from: from, to: to) == true { isRelinked = true }
      }
    }
    if isRelinked { relink() }
  }

  /// Works out anew which request waits for which: items have other paths now. What is granted stays so.
  private mutating func relink() {
    let ids = entries.keys.sorted()
    for id in ids {
      entries[id]?.blockers = []
      entries[id]?.followers = []
    }
    for (index, id) in ids.enumerated() {
      for other in ids[..<index] {
        guard let entry = entries[id], let earlier = entries[other], conflict(entry.request, earlier.request) else {
          continue
        }
        let goesFirst =
          entry.phase == .granted || entry.overtaken.contains(other) && earlier.phase != .granted
        if goesFirst {
          if earlier.phase != .granted { block(other, by: id) }
        } else {
          block(id, by: other)
        }
      }
    }
    for id in ids where isPending(id) { _ = untangle(id) }
    for id in ids where isPending(id) { advance(id) }
  }

  private func purpose(of id: Int?) -> String? { id.flatMap { entries[$0]?.request.party.purpose } }

  private mutating func tell(of change: Change, at path: PathKey, by writer: Int?, isCoordinated: Bool) {
    let own = purpose(of: writer)
    for (id, presenter) in presenters.sorted(by: { $0.key < $1.key }) where presenter.party.purpose != own {
      if let notice = change.notice(at: path, to: presenter.item, isCoordinated: isCoordinated) {
        effects.append(.notify(presenter: id, notice))
      }
    }
  }

  private mutating func tellOfMove(_ from: PathKey, _ to: PathKey, by mover: Int?) {
    let own = purpose(of: mover)
    for (id, presenter) in presenters.sorted(by: { $0.key < $1.key }) where presenter.party.purpose != own {
      var item = presenter.item
      if item.follow(from: from, to: to) {
        effects.append(.notify(presenter: id, .moved(to: item.path)))
      } else if from.text.lies(below: presenter.item.path.text) {
        effects.append(.notify(presenter: id, .subitemMoved(from, to: to)))
      } else if to.text.lies(below: presenter.item.path.text) {
        effects.append(.notify(presenter: id, .subitemAppeared(to, isCoordinated: mover != nil)))
      }
    }
  }

  // MARK: Cycles

  /// Finds cycles that a request closes. One that only runs through the order of the queue is resolved by another order; for
  /// another one the request is refused.
  ///
  /// - Returns: whether the request is still there.
  private mutating func untangle(_ id: Int) -> Bool {
    var suspects = [id]
    while let suspect = suspects.last {
      // A request that may be an answer moves ahead as well; but nothing fails because of a guess.
      let certain = cycle(through: suspect, guessing: false)
      guard let cycle = certain ?? cycle(through: suspect, guessing: true) else {
        suspects.removeLast()
        continue
      }
      let soft = zip(cycle, cycle.dropFirst() + cycle.prefix(1)).first { from, to in
        guard case .request(let first) = from, case .request(let second) = to else { return false }
        return entries[first]?.blockers.contains(second) == true && isPending(second) && isPending(first)
          && entries[second]?.overtaken.contains(first) == false
      }
      guard let (from, to) = soft, case .request(let first) = from, case .request(let second) = to else {
        guard certain != nil else {
          suspects.removeLast()
          continue
        }
        refuse(suspect, .cycle(cycle))
        if suspect == id { return false }
        suspects.removeLast()
        continue
      }
      unblock(first, from: second)
      block(second, by: first)
      entries[first]?.overtaken.insert(second)
      effects.append(.reordered(first, before: second))
      if !suspects.contains(first) { suspects.append(first) }
      // The one that went ahead may be free now; it begins when nothing is tangled any more.
      freed.insert(first)
    }
    let ready = freed.subtracting([id]).sorted()
    freed = []
    for each in ready { advance(each) }
    return entries[id] != nil
  }

  private var freed: Set<Int> = []

  /// A way from a request back to itself; the last one waits for the first.
  ///
  /// - Parameter guessing: a request of a presenter's purpose that came after a question counts as made for the answer.
  private func cycle(through id: Int, guessing: Bool) -> [Refusal.Link]? {
    guard mayCloseCycle(id) else { return nil }
    var seen: Set<Refusal.Link> = []
    var path: [Refusal.Link] = []
    func visit(_ link: Refusal.Link) -> Bool {
      path.append(link)
      for next in successors(of: link, guessing: guessing) {
        if next == .request(id) { return true }
        if seen.insert(next).inserted, visit(next) { return true }
      }
      path.removeLast()
      return false
    }
    return visit(.request(id)) ? path : nil
  }

  /// Something can only wait for a request if that is made on its account, or goes before it in the queue.
  private func mayCloseCycle(_ id: Int) -> Bool {
    guard let entry = entries[id] else { return false }
    return !entry.followers.isEmpty || !entry.request.parents.isEmpty
      || questions.values.contains { isAnswer(entry, to: $0) }
  }

  /// The things that one waits for, in order.
  private func successors(of link: Refusal.Link, guessing: Bool) -> [Refusal.Link] {
    switch link {
    case .request(let id):
      guard let entry = entries[id] else { return [] }
      if entry.phase != .granted {
        return entry.blockers.sorted().map { .request($0) } + entry.outstanding.sorted().map { .question($0) }
      }
      return entries.filter { $0.value.phase != .granted && $0.value.request.parents.contains(.access(id)) }
        .keys.sorted().map { .request($0) }
    case .question(let number):
      guard let asked = questions[number] else { return [] }
      return entries.filter { _, entry in
        entry.phase != .granted
          && (entry.request.parents.contains(.question(number)) || guessing && isAnswer(entry, to: asked))
      }.keys.sorted().map { .request($0) }
    }
  }

  /// Whether a presenter may have made a request to answer a question: it came after that, and has the presenter's purpose.
  private func isAnswer(_ entry: Entry, to asked: Asked) -> Bool {
    guard let presenter = presenters[asked.presenter], entry.arrived >= asked.since else { return false }
    return presenter.party.purpose == entry.request.party.purpose && presenter.client == entry.request.client
  }
}
