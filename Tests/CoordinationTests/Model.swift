import Coordination
import Paths

/// The rules of coordination, recomputed after each input from the inputs and effects alone: plain and slow.
///
/// It looks at all pairs of requests and at none of the arbiter's own data.
struct Model {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// One item of a request.
  struct Use {
    var path: String
    var package: String?
    let isWrite: Bool
    let takesContents: Bool
    let keepsPath: Bool

    init(_ intent: Intent) {
      path = intent.item.path.text
      package = intent.item.package?.text
      switch intent.use {
      case .read: (isWrite, takesContents, keepsPath) = (false, false, false)
      case .write(let options):
        isWrite = true
        takesContents =
          options.contains(.forDeleting) || options.contains(.forMoving) || options.contains(.forReplacing)
        keepsPath = options.contains(.forReplacing)
      }
    }

    /// `COO-1`, `COO-2`, `COO-3`.
    func meets(_ other: Use) -> Bool {
      let (own, others) = (package ?? path, other.package ?? other.path)
      if own == others { return isWrite || other.isWrite }
      if others.hasPrefix(own + "/") { return package != nil ? isWrite || other.isWrite : takesContents }
      if own.hasPrefix(others + "/") { return other.package != nil ? isWrite || other.isWrite : other.takesContents }
      return false
    }

    mutating func follow(_ from: String, _ to: String) {
      guard let moved = Self.moved(path, from, to) else { return }
      path = moved
      if let old = package { package = Self.moved(old, from, to) ?? old }
      if let package, path != package, !path.hasPrefix(package + "/") { self.package = nil }
    }

    private static func moved(_ path: String, _ from: String, _ to: String) -> String? {
      path == from ? to : path.hasPrefix(from + "/") ? to + path.dropFirst(from.count) : nil
    }
  }

  struct Live {
    let request: Request
    var uses: [Use]
    var isGranted = false
    var wasAsked = false
    let arrived: Int64
    /// Presenters that have let go for it.
    var relinquished: Set<Int> = []
    /// Since when another request holds it up.
    var blockedSince: Int64?
    /// The requests that it may not run beside.
    var conflicts: Set<Int> = []
  }

  struct Asked { let presenter, request: Int, since: Int64 }
  struct Pair: Hashable {
    let low, high: Int
    init(_ one: Int, _ other: Int) { (low, high) = (min(one, other), max(one, other)) }
  }

  private(set) var live: [Int: Live] = [:]
  private(set) var questions: [Int: Asked] = [:]
  private(set) var presenters: [Int: Presenter] = [:]
  private(set) var suspended: Set<Int> = []
  /// The request that goes first, of those whose order was changed.
  private var first: [Pair: Int] = [:]
  private var decided: Set<Int> = []
  private var now: Int64 = 0
  /// Presenters that have to hear of the end of a request.
  private var owed: [Int: Set<Int>] = [:]
  private(set) var grants = 0
  private(set) var refusals: [String: Int] = [:]
  private(set) var reorders = 0

  var pending: [Int] { live.keys.filter { live[$0]?.isGranted == false }.sorted() }
  var granted: [Int] { live.keys.filter { live[$0]?.isGranted == true }.sorted() }

  private func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Failure(description: text()) }
  }

  // MARK: Inputs

  mutating func take(_ input: Input, _ effects: [Effect], at time: Int64) throws {
    now = time
    let before = live.count
    switch input {
    case .request(let id, let request):
      live[id] = Live(request: request, uses: request.intents.map { Use($0) }, arrived: now)
      meet(id)
    case .answer(let number, _):
      if let asked = questions.removeValue(forKey: number) { live[asked.request]?.relinquished.insert(asked.presenter) }
    case .done(let id): end(id)
    case .addPresenter(let id, let presenter): presenters[id] = presenter
    case .removePresenter(let id): forget(presenter: id)
    case .clientEnded(let client):
      suspended.remove(client)
      for id in presenters.keys where presenters[id]?.client == client { forget(presenter: id) }
      for id in live.keys where live[id]?.request.client == client { end(id) }
    case .suspend(let client): suspended.insert(client)
    case .resume(let client): suspended.remove(client)
    case .moved(let from, let to, _):
      for id in live.keys {
        for index in live[id]!.uses.indices where !live[id]!.uses[index].keepsPath {
          live[id]!.uses[index].follow(from.text, to.text)
        }
      }
      for id in live.keys { meet(id) }
    case .kept, .cancel, .changed, .time: break
    }
    for effect in effects { try take(effect, input, effects) }
    try checkState()
    if !effects.isEmpty || live.count != before || changesPaths(input) { try checkCycles(input) }
  }

  private func changesPaths(_ input: Input) -> Bool { if case .moved = input { true } else { false } }

  /// Compares a request with all the others.
  private mutating func meet(_ id: Int) {
    for other in live.keys where other != id {
      guard let one = live[id], let two = live[other] else { continue }
      let isConflict =
        !one.request.isPreparation && !two.request.isPreparation
        && one.request.party.purpose != two.request.party.purpose
        && one.uses.contains { use in two.uses.contains { use.meets($0) } }
      if isConflict {
        live[id]?.conflicts.insert(other)
        live[other]?.conflicts.insert(id)
      } else {
        live[id]?.conflicts.remove(other)
        live[other]?.conflicts.remove(id)
      }
    }
  }

  private mutating func forget(presenter id: Int) {
    presenters[id] = nil
    for (number, asked) in questions where asked.presenter == id { questions[number] = nil }
    for request in owed.keys { owed[request]?.remove(id) }
  }

  private mutating func end(_ id: Int) {
    guard let entry = live.removeValue(forKey: id) else { return }
    decided.insert(id)
    owed[id] = entry.relinquished.filter { presenters[$0] != nil }
    for other in entry.conflicts { live[other]?.conflicts.remove(id) }
  }

  // MARK: Effects

  private mutating func take(_ effect: Effect, _ input: Input, _ effects: [Effect]) throws {
    switch effect {
    case .ask(let number, let presenter, _, let id):
      let asked = try alive(presenter)
      guard let entry = live[id] else { throw Failure(description: "a question for \(id), which is not there") }
      try check(!entry.isGranted, "a question for \(id) after its grant")
      try check(!suspended.contains(asked.client), "a question to a suspended client")
      try check(asked.party.purpose != entry.request.party.purpose, "\(id) asks its own presenter")
      try check(questions[number] == nil, "a question with an old number")
      let isAlone = !questions.values.contains { $0.presenter == presenter && $0.request == id }
      try check(isAlone, "two questions at once to \(presenter) for \(id)")
      if !entry.wasAsked { try check(blockers(of: id).isEmpty, "\(id) asks before its turn") }
      live[id]?.wasAsked = true
      questions[number] = Asked(presenter: presenter, request: id, since: now)
    case .withdraw(let number, let presenter):
      _ = try alive(presenter)
      guard let asked = questions.removeValue(forKey: number) else {
        throw Failure(description: "question \(number) is withdrawn, and was not open")
      }
      live[asked.request]?.relinquished.insert(presenter)
    case .silent(let presenter, _, let id, let after):
      _ = try alive(presenter)
      let isOpen = questions.values.contains {
        $0.presenter == presenter && $0.request == id && now - $0.since == after
      }
      try check(isOpen, "\(presenter) was not asked for \(id) that long ago")
      try check(live[id]?.request.patience.map { after >= $0 } ?? false, "\(id) is impatient")
    case .grant(let id, let paths):
      guard let entry = live[id], !entry.isGranted else { throw Failure(description: "\(id) is granted out of place") }
      try check(paths.map(\.text) == entry.uses.map(\.path), "\(id) is granted other paths")
      try check(!questions.values.contains { $0.request == id }, "\(id) is granted before an answer")
      let blockers = blockers(of: id)
      try check(blockers.isEmpty, "\(id) is granted before \(blockers)")
      live[id]?.isGranted = true
      grants += 1
    case .refuse(let id, let refusal):
      guard let entry = live[id], !entry.isGranted else { throw Failure(description: "\(id) is refused out of place") }
      try check(refusal, of: id, entry, input, effects)
      end(id)
    case .reacquire(let presenter, let id):
      _ = try alive(presenter)
      try check(owed[id]?.remove(presenter) != nil, "\(presenter) did not let go for \(id)")
    case .notify(let presenter, _): _ = try alive(presenter)
    case .reordered(let one, let other):
      try check(live[one]?.conflicts.contains(other) == true, "\(one) and \(other) do not wait for each other")
      try check(live[one]?.isGranted == false && live[other]?.isGranted == false, "a granted access is overtaken")
      try check(goesFirst(other, one), "\(one) already goes before \(other)")
      if one > other { try check(isNeeded(one), "\(one) overtakes \(other), and is not needed") }
      first[Pair(one, other)] = one
      reorders += 1
    }
  }

  private func alive(_ presenter: Int) throws -> Presenter {
    guard let found = presenters[presenter] else { throw Failure(description: "presenter \(presenter) is gone") }
    return found
  }

  private mutating func check(
    _ refusal: Refusal, of id: Int, _ entry: Live, _ input: Input, _ effects: [Effect]
  ) throws {
    switch refusal {
    case .cancelled(let canceller):
      refusals["cancelled", default: 0] += 1
      if canceller == .suspension { try check(suspended.contains(entry.request.client), "\(id) is not suspended") }
    case .presenterFailed(let presenter, let words):
      refusals["failed", default: 0] += 1
      guard case .answer(_, error: words) = input, entry.relinquished.contains(presenter) else {
        throw Failure(description: "\(presenter) did not fail")
      }
    case .presenterSilent(_, _, let after):
      refusals["silent", default: 0] += 1
      try check(entry.request.patience.map { after >= $0 } ?? false, "\(id) is impatient")
    case .held(let holders, let time):
      refusals["held", default: 0] += 1
      try check(!holders.isEmpty, "\(id) is held by nothing")
      try check(entry.request.patience.map { time >= $0 } ?? false, "\(id) is impatient")
      try check(entry.blockedSince.map { now - $0 >= time } ?? false, "\(id) was not held for \(time)")
      try check(!holders.contains(id), "\(id) is held by itself")
    case .cycle(let links):
      refusals["cycle", default: 0] += 1
      for (link, next) in zip(links, links.dropFirst() + links.prefix(1)) {
        try check(hardWaits(of: link).contains(next), "\(link) does not have to wait for \(next)")
      }
      try check(links.contains(.request(id)), "\(id) is refused for a cycle of others")
      // A request is refused for its own cycle, not for a new order.
      if case .request(let new, _) = input {
        try check(new == id, "\(id) fails because of \(new)")
        for case .reordered in effects { throw Failure(description: "a new order, and a refusal all the same") }
      }
    }
  }

  // MARK: Order

  private func goesFirst(_ one: Int, _ other: Int) -> Bool {
    if live[one]?.isGranted == true { return true }
    if live[other]?.isGranted == true { return false }
    return first[Pair(one, other)].map { $0 == one } ?? (one < other)
  }

  private func blockers(of id: Int) -> [Int] {
    guard let entry = live[id], !entry.isGranted else { return [] }
    return entry.conflicts.filter { goesFirst($0, id) }
  }

  /// An access or a question that is under way may wait for it.
  private func isNeeded(_ id: Int) -> Bool {
    guard let request = live[id]?.request else { return false }
    return request.parents.contains { parent in
      switch parent {
      case .access(let other): live[other]?.isGranted == true
      case .question(let number): questions[number] != nil
      }
    }
      || questions.values.contains { asked in
        presenters[asked.presenter].map { $0.client == request.client && $0.party.purpose == request.party.purpose }
          ?? false
      }
  }

  private func children(of parent: Request.Parent) -> [Refusal.Link] {
    live.filter { $0.value.request.parents.contains(parent) }.map { .request($0.key) }
  }

  /// Waits that no order of the queue can change.
  private func hardWaits(of link: Refusal.Link) -> [Refusal.Link] {
    switch link {
    case .question(let number): return children(of: .question(number))
    case .request(let id):
      guard let entry = live[id] else { return [] }
      if entry.isGranted { return children(of: .access(id)) }
      return entry.conflicts.filter { live[$0]?.isGranted == true }.map { .request($0) }
        + questions.filter { $0.value.request == id }.map { .question($0.key) }
    }
  }

  private func softWaits(of link: Refusal.Link) -> [Refusal.Link] {
    guard case .request(let id) = link else { return [] }
    return blockers(of: id).filter { live[$0]?.isGranted == false }.map { .request($0) }
  }

  /// A presenter may have to end its own requests before it answers.
  private func guessedWaits(of link: Refusal.Link) -> [Refusal.Link] {
    guard case .question(let number) = link, let asked = questions[number], let presenter = presenters[asked.presenter]
    else { return [] }
    return live.filter { $0.value.request.client == presenter.client }
      .filter { $0.value.request.party.purpose == presenter.party.purpose }.map { .request($0.key) }
  }

  // MARK: After each input

  private mutating func checkState() throws {
    for (request, presenters) in owed { try check(presenters.isEmpty, "\(presenters) do not hear of \(request)'s end") }
    owed = [:]
    for (number, asked) in questions {
      try check(live[asked.request]?.isGranted == false, "question \(number) is open for an ended request")
      let client = presenters[asked.presenter]?.client
      try check(
        client.map { !suspended.contains($0) } ?? false, "question \(number) is open to a client that cannot answer")
    }
    let asking = Set(questions.values.map(\.request))
    for id in pending {
      let isBlocked = !blockers(of: id).isEmpty
      // A lost wake-up.
      try check(isBlocked || asking.contains(id), "\(id) waits for nothing")
      let since = live[id]?.blockedSince ?? now
      live[id]?.blockedSince = isBlocked ? since : nil
    }
  }

  private func checkCycles(_ input: Input) throws {
    let all = pending.map { Refusal.Link.request($0) }
    if let cycle = cycle(from: all, { hardWaits(of: $0) + softWaits(of: $0) }) {
      throw Failure(description: "a cycle is left: \(cycle)")
    }
    // A new request goes ahead for a guess as well, if that is possible.
    guard case .request(let id, _) = input, all.contains(.request(id)), !questions.isEmpty,
      cycle(from: all, { hardWaits(of: $0) + guessedWaits(of: $0) }) == nil,
      let cycle = cycle(from: [.request(id)], { hardWaits(of: $0) + guessedWaits(of: $0) + softWaits(of: $0) })
    else { return }
    try check(!cycle.contains(.request(id)), "a cycle by a guess is left: \(cycle)")
  }

  private func cycle(from starts: [Refusal.Link], _ waits: (Refusal.Link) -> [Refusal.Link]) -> [Refusal.Link]? {
    var done: Set<Refusal.Link> = []
    var path: [Refusal.Link] = []
    func visit(_ link: Refusal.Link) -> Bool {
      if done.contains(link) { return false }
      if let start = path.firstIndex(of: link) {
        path.removeFirst(start)
        return true
      }
      path.append(link)
      for next in waits(link) where visit(next) { return true }
      path.removeLast()
      done.insert(link)
      return false
    }
    return starts.contains { visit($0) } ? path : nil
  }
}
