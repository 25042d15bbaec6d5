internal import Audit
internal import Foundation
internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// A log under load: one thread adds, and has another move what was added when that is due, as the broker's loop does.
final class Load: Sendable {
  private let log: AuditLog
  /// Nanoseconds of processor that threads have taken which moved entries.
  private let moving = Mutex<Int64>(0)
  private let failure = Mutex<String?>(nil)

  init(path: String) throws { log = try AuditLog(path: path) }

  func make(_ count: Int) throws {
    var run = AppLikeRun(seed: 1)
    var left = count
    while left > 0 {
      var batch: [AuditEvent] = []
      while batch.count < min(256, left) { batch += run.next() }
      batch.removeLast(max(0, batch.count - left))
      left -= batch.count
      try log.append(batch)
      try moveIfDue()
    }
    try log.finish()
    print(count)
  }

  func sustain(seconds: Int, each: Int) throws {
    var run = AppLikeRun(seed: 1)
    // What happens is not the log's to make up.
    let kinds: Set<AuditEvent.Kind> = [.start, .stop]
    var events: [AuditEvent] = []
    while events.count < 65536 { events += run.next().filter { kinds.contains($0.kind) } }
    var batches = stride(from: 0, to: events.count - each, by: each).map { Array(events[$0..<$0 + each]) }
    let begin = Clock.monotonic()
    let end = begin + Int64(seconds) * 1_000_000_000
    var count = 0
    while Clock.monotonic() < end {
      let place = count / each % batches.count
      let now = Date()
      for index in batches[place].indices { batches[place][index].time = now }
      try log.append(batches[place])
      count += each
      try moveIfDue()
    }
    try log.finish()
    print(count, Double(Clock.monotonic() - begin) / 1e9)
  }

  func start(rounds: Int) throws {
    var samples: [Int64] = []
    var run = AppLikeRun(seed: 1)
    var model = run.next()
    while model.first?.kind != .start { model = run.next() }
    guard let model = model.first else { return }
    for round in 0..<rounds {
      let begin = Clock.monotonic()
      try log.append([Self.again(model, round)])
      samples.append(Clock.monotonic() - begin)
      try moveIfDue()
      // Longer than a start takes without its entry, so that other threads come to their work meanwhile as they do there.
      usleep(100)
    }
    try log.finish()
    samples.sort()
    let moved = moving.withLock { $0 }
    let (middle, slow) = (samples[rounds / 2], samples[rounds * 99 / 100])
    print(Double(middle) / 1000, Double(slow) / 1000, Double(moved) / 1000 / Double(rounds))
  }

  /// The entry of another start, made from its parts as the broker makes it.
  private static func again(_ model: AuditEvent, _ round: Int) -> AuditEvent {
    var facts = [
      AuditEvent.Fact.used: "\(round % 256)", AuditEvent.Fact.limit: "\(256)", AuditEvent.Fact.process: "\(2)",
    ]
    facts[AuditEvent.Fact.access] = "readWrite"
    facts[AuditEvent.Fact.caller] = model.detail[AuditEvent.Fact.caller]
    facts[AuditEvent.Fact.count] = "\(1)"
    let document = model.document.map {
      AuditEvent.Document(path: $0.path, volume: $0.volume, inode: $0.inode, birth: $0.birth)
    }
    return AuditEvent(
      .start, app: model.app, instance: model.instance, pid: model.pid, grant: model.grant, document: document,
      how: model.how, detail: facts)
  }

  /// As the broker does: `Broker.flushLog`.
  private func moveIfDue() throws {
    if let failure = failure.withLock({ $0 }) { throw LoadError(description: failure) }
    guard let due = log.flushDeadline, due <= Clock.monotonic() else { return }
    log.willFlush()
    try Worker.start { self.move() }
  }

  private func move() {
    Worker.stepBack()
    let begin = Self.threadTime()
    do { try log.flush() } catch { failure.withLock { $0 = "\(error)" } }
    let taken = Self.threadTime() - begin
    moving.withLock { $0 += taken }
  }

  private static func threadTime() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

struct LoadError: Error, CustomStringConvertible { let description: String }
