import Paths
import TestSupport
import Wire

@testable import Coordination

extension Seeded {
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// Random inputs for an arbiter, in episodes that each begin anew and end when nothing is left.
struct ModelRun {
  /// The longest patience of a request.
  static let patience: Int64 = 5

  private var random: Seeded
  private var arbiter = Arbiter()
  private(set) var model = Model()
  private var now: Int64 = 0
  private var steps = 0
  private var requests = 0
  private var presenters = 0
  /// Readers that were free to go.
  private var free = 0
  /// Presenters that never answer.
  private var silent: Set<Int> = []
  private var log: [(time: Int64, input: Input)] = []
  /// The presenters of all questions.
  private var asked: [Int: Int] = [:]
  private(set) var counts: [String: Int] = [:]

  private static let paths = [
    "/f", "/f/a", "/f/b", "/f/g", "/f/g/c", "/p.pkg", "/p.pkg/x", "/p.pkg/y", "/f/q.pkg", "/f/q.pkg/z", "/d", "/e",
  ]
  private static let moves = [
    ("/f", "/h"), ("/h", "/f"), ("/f/g", "/g"), ("/g", "/f/g"), ("/d", "/f/a"), ("/f/a", "/d"), ("/d", "/p.pkg/x"),
    ("/p.pkg/x", "/e"), ("/p.pkg", "/f/q.pkg"), ("/f/q.pkg", "/p.pkg"), ("/e", "/d"), ("/d", "/d"),
  ]

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// - Returns: how often things happened.
  @discardableResult static func play(seed: UInt64, steps: Int) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    var random = Seeded(seed: seed)
    var done = 0
    while done < steps {
      var run = ModelRun(random: Seeded(seed: random.next()))
      do { try run.episode(of: 400) } catch {
        throw Failure(description: "AMBIT_SEED=\(seed), step \(done + run.steps): \(error)\n\(run.script)")
      }
      done += run.steps
      for (name, count) in run.counts { counts[name, default: 0] += count }
    }
    return counts
  }

  /// One episode as a script, and the number of its grants.
  static func script(seed: UInt64) throws -> (text: String, grants: Int) {
    var run = ModelRun(random: Seeded(seed: seed))
    try run.episode(of: 400)
    return (run.script, run.model.grants)
  }

  private init(random: Seeded) { self.random = random }

  private mutating func episode(of length: Int) throws {
    while steps < length { try apply(next()) }
    try passTime()
    try empty()
    counts = model.refusals
    counts["granted"] = model.grants
    counts["reordered"] = model.reorders
    counts["free"] = free
  }

  /// - Returns: whether there was an effect.
  @discardableResult private mutating func apply(_ input: Input) throws -> Bool {
    steps += 1
    log.append((now, input))
    let isFree = isFree(input)
    let effects = arbiter.apply(input, at: now * 1_000_000_000)
    if isFree {
      guard effects.count == 1, case .grant = effects[0] else {
        throw Failure(description: "a reader that was free to go had to wait: \(effects)")
      }
      free += 1
    }
    for case .ask(let number, let presenter, _, _) in effects { asked[number] = presenter }
    try model.take(input, effects, at: now * 1_000_000_000)
    return !effects.isEmpty
  }

  /// Whether the arbiter says that a request to read is going to be granted at once.
  private func isFree(_ input: Input) -> Bool {
    guard case .request(_, let request) = input, request.intents.count == 1, let intent = request.intents.first,
      !intent.isWrite, !request.isPreparation, !model.suspended.contains(request.client)
    else { return false }
    return arbiter.isFree(toRead: intent.item)
  }

  // MARK: The end

  /// Without any more arrivals and answers, each pending request needs at most one patience for the presenters it asks, and each that
  /// waits for it gives up or begins then.
  private mutating func passTime() throws {
    let bound = now + Self.patience * Int64(model.pending.count + 1)
    var wasIdle = false
    while model.pending.contains(where: { model.live[$0]?.request.patience != nil }) {
      guard let due = arbiter.nextDue else { throw Failure(description: "nothing is due, and requests have patience") }
      let isNew = due > now * 1_000_000_000
      now = max(now, due / 1_000_000_000)
      guard now <= bound else { throw Failure(description: "\(model.pending) wait for too long") }
      let isIdle = try !apply(.time)
      // A time may be due too early, but not twice.
      guard isNew || !isIdle || !wasIdle else { throw Failure(description: "a time is due again, to no effect") }
      wasIdle = isIdle
    }
  }

  /// Presenters answer, accesses end, and all requests with them.
  private mutating func empty() throws {
    let bound = steps + 6 * (model.live.count + 1) * (model.presenters.count + 1)
    while !model.live.isEmpty {
      guard steps < bound else { throw Failure(description: "\(model.live.keys.sorted()) do not end") }
      if let number = model.questions.keys.min() { try apply(.answer(number, error: nil)) }
      if let id = model.granted.last { try apply(.done(id)) }
    }
    for id in model.presenters.keys.sorted() { try apply(.removePresenter(id)) }
    let left = arbiter.knownPlaces.filter { path, number in
      let place = arbiter.places[number]
      return !(place.readers + place.writers + place.takers + place.presenters).isEmpty
    }
    guard arbiter.nextDue == nil, left.isEmpty, "\(arbiter.index)" == "\(Arbiter.Index())" else {
      throw Failure(description: "something is left: \(arbiter.index), \(left)")
    }
  }

  // MARK: Inputs

  private mutating func next() -> Input {
    let client = Int.random(in: 1...4, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<28 where model.live.count < 9: return request(client)
    case 0..<50: return answer() ?? .time
    case 50..<72: return model.granted.randomElement(using: &random).map { .done($0) } ?? request(client)
    case 72..<76:
      return model.live.keys.sorted().randomElement(using: &random).map { .cancel($0, by: .caller) } ?? .time
    case 76..<82 where model.presenters.count < 5:
      presenters += 1
      if random.chance(20) { silent.insert(presenters) }
      let presenter = Presenter(client: client, party: party(client, "P\(presenters)"), item: item())
      return .addPresenter(presenters, presenter)
    case 76..<85:
      return model.presenters.keys.sorted().randomElement(using: &random).map { .removePresenter($0) } ?? .time
    case 85..<86: return .clientEnded(client)
    case 86..<87: return .suspend(client)
    case 87..<90: return model.suspended.sorted().randomElement(using: &random).map { .resume($0) } ?? .time
    case 90..<94:
      guard let (from, to) = Self.moves.randomElement(using: &random) else { return .time }
      return .moved(PathKey(from), to: PathKey(to), by: model.granted.randomElement(using: &random))
    case 94..<95: return .changed(item().path, random.chance(50) ? .content : .deleted)
    default:
      now += Int64.random(in: 0...2, using: &random)
      return .time
    }
  }

  private mutating func answer() -> Input? {
    guard let (number, _) = question(except: silent) else { return nil }
    return .answer(number, error: random.chance(5) ? "no" : nil)
  }

  /// The oldest question of a presenter.
  private mutating func question(except silent: Set<Int> = []) -> (Int, Presenter)? {
    let asked = Set(model.questions.values.map(\.presenter)).subtracting(silent).sorted()
    guard let id = asked.randomElement(using: &random), let presenter = model.presenters[id] else { return nil }
    return model.questions.filter { $0.value.presenter == id }.keys.min().map { ($0, presenter) }
  }

  private mutating func request(_ client: Int) -> Input {
    requests += 1
    var client = client
    var purpose = random.chance(15) ? "shared" : "R\(requests)"
    var parents: [Request.Parent] = []
    if random.chance(35), let parent = model.granted.randomElement(using: &random), let entry = model.live[parent] {
      client = entry.request.client
      parents = [.access(parent)]
      // Some callers name all of their accesses, others the last one.
      if random.chance(50) { parents += entry.request.parents.filter { if case .access = $0 { true } else { false } } }
    } else if random.chance(40), let (number, presenter) = question() {
      client = presenter.client
      // Some presenters say that a request is made for an answer, the others leave it to a guess.
      if random.chance(60) { parents = [.question(number)] }
      if random.chance(70) { purpose = presenter.party.purpose }
    }
    let intents = (0..<(random.chance(30) ? Int.random(in: 2...3, using: &random) : 1)).map { _ in intent() }
    return .request(
      requests,
      Request(
        client: client, party: party(client, purpose), intents: intents, parents: parents,
        isPreparation: random.chance(6),
        patience: random.chance(80) ? Int64.random(in: 2...Self.patience, using: &random) * 1_000_000_000 : nil,
        silence: random.chance(50) ? .refuse : .proceed))
  }

  private mutating func intent() -> Intent {
    if random.chance(50) {
      let options: [ReadingOptions] = [[], [], [], .withoutChanges, .immediatelyAvailableMetadataOnly, .forUploading]
      return Intent(item(), .read(options.randomElement(using: &random) ?? []))
    }
    let options: [WritingOptions] = [
      [], [], [], [], .forDeleting, .forMoving, .forReplacing, .forMerging, .contentIndependentMetadataOnly,
    ]
    return Intent(item(), .write(options.randomElement(using: &random) ?? []))
  }

  private mutating func item() -> Item {
    let path = Self.paths.randomElement(using: &random) ?? "/f"
    guard let end = path.firstRange(of: ".pkg") else { return Item(path) }
    return Item(path, package: String(path[..<end.upperBound]))
  }

  private func party(_ client: Int, _ purpose: String) -> Party {
    Party(app: "c\(client)", process: Int32(100 + client), purpose: purpose)
  }

  // MARK: A script

  private var script: String { log.map(line).joined() }

  private func line(_ time: Int64, _ input: Input) -> String {
    let text =
      switch input {
      case .request(let id, let request): line(id, request)
      case .answer(let number, let error): "answer P\(asked[number] ?? 0)\(error.map { " \($0)" } ?? "")"
      case .done(let id): "done R\(id)"
      case .kept(let id, let path): "keep R\(id) \(path.text)"
      case .cancel(let id, _): "cancel R\(id)"
      case .addPresenter(let id, let presenter): "present P\(id) c\(presenter.client) \(presenter.item.path.text)"
      case .removePresenter(let id): "leave P\(id)"
      case .clientEnded(let client): "die c\(client)"
      case .suspend(let client): "suspend c\(client)"
      case .resume(let client): "resume c\(client)"
      case .moved(let from, let to, let id): "move \(from.text) \(to.text)\(id.map { " by R\($0)" } ?? "")"
      case .changed(let path, let change): "change \(path.text) \(change)"
      case .time: "at \(time)s"
      }
    return text + "\n"
  }

  private func line(_ id: Int, _ request: Request) -> String {
    var words = ["request", "R\(id)", "c\(request.client)"]
    for intent in request.intents {
      switch intent.use {
      case .read(let options):
        words += ["read", intent.item.path.text] + options.names(CoordinationInterface.readingOptions)
      case .write(let options):
        words += ["write", intent.item.path.text] + options.names(CoordinationInterface.writingOptions)
      }
    }
    if request.party.purpose != "R\(id)" { words += ["as", request.party.purpose] }
    for parent in request.parents {
      switch parent {
      case .access(let id): words += ["within", "R\(id)"]
      case .question(let number): words += ["answering", "P\(asked[number] ?? 0)"]
      }
    }
    if let patience = request.patience { words += ["patience", "\(patience / 1_000_000_000)s"] }
    if request.isPreparation { words.append("preparing") }
    if request.silence == .proceed { words.append("proceed") }
    return words.joined(separator: " ")
  }
}

extension Arbiter {
  /// Also those that are only kept for requests to come.
  var knownPlaces: [PathKey: Int] {
    Mirror(reflecting: places).descendant("numbers") as? [PathKey: Int] ?? [:]
  }
}
