internal import Paths

/// Decides on coordinated access: many readers or one writer of an item, presenters that are asked first, fair queues (`COO-1`…`COO-30`).
///
/// A value without kernel, clock or connections. An input leads to effects, which the caller carries out in their order; the same inputs
/// at the same times lead to the same effects.
///
/// A request is *waiting* until no earlier one stands in its way, *asking* until the presenters have answered, then *granted* until it
/// is done. Later requests wait for it in each of these states, so that neither readers nor writers starve.
package struct Arbiter: Sendable {
  /// Requests that are not over, by number; numbers rise in the order of arrival.
  internal(set) package var entries: [Int: Entry] = [:]
  internal(set) package var presenters: [Int: Presenter] = [:]
  /// Questions without an answer.
  internal(set) package var questions: [Int: Asked] = [:]
  internal(set) package var suspended: Set<Int> = []
  /// The latest time for the next ``Input/time``, in nanoseconds of the same clock; `nil`: no request waits for the clock.
  ///
  /// It may turn out that nothing is due yet.
  internal(set) package var nextDue: Int64?

  /// Requests that are not granted.
  var pending: Set<Int> = []
  /// Requests whose blocker has ended, or whose presenters have answered. They go on when an input is dealt with in full.
  var ready: [Int] = []
  var index = Index()
  var places = Places()
  var nextQuestion = 1
  var effects: [Effect] = []
  var now: Int64 = 0

  package struct Entry: Sendable {
    package var request: Request
    package var phase = Phase.waiting
    /// The places of its intents.
    var places: [Int] = []
    /// One of the requests that have to end first. The arbiter looks for another one when it has ended.
    package var blocker: Int?
    /// Requests that have this one as their blocker.
    var followers: [Int] = []
    /// Requests that came later, and go before this one.
    var overtakers: Set<Int> = []
    /// Questions of each presenter that are still to come.
    var agenda: [Int: [Question]] = [:]
    /// Questions without an answer.
    package var outstanding: Set<Int> = []
    /// Presenters that have let go for it, in the order of their answers, and the answered questions.
    package var relinquished: [Int] = []
    var answered: [Int: [Question]] = [:]
    /// Items that it was to delete, and did not.
    var kept: Set<PathKey> = []
    /// The time of its arrival, or of the end of the last access that was its blocker.
    var since: Int64
  }

  package enum Phase: String, Sendable { case waiting, asking, granted }

  package struct Asked: Sendable, Hashable {
    package var presenter: Int
    /// The presenter's client, which stays known when the presenter is gone.
    var client: Int
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
    case .done(let id): if entries[id]?.phase == .granted { finish(id) }
    case .kept(let id, let path): entries[id]?.kept.insert(path)
    case .cancel(let id, let canceller): if pending.contains(id) { refuse(id, .cancelled(canceller)) }
    case .addPresenter(let id, let presenter): add(presenter, as: id)
    case .removePresenter(let id): removePresenter(id)
    case .clientEnded(let client): end(client)
    case .suspend(let client): suspend(client)
    case .resume(let client): suspended.remove(client)
    case .moved(let from, let to, let request): move(from, to, by: request)
    case .changed(let path, let change): tell(of: change, at: path, by: nil, isCoordinated: false)
    case .time: passTime()
    }
    settle()
    if pending.isEmpty { nextDue = nil }
    return effects
  }

  // MARK: Coming and going

  private mutating func add(_ id: Int, _ request: Request) {
    precondition(entries[id] == nil, "request \(id) came twice")
    if suspended.contains(request.client) {
      effects.append(.refuse(id, .cancelled(.suspension)))
      return
    }
    var entry = Entry(request: request, since: now)
    entry.places = request.intents.map { places.insert(id, $0) }
    entries[id] = entry
    pending.insert(id)
    index.insert(id, request)
    if mayCloseCycle(id), !untangle(id) { return }
    ready.append(id)
  }

  private mutating func finish(_ id: Int) {
    guard let entry = entries[id] else { return }
    for intent in entry.request.intents where !entry.request.isPreparation {
      guard let change = intent.change else { continue }
      let path = intent.item.path
      let isKept = change == .deleted && entry.kept.contains(path)
      tell(of: isKept ? .content : change, at: path, by: id, isCoordinated: true)
    }
    remove(id)
  }

  mutating func refuse(_ id: Int, _ refusal: Refusal) {
    effects.append(.refuse(id, refusal))
    remove(id)
  }

  /// The requests behind it go on, and presenters may have their items back.
  private mutating func remove(_ id: Int) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    pending.remove(id)
    index.remove(id, entry.request)
    for place in entry.places { places.remove(id, from: place) }
    for number in entry.outstanding.sorted() {
      guard let asked = takeQuestion(number) else { continue }
      effects.append(.withdraw(question: number, presenter: asked.presenter))
    }
    for presenter in entry.relinquished where presenters[presenter] != nil {
      effects.append(.reacquire(presenter: presenter, after: id))
    }
    if let blocker = entry.blocker { entries[blocker]?.followers.removeAll { $0 == id } }
    for follower in entry.followers {
      entries[follower]?.blocker = nil
      // A request that ends without an access brings the others no further.
      let since = entry.phase == .granted ? now : entry.since
      entries[follower]?.since.rise(to: since)
      ready.append(follower)
    }
  }

  private mutating func add(_ presenter: Presenter, as id: Int) {
    if let old = presenters.updateValue(presenter, forKey: id) { places.remove(presenter: id, old.item) }
    places.insert(presenter: id, presenter.item)
  }

  private mutating func removePresenter(_ id: Int) {
    guard let presenter = presenters.removeValue(forKey: id) else { return }
    places.remove(presenter: id, presenter.item)
    for number in index.questions(to: presenter.client) where questions[number]?.presenter == id { skip(number) }
  }

  private mutating func end(_ client: Int) {
    suspended.remove(client)
    for id in presenters.keys.sorted() where presenters[id]?.client == client { removePresenter(id) }
    for id in index.requests(of: client) {
      // It may have written anything.
      if entries[id]?.phase == .granted { finish(id) } else { remove(id) }
    }
  }

  private mutating func suspend(_ client: Int) {
    suspended.insert(client)
    for number in index.questions(to: client) { skip(number) }
    for id in index.requests(of: client) where pending.contains(id) { refuse(id, .cancelled(.suspension)) }
  }

  // MARK: Time

  /// - Parameter due: a time at which a patience may be over.
  mutating func wake(at due: Int64?) {
    guard let due else { return }
    nextDue = min(nextDue ?? due, due)
  }

  private mutating func passTime() {
    guard let due = nextDue, due <= now else { return }
    nextDue = nil
    for number in questions.keys.sorted() {
      guard let asked = questions[number], let request = entries[asked.request]?.request,
        let patience = request.patience
      else { continue }
      let after = now - asked.since
      if after < patience {
        wake(at: asked.since + patience)
        continue
      }
      effects.append(.silent(presenter: asked.presenter, asked.question, for: asked.request, after: after))
      switch request.silence {
      case .proceed: skip(number)
      case .refuse: refuse(asked.request, .presenterSilent(presenter: asked.presenter, asked.question, after: after))
      }
    }
    settle()
    var ends: [(id: Int, holders: [Int], time: Int64)] = []
    var known: [Int: Hold] = [:]
    for id in pending.sorted() {
      guard let entry = entries[id], entry.blocker != nil, let patience = entry.request.patience else { continue }
      let hold = hold(of: id, &known)
      if now - hold.since < patience {
        wake(at: hold.since + patience)
      } else {
        ends.append((id, holders(of: [id, hold.last]), now - hold.since))
      }
    }
    for (id, holders, time) in ends { refuse(id, .held(by: holders, for: time)) }
  }

  // MARK: Holders

  /// The way from a request to its blocker, to the blocker's blocker, and so on.
  private struct Hold {
    /// The last time at which an access on the way has ended, or the request came.
    var since: Int64
    /// The last request on the way that waits for another one.
    var last: Int
  }

  private func hold(of id: Int, _ known: inout [Int: Hold]) -> Hold {
    var way: [Int] = []
    var end = id
    while known[end] == nil, let entry = entries[end], let blocker = entry.blocker {
      known[end] = Hold(since: entry.since, last: end)
      way.append(end)
      end = blocker
    }
    var hold = known[end] ?? Hold(since: entries[end]?.since ?? now, last: way.last ?? id)
    for link in way.reversed() {
      hold.since.rise(to: known[link]?.since ?? now)
      known[link] = hold
    }
    return hold
  }

  /// The requests that hold it up, at its own places and at the end of its queue. They wait for no other request.
  package func holders(before id: Int) -> [Int] {
    var known: [Int: Hold] = [:]
    return holders(of: [id, hold(of: id, &known).last])
  }

  private func holders(of ids: Set<Int>) -> [Int] {
    Set(ids.flatMap { blockers(of: $0) }.filter { entries[$0]?.blocker == nil }).sorted()
  }
}

extension Int64 {
  mutating func rise(to other: Int64) { self = Swift.max(self, other) }
}
