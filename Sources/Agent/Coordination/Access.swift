internal import AmbitKit
internal import Foundation

/// A coordinated access on a thread of its own, so that the agent takes further requests while it waits or is held.
final class Access: @unchecked Sendable {
  /// What is asked for, and what the accessor does.
  struct Plan: Sendable {
    var reads: [URL] = []
    var writes: [URL] = []
    var reading: NSFileCoordinator.ReadingOptions = []
    var writing: NSFileCoordinator.WritingOptions = []
    /// `coordinate(with:queue:byAccessor:)`.
    var isAsynchronous = false
    /// `prepare(forReadingItemsAt:…)`.
    var prepares = false
    /// Seconds that the accessor stays, or until ``Access/finish()``.
    var holds: Double?
    /// Text that the accessor writes into the first written item.
    var text: String?
    /// It reads first, and writes what it read with the text behind it when it ends: an update that takes its time.
    var appends = false
    /// A path that it moves that item to.
    var to: String?
    var removes = false
  }

  enum Phase: String { case waiting, running, done }

  /// What the accessor saw and did.
  struct Seen: Sendable {
    var paths: [String] = []
    var text = ""
    var failure: (any Error)?
  }

  /// Seconds for which an accessor is held at most.
  static let longest = 60.0

  let coordinator: NSFileCoordinator
  private let plan: Plan
  // What follows is changed under the condition.
  private let condition = NSCondition()
  private var phase = Phase.waiting
  private var seen = Seen()
  private var isFinishing = false
  private var jobs: [@Sendable () -> Void] = []

  init(_ plan: Plan, _ coordinator: NSFileCoordinator) { (self.plan, self.coordinator) = (plan, coordinator) }

  var state: (phase: Phase, seen: Seen) {
    condition.lock()
    defer { condition.unlock() }
    return (phase, seen)
  }

  /// Waits for the accessor, or with `end` for its end.
  ///
  /// - Returns: whether it came in so many seconds.
  func wait(_ seconds: Double, end: Bool) -> Bool {
    let limit = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while phase == .waiting || end && phase == .running {
      guard condition.wait(until: limit) else { return false }
    }
    return true
  }

  func finish() {
    condition.lock()
    isFinishing = true
    condition.broadcast()
    condition.unlock()
  }

  /// Has the accessor's thread do something while the accessor is held: what is asked for there is asked for within this access.
  ///
  /// - Returns: `false`: no accessor is running.
  func run(_ job: @escaping @Sendable () -> Void) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    guard phase == .running, !isFinishing else { return false }
    jobs.append(job)
    condition.broadcast()
    return true
  }

  // MARK: Its thread

  func carryOut() {
    var refusal: NSError?
    let (reads, writes) = (plan.reads, plan.writes)
    if plan.prepares {
      unsafe coordinator.prepare(
        forReadingItemsAt: reads, options: plan.reading, writingItemsAt: writes, options: plan.writing, error: &refusal
      ) { done in
        enter(reads + writes)
        done()
      }
    } else if plan.isAsynchronous || reads.count + writes.count > 2 || reads.count > 1 {
      refusal = carryOutAsynchronously()
    } else if let read = reads.first, let write = writes.first {
      unsafe coordinator.coordinate(
        readingItemAt: read, options: plan.reading, writingItemAt: write, options: plan.writing, error: &refusal
      ) { enter([$0, $1]) }
    } else if let read = reads.first {
      unsafe coordinator.coordinate(readingItemAt: read, options: plan.reading, error: &refusal) { enter([$0]) }
    } else if writes.count == 2 {
      unsafe coordinator.coordinate(
        writingItemAt: writes[0], options: plan.writing, writingItemAt: writes[1], options: plan.writing,
        error: &refusal
      ) { enter([$0, $1]) }
    } else if let write = writes.first {
      unsafe coordinator.coordinate(writingItemAt: write, options: plan.writing, error: &refusal) { enter([$0]) }
    }
    condition.lock()
    if let refusal { seen.failure = refusal }
    phase = .done
    condition.broadcast()
    condition.unlock()
  }

  private func carryOutAsynchronously() -> NSError? {
    let intents =
      plan.reads.map { NSFileAccessIntent.readingIntent(with: $0, options: plan.reading) }
      + plan.writes.map { NSFileAccessIntent.writingIntent(with: $0, options: plan.writing) }
    let queue = OperationQueue()
    let over = DispatchSemaphore(value: 0)
    let refusal = Refusal()
    coordinator.coordinate(with: intents, queue: queue) { error in
      refusal.error = error as NSError?
      if error == nil { self.enter(intents.map(\.url)) }
      over.signal()
    }
    over.wait()
    // The access ends when the accessor has returned, which is a moment later.
    queue.waitUntilAllOperationsAreFinished()
    return refusal.error
  }

  private final class Refusal: @unchecked Sendable { var error: NSError? }

  /// The accessor.
  private func enter(_ urls: [URL]) {
    var seen = Seen(paths: urls.map(\.path))
    do { seen.text = try act(urls) } catch { seen.failure = error }
    hold(seen)
    guard plan.appends, let text = plan.text, let written = written(urls) else { return }
    do { try Data((seen.text + text).utf8).write(to: URL(fileURLWithPath: written.path)) } catch {
      condition.lock()
      self.seen.failure = error
      condition.unlock()
    }
  }

  private func hold(_ seen: Seen) {
    condition.lock()
    self.seen = seen
    phase = .running
    condition.broadcast()
    let limit = Date(timeIntervalSinceNow: plan.holds ?? 0)
    while plan.holds != nil {
      if let job = jobs.first {
        jobs.removeFirst()
        condition.unlock()
        job()
        condition.lock()
      } else if isFinishing || !condition.wait(until: limit) {
        break
      }
    }
    condition.unlock()
  }

  private func written(_ urls: [URL]) -> URL? { plan.writes.isEmpty ? nil : urls[plan.reads.count] }

  /// - Returns: the content of the first item, after that.
  private func act(_ urls: [URL]) throws -> String {
    let written = written(urls)
    if let text = plan.text, !plan.appends, let written {
      try Data(text.utf8).write(to: URL(fileURLWithPath: written.path))
    }
    if let to = plan.to, let written {
      let new = URL(fileURLWithPath: to)
      coordinator.item(at: written, willMoveTo: new)
      guard unsafe rename(written.path, new.path) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      coordinator.item(at: written, didMoveTo: new)
      return try content(new.path)
    }
    if plan.removes, let written {
      try FileManager.default.removeItem(atPath: written.path)
      return ""
    }
    // A writer may be the first to make its item.
    return plan.reads.isEmpty ? (try? content(urls[0].path)) ?? "" : try content(urls[0].path)
  }

  private func content(_ path: String) throws -> String {
    if let names = try? FileManager.default.contentsOfDirectory(atPath: path) {
      return names.sorted().joined(separator: "\n")
    }
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }
}
