import Kernel
import TestSupport
import Testing

@testable import BrokerCore

@Suite struct `Work that takes long and changes something` {
  /// What an expectation may not change.
  private final class Subject {
    var queue = JobQueue()
    func add(_ owner: String, _ subject: String) throws -> JobQueue.Job {
      let added = queue.add(owner: owner, subject: subject)
      return try #require(added)
    }
    func begin(at now: Int64 = 0) -> JobQueue.Job? { queue.begin(at: now) }
    func end(_ job: JobQueue.Job) -> Bool { queue.end(job.id) }
    func expire(at now: Int64) -> [Int] { queue.expire(at: now) }
  }

  @Test func `an owner has two under way, one of each subject, and others do not wait for that`() throws {
    let queue = Subject()
    let (first, again) = (try queue.add("a", "x"), try queue.add("a", "x"))
    let (second, third, other) = (try queue.add("a", "y"), try queue.add("a", "z"), try queue.add("b", "x"))
    #expect([queue.begin(), queue.begin(), queue.begin(), queue.begin()] == [first, second, other, nil])
    #expect(queue.end(first))
    #expect([queue.begin(), queue.begin()] == [again, nil])
    #expect(queue.end(second))
    #expect(queue.begin() == third)
  }

  @Test func `what shows progress goes on however long it takes, and what shows none is given up`() throws {
    let queue = Subject()
    let (copy, behind, other) = (try queue.add("a", "x"), try queue.add("a", "x"), try queue.add("a", "y"))
    #expect([queue.begin(at: 0), queue.begin(at: 0)] == [copy, other])
    let half = JobQueue.patience / 2
    for turn in 1...6 {
      queue.queue.note(progressOf: copy.id, at: Int64(turn) * half)
      queue.queue.note(progressOf: other.id, at: Int64(turn) * half)
      #expect(queue.expire(at: Int64(turn) * half + 1).isEmpty)
    }
    queue.queue.note(progressOf: other.id, at: 8 * half)
    #expect(queue.queue.nextDue == 8 * half)
    #expect(queue.expire(at: 8 * half) == [copy.id, behind.id])
    #expect(queue.expire(at: 8 * half).isEmpty)
    // It keeps its place until it is back.
    let later = try queue.add("a", "z")
    #expect(queue.begin(at: 8 * half) == nil)
    #expect(!queue.end(copy))
    #expect(queue.begin(at: 8 * half) == later)
  }

  @Test(arguments: 0..<UInt64(Rounds.few(12, of: 40)))
  func `whatever happens, each is over once and the places are kept to`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    var queue = JobQueue()
    var open: [Int: JobQueue.Job] = [:]
    var now: Int64 = 0
    for _ in 0..<600 {
      now += Int64.random(in: 0...(JobQueue.patience / 10), using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let owner = "\(Int.random(in: 0..<12, using: &random))"
        let waiting = queue.waiting.count { $0.owner == owner }
        let job = queue.add(owner: owner, subject: "\(Int.random(in: 0..<4, using: &random))")
        #expect((job == nil) == (waiting >= JobQueue.mostWaiting))
        if let job { open[job.id] = job }
      case 4..<7: _ = queue.begin(at: now)
      case 7..<9:
        if let id = queue.running.keys.sorted().randomElement(using: &random) {
          let wasOpen = open.removeValue(forKey: id) != nil
          #expect(queue.end(id) == wasOpen)
        }
      default:
        for id in queue.running.keys.sorted() where Bool.random(using: &random) {
          queue.note(progressOf: id, at: now)
        }
        for id in queue.expire(at: now) { #expect(open.removeValue(forKey: id) != nil) }
      }
      #expect(queue.running.count <= JobQueue.most)
      let owners = Dictionary(grouping: queue.running.values, by: \.owner)
      for own in owners.values {
        #expect(own.count <= JobQueue.mostOfOwner && Set(own.map(\.subject)).count == own.count)
      }
      let known = Set(queue.waiting.map(\.id)).union(queue.running.keys.filter { !queue.stuck.contains($0) })
      #expect(known == Set(open.keys))
    }
  }
}
