internal import BrokerCore
internal import Kernel
internal import ScopedAccess
internal import Synchronization

/// Thrown where something has to be done first that may take long. Nothing that cannot be done twice may have happened before.
struct WaitingForErrand: Error {
  let subject: String
  /// Who has a place for it; `nil`: the app that asks.
  let owner: String?
  let work: @Sendable (Errands.Pulse) -> any Sendable
}

/// Work for the loop that may take long and changes something, each piece in a thread of its own: the loop goes on with what
/// came back.
struct Errands {
  /// Between a thread and the loop: whether the work is still wanted, and when it last got on.
  final class Pulse: Sendable {
    private let state = Mutex((last: Int64(0), isWanted: true))
    /// The thread gets on, and asks whether it should.
    func beat() -> Bool {
      state.withLock { state in
        state.last = Clock.monotonic()
        return state.isWanted
      }
    }
    var last: Int64 { state.withLock { $0.last } }
    func giveUp() { state.withLock { $0.isWanted = false } }
  }

  /// Which threads have come back.
  final class Returned: Sendable {
    private let ids = Mutex<[Int]>([])
    func put(_ id: Int) { ids.withLock { $0.append(id) } }
    func take() -> [Int] {
      ids.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private final class Box<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    func put(_ new: Value) { value.withLock { $0 = new } }
    func take() -> Value? { value.withLock { $0 } }
  }

  struct Entry {
    let work: @Sendable () -> Void
    let pulse: Pulse
    /// In the loop, once; `false`: nothing has come back.
    let then: (Bool) -> Void
  }

  var queue = JobQueue()
  let returned = Returned()
  var entries: [Int: Entry] = [:]

  /// - Parameter then: gets what the work came to, or `nil` if it was given up or not begun.
  mutating func add<Value: Sendable>(
    owner: String, subject: String, _ work: @escaping @Sendable (Pulse) -> Value, then: @escaping (Value?) -> Void
  ) {
    guard let errand = queue.add(owner: owner, subject: subject) else { return then(nil) }
    let pulse = Pulse()
    let box = Box<Value>()
    entries[errand.id] = Entry(
      work: { box.put(work(pulse)) }, pulse: pulse, then: { then($0 ? box.take() : nil) })
  }
}

extension Broker {
  /// What a piece of work comes to that the request under way needs.
  ///
  /// - Parameter subject: what is worked on; also how the request knows it again.
  /// - Returns: `nil` if nothing came back in time.
  /// - Throws: ``WaitingForErrand`` the first time.
  func outcome<Value: Sendable>(
    of subject: String, owner: String? = nil, _ work: @escaping @Sendable (Errands.Pulse) -> Value
  ) throws -> Value? {
    guard let request else { return work(Errands.Pulse()) }
    if let known = request.outcomes[subject] { return known as? Value }
    throw WaitingForErrand(subject: subject, owner: owner, work: work)
  }

  /// Has something done for a request, which is begun anew then.
  func begin(_ waiting: WaitingForErrand, for request: Request) {
    let owner = waiting.owner ?? request.instance?.app.bundleIdentifier ?? ""
    errands.add(owner: owner, subject: waiting.subject, waiting.work) { value in
      request.outcomes[waiting.subject] = .some(value)
      self.serve(request)
    }
    beginErrands(now: Clock.monotonic())
  }

  func beginErrands(now: Int64) {
    while let errand = errands.queue.begin(at: now) {
      guard let entry = errands.entries[errand.id] else { continue }
      let (id, work, returned, wakeup) = (errand.id, entry.work, errands.returned, lookups.wakeup)
      let run: @Sendable () -> Void = {
        work()
        returned.put(id)
        wakeup.signal()
      }
      // Without a thread it is as if nothing had come back.
      if (try? Worker.start(run)) == nil, errands.queue.end(id) { goOn(id, false) }
    }
  }

  /// Goes on with what has come back, and gives up what does not.
  func continueErrands(now: Int64) {
    if errands.queue.isIdle { return }
    for id in errands.returned.take() where errands.queue.end(id) { goOn(id, true) }
    for id in errands.queue.running.keys {
      if let pulse = errands.entries[id]?.pulse { errands.queue.note(progressOf: id, at: pulse.last) }
    }
    for id in errands.queue.expire(at: now) {
      errands.entries[id]?.pulse.giveUp()
      goOn(id, false)
    }
    beginErrands(now: now)
  }

  private func goOn(_ id: Int, _ hasCome: Bool) { errands.entries.removeValue(forKey: id)?.then(hasCome) }
}
