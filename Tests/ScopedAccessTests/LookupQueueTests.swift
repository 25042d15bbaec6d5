import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `BMK-16: lookups that take long` {
  /// What an expectation may not change.
  private final class Subject {
    var queue = LookupQueue()
    func add(_ owner: String, _ queueKey: String? = nil, at now: Int64 = 0) -> LookupQueue.Job? {
      queue.add(owner: owner, queueKey: queueKey, at: now)
    }
    func begin() -> LookupQueue.Job? { queue.begin() }
    func end(_ job: LookupQueue.Job?) -> Bool { job.map { queue.end($0.id) } ?? false }
    func expire(at now: Int64) -> [Int] { queue.expire(at: now) }
  }

  @Test func `whoever asks has one under way at a time, and others go before the rest`() {
    let queue = Subject()
    let jobs = ["a", "a", "b"].map { queue.add($0) }
    #expect(!jobs.contains(nil))
    #expect(queue.begin() == jobs[0])
    #expect(queue.begin() == jobs[2])
    #expect(queue.begin() == nil)
    #expect(queue.end(jobs[0]))
    #expect(queue.begin() == jobs[1])
  }

  @Test func `walks through folders leave places for others`() {
    let queue = Subject()
    let walks = ["a", "b", "c"].map { queue.queue.add(owner: $0, queueKey: nil, isInFolder: true, at: 0) }
    let search = queue.add("d")
    #expect(queue.begin() == walks[0])
    #expect(queue.begin() == search)
    #expect(queue.begin() == nil)
    #expect(queue.end(walks[0]))
    #expect(queue.begin() == walks[1])
  }

  @Test func `what does not come back is given up, and nothing else is begun behind it`() throws {
    let queue = Subject()
    let first = try #require(queue.add("a", "/net"))
    let second = try #require(queue.add("a", "/net", at: 1))
    let other = try #require(queue.add("a", "/usb", at: 1))
    #expect(queue.begin() == first)
    #expect(queue.begin() == nil)
    #expect(queue.expire(at: LookupQueue.patience - 1).isEmpty)
    #expect(queue.queue.nextDue == LookupQueue.patience)
    // What waits behind it goes with it; what does not is begun.
    #expect(queue.expire(at: LookupQueue.patience) == [first.id, second.id])
    #expect(queue.add("b", "/net", at: LookupQueue.patience) == nil)
    #expect(queue.begin() == other)
    // Once it is back, nobody waits for it, and its queueKey is free.
    #expect(!queue.end(first))
    #expect(queue.end(other))
    #expect(queue.add("b", "/net", at: LookupQueue.patience) != nil)
  }

  /// The model: every lookup that was taken is in one of four states, and the rules are looked at one by one.
  @Test(arguments: 0..<UInt64(Rounds.few(4, of: 12)))
  func `whatever happens, each is answered once and the limits hold`(seed: UInt64) throws {
    try lookUpAtRandom(seed)
  }

  fileprivate func lookUpAtRandom(_ seed: UInt64) throws {
    enum State { case waiting, running, stuck, answered }
    var random = Seeded(seed: seed)
    var queue = LookupQueue()
    var model: [Int: (job: LookupQueue.Job, state: State)] = [:]
    var now: Int64 = 0
    func count(_ state: State..., where isMeant: (LookupQueue.Job) -> Bool = { _ in true }) -> Int {
      model.values.count { state.contains($0.state) && isMeant($0.job) }
    }
    for _ in 0..<600 {
      now += Int64.random(in: 0...(LookupQueue.patience / 20), using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let queueKey = [nil, nil, "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"].randomElement(using: &random) ?? nil
        let owner = "\(Int.random(in: 0..<12, using: &random))"
        let job = queue.add(owner: owner, queueKey: queueKey, at: now)
        #expect((job == nil) == (queueKey != nil && count(.stuck) { $0.queueKey == queueKey } > 0))
        if let job { model[job.id] = (job, .waiting) }
      case 4..<7:
        let begun = queue.begin()
        if let begun {
          #expect(model[begun.id]?.state == .waiting)
          model[begun.id]?.state = .running
        }
        for queueKey in Set(model.values.compactMap(\.job.queueKey)) {
          #expect(count(.running, .stuck) { $0.queueKey == queueKey } <= LookupQueue.mostOfKey)
        }
        #expect(count(.running, .stuck) { $0.queueKey == nil } <= LookupQueue.mostLocal)
        #expect(count(.running, .stuck) { $0.queueKey != nil } <= LookupQueue.mostOfKeys)
        for owner in Set(model.values.map(\.job.owner)) { #expect(count(.running) { $0.owner == owner } <= 1) }
        // Whoever could be begun is not passed over.
        if begun == nil {
          for (job, _) in model.values.filter({ $0.state == .waiting }) {
            let isBusy = count(.running) { $0.owner == job.owner } > 0
            let isFull =
              job.queueKey == nil
              ? count(.running, .stuck) { $0.queueKey == nil } == LookupQueue.mostLocal
              : count(.running, .stuck) { $0.queueKey == job.queueKey } == LookupQueue.mostOfKey
                || count(.running, .stuck) { $0.queueKey != nil } == LookupQueue.mostOfKeys
            #expect(isBusy || isFull)
          }
        }
      case 7..<9:
        guard
          let (id, entry) = model.filter({ [.running, .stuck].contains($0.value.state) }).randomElement(
            using: &random)
        else { continue }
        let isWanted = queue.end(id)
        #expect(isWanted == (entry.state == .running))
        model[id]?.state = .answered
      default:
        let expired = queue.expire(at: now)
        #expect(Set(expired).count == expired.count)
        for id in expired {
          let state = try #require(model[id]?.state)
          #expect(state == .waiting || state == .running)
          model[id]?.state = state == .running ? .stuck : .answered
        }
        #expect(count(.waiting, .running) { $0.due <= now } == 0)
      }
      #expect(queue.isIdle == (count(.waiting, .running, .stuck) == 0))
    }
    // Everything that was given up or has come back was told of exactly once: what is left is known to both.
    #expect(Set(queue.waiting.map(\.id)) == Set(model.filter { $0.value.state == .waiting }.keys))
    #expect(queue.stuck == Set(model.filter { $0.value.state == .stuck }.keys))
  }
}

@Suite struct `BMK-9: what was not found` {
  private func identity(_ number: UInt64) -> FileIdentity {
    FileIdentity(volume: [1], handle: .init(type: 1, bytes: []), inode: number, birth: 0)
  }

  @Test func `is not searched for again for twenty times as long as that took`() {
    var absences = NegativeCache()
    let took: Int64 = 3_000_000_000
    absences.note(identity(1), at: 100, took: took, mounts: 1)
    #expect(absences.holds(identity(1), at: 100 + 20 * took - 1, mounts: 1))
    #expect(!absences.holds(identity(1), at: 100 + 20 * took, mounts: 1))
    #expect(!absences.holds(identity(2), at: 100, mounts: 1))
    // Something was mounted: it may be there.
    #expect(!absences.holds(identity(1), at: 100, mounts: 2))
    absences.forget(identity(1))
    #expect(!absences.holds(identity(1), at: 100, mounts: 1))
  }

  @Test(arguments: [
    (Int64(0), NegativeCache.shortest), (Int64.max, NegativeCache.longest), (Int64(1) << 62, NegativeCache.longest),
  ])
  func `is remembered for a bounded time, however long a search was`(took: Int64, time: Int64) {
    var absences = NegativeCache()
    absences.note(identity(1), at: 0, took: took, mounts: 1)
    #expect(absences.holds(identity(1), at: time - 1, mounts: 1))
    #expect(!absences.holds(identity(1), at: time, mounts: 1))
  }

  @Test(arguments: 0..<UInt64(Rounds.few(3, of: 10)))
  func `is as a list of all notes would have it, but for the oldest`(seed: UInt64) {
    var random = Seeded(seed: seed)
    var absences = NegativeCache()
    var model: [UInt64: (until: Int64, mounts: Int)] = [:]
    var mounts = 0
    for now in stride(from: Int64(0), to: 4_000, by: 1).map({ $0 * 100_000_000 }) {
      let number = UInt64.random(in: 0..<400, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: mounts += 1
      case 1..<4:
        absences.forget(identity(number))
        model[number] = nil
      case 4..<12:
        let took = Int64.random(in: 0..<2_000_000_000, using: &random)
        absences.note(identity(number), at: now, took: took, mounts: mounts)
        model[number] = (now + max(took * 20, NegativeCache.shortest), mounts)
      default:
        let isAbsent = model[number].map { now < $0.until && mounts == $0.mounts } ?? false
        #expect(absences.holds(identity(number), at: now, mounts: mounts) == isAbsent)
      }
    }
    for number in 1_000..<20_000 as Range<UInt64> { absences.note(identity(number), at: 0, took: 0, mounts: 1) }
    #expect(absences.count <= NegativeCache.limit)
    #expect(absences.holds(identity(19_999), at: 1, mounts: 1))
  }
}

/// The same for more random sequences.
@Suite struct LookupQueueRaceTests {
  @Test(arguments: 12..<40)
  func `BMK-16: whatever happens, each lookup is answered once and the limits hold`(seed: UInt64) throws {
    try `BMK-16: lookups that take long`().lookUpAtRandom(seed)
  }
}
