internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Synchronization
internal import Wire

/// A call that is being served, perhaps in several turns: one that needs to know where a document is, and must not keep others
/// waiting, is begun anew when that is known. So whatever was decided for it is decided again.
final class Request {
  let connection: WireConnection
  /// The instance that asks; `nil` for the user's side.
  let instance: Instance?
  let failure: (any Error) -> ErrorReply
  let body: () throws -> Broker.Answer?
  /// When what is decided for it counts as written down: as the policy says of the app that it is about.
  var sync = AuditLog.Sync.group
  /// What has been found out for it; `nil`: nobody answered in time.
  var results: [Lookup.Key: LookupResult?] = [:]
  /// What errands for it came to; `nil`: nothing came back.
  var outcomes: [String: (any Sendable)?] = [:]
  /// It has waited for something else.
  var hasWaited = false
  /// Its answer waits for what it has set off.
  var awaitsWhatFollows = false
  /// How much of that is under way, and the answer.
  fileprivate var following = 0
  fileprivate var answer: (() -> Void)?

  init(
    _ connection: WireConnection, _ instance: Instance?, failure: @escaping (any Error) -> ErrorReply,
    _ body: @escaping () throws -> Broker.Answer?
  ) {
    self.connection = connection
    self.instance = instance
    self.failure = failure
    self.body = body
    if let instance { hold(to: instance.app.rules) }
  }

  /// It is about an app with these rules.
  func hold(to rules: LauncherInterface.GrantRules) { if rules.syncsFully { sync = .full } }
}

/// Something that a request has set off; its answer says that it is done.
final class Followed {
  private let request: Request
  init(_ request: Request) {
    self.request = request
    request.following += 1
  }

  /// Once.
  func isDone() {
    request.following -= 1
    guard request.following == 0, let answer = request.answer else { return }
    request.answer = nil
    answer()
  }
}

/// Thrown where a document has to be looked for in a way that may take long. Nothing that cannot be done twice may have happened
/// before.
struct Waiting: Error {
  let lookup: Lookup
  /// The mount that may keep one waiting.
  let queueKey: String?
}

/// The lookups that are under way, each in a thread of its own, and who waits for them.
struct Lookups {
  /// What came back, from any thread.
  final class Results: Sendable {
    private let arrived = Mutex<[(id: Int, looked: LookupResult, took: Int64)]>([])
    func put(_ id: Int, _ looked: LookupResult, took: Int64) { arrived.withLock { $0.append((id, looked, took)) } }
    func take() -> [(id: Int, looked: LookupResult, took: Int64)] {
      arrived.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  struct Entry {
    let lookup: Lookup
    var requests: [Request]
  }

  let wakeup: Wakeup
  let results = Results()
  var queue = LookupQueue()
  var entries: [Int: Entry] = [:]
  var known: [Lookup.Key: Int] = [:]
  var absences = NegativeCache()
  /// More turns than a request can need: who is moved all the time is not found.
  static let mostTurns = 8

  init() throws(KernelError) { wakeup = try Wakeup() }
}

extension Broker {
  /// Where a document is, as far as that can be told without keeping anybody waiting.
  ///
  /// - Returns: `nil` if its file system does not answer.
  /// - Throws: ``Waiting`` if somebody has to look for it.
  func looked(_ asked: Lookup) throws -> LookupResult? {
    if let known = request?.results[asked.key] { return known }
    mounts.refresh()
    let path = asked.folder.map { "\($0.currentPath ?? "")/\(asked.path)" } ?? asked.path
    var lookup = withAbsences(asked)
    let queueKey = mounts.waitingMount(on: path)
    if queueKey == nil, let looked = finder.findQuickly(lookup) { return looked }
    if queueKey == nil { lookup.batch = surveys.catalog.lost }
    throw Waiting(lookup: lookup, queueKey: queueKey)
  }

  private func withAbsences(_ asked: Lookup) -> Lookup {
    var lookup = asked
    let now = Clock.monotonic()
    for identity in [asked.identity] + (asked.place.map { [$0.folder] } ?? [])
    where lookups.absences.holds(identity, at: now, mounts: mounts.generation) {
      lookup.absent.insert(identity)
    }
    return lookup
  }

  /// Whether looking at what lies there may keep one waiting.
  func mayWait(_ path: String) -> Bool { mounts.waitingMount(on: path) != nil }

  /// Has a lookup made for a request, which is begun anew then.
  func wait(for waiting: Waiting, _ request: Request) {
    let key = waiting.lookup.key
    guard request.results.count < Lookups.mostTurns else { return answer(request, without: key) }
    if let id = lookups.known[key] {
      lookups.entries[id]?.requests.append(request)
      return
    }
    guard
      let job = lookups.queue.add(
        owner: request.instance?.id ?? "", queueKey: waiting.queueKey, at: Clock.monotonic())
    else { return answer(request, without: key) }
    lookups.entries[job.id] = .init(lookup: waiting.lookup, requests: [request])
    lookups.known[key] = job.id
    beginLookups()
  }

  private func answer(_ request: Request, without key: Lookup.Key) {
    request.results[key] = .some(nil)
    serve(request)
  }

  private func beginLookups() {
    while let job = lookups.queue.begin() {
      guard let lookup = lookups.entries[job.id]?.lookup else { continue }
      let (finder, wakeup, results) = (finder, lookups.wakeup, lookups.results)
      let isElsewhere = job.queueKey != nil
      let work: @Sendable () -> Void = {
        let start = Clock.monotonic()
        let looked = finder.findThoroughly(lookup, beside: isElsewhere)
        results.put(job.id, looked, took: Clock.monotonic() - start)
        wakeup.signal()
      }
      // Without a thread it is as if nobody had answered.
      if (try? Worker.start(work)) == nil { finish(job.id, nil) }
    }
  }

  /// Answers those whose lookups have come back, and those who have waited long enough.
  func continueLookups(now: Int64) {
    if lookups.queue.isIdle { return }
    for (id, looked, took) in lookups.results.take() {
      note(looked, took: took, at: now)
      finish(id, looked)
    }
    for id in lookups.queue.expire(at: now) { answerAll(of: id, nil) }
    beginLookups()
  }

  private func finish(_ id: Int, _ looked: LookupResult?) {
    if lookups.queue.end(id) { answerAll(of: id, looked) }
  }

  private func answerAll(of id: Int, _ looked: LookupResult?) {
    guard let entry = lookups.entries.removeValue(forKey: id) else { return }
    lookups.known[entry.lookup.key] = nil
    for request in entry.requests {
      request.results[entry.lookup.key] = .some(looked)
      serve(request)
    }
  }

  private func note(_ looked: LookupResult, took: Int64, at now: Int64) {
    if !looked.others.isEmpty { surveys.catalog.met(looked.others) }
    for identity in looked.absent {
      lookups.absences.note(identity, at: now, took: took, mounts: mounts.generation)
    }
  }

  /// Whether somebody still waits for the answer, and is still there.
  private func isWanted(_ request: Request) -> Bool {
    guard !request.connection.isClosed else { return false }
    return request.instance.map { instances[$0.id] === $0 } ?? true
  }

  /// For something that the request under way has set off, if its answer waits for that.
  func followed() -> Followed? { request.flatMap { $0.awaitsWhatFollows ? Followed($0) : nil } }

  /// Runs a service and sends what it answers; `nil` is an answer that comes later. Whatever goes wrong becomes an
  /// answer: nothing that an app sends may end the broker.
  func serve(_ request: Request) {
    guard !request.hasWaited || isWanted(request) else { return }
    let outer = self.request
    self.request = request
    defer { self.request = outer }
    let connection = request.connection
    do {
      if let answer = try request.body() {
        let send = { [sync = request.sync] in
          self.send(Reply(answer.parameters), descriptors: answer.descriptors, on: connection, sync)
        }
        if request.following == 0 { send() } else { request.answer = send }
      }
    } catch let waiting as Waiting {
      request.hasWaited = true
      wait(for: waiting, request)
    } catch let waiting as WaitingForErrand {
      request.hasWaited = true
      begin(waiting, for: request)
    } catch is WaitingForSidecars {
      request.hasWaited = true
      sidecars.requests.append(request)
    } catch let waiting as WaitingForEnd {
      let due = Clock.monotonic() + WaitingForEnd.patience
      awaitedEnds.append((request, waiting, due))
    } catch let error as ErrorReply {
      send(Reply(error), on: connection)
    } catch let error as FieldError {
      send(Reply(.invalidParameter(error.field)), on: connection)
    } catch {
      send(Reply(request.failure(error)), on: connection)
    }
  }
}
