/// Which of the pieces of work that may take long, and change something, are under way at a time.
///
/// A pure value: no threads, no clock of its own. Each is of an owner, which has two places and one for each subject: a job on a
/// document waits for the running job on it. One that shows no progress for the patience is given up: it keeps its place until
/// its thread has come back, so that a file system that hangs takes no more than its owner's two threads.
package struct JobQueue: Sendable {
  package struct Job: Equatable, Sendable {
    package let id: Int
    package let owner: String
    /// The subject of the work, for example a grant.
    package let subject: String
  }

  /// Nanoseconds without progress.
  package static let patience: Int64 = 10_000_000_000
  static let mostOfOwner = 2
  static let most = 16
  /// Of one owner, beyond which more is not taken.
  static let mostWaiting = 64

  /// In the order in which they came.
  private(set) var waiting: [Job] = []
  package private(set) var running: [Int: Job] = [:]
  /// When each that runs has shown progress last.
  private var progress: [Int: Int64] = [:]
  /// Those that were given up and have not come back.
  private(set) var stuck: Set<Int> = []
  private var last = 0

  package init() {}

  /// - Returns: `nil` if its owner has too much waiting.
  package mutating func add(owner: String, subject: String) -> Job? {
    guard waiting.count(where: { $0.owner == owner }) < Self.mostWaiting else { return nil }
    last += 1
    let job = Job(id: last, owner: owner, subject: subject)
    waiting.append(job)
    return job
  }

  /// The next one to begin now; ask until there is none.
  package mutating func begin(at now: Int64) -> Job? {
    if waiting.isEmpty || running.count >= Self.most { return nil }
    // A later job for the same thing does not overtake.
    var passed: Set<[String]> = []
    let index = waiting.firstIndex { job in
      defer { passed.insert([job.owner, job.subject]) }
      let own = running.values.filter { $0.owner == job.owner }
      return own.count < Self.mostOfOwner && !own.contains { $0.subject == job.subject }
        && !passed.contains([job.owner, job.subject])
    }
    guard let index else { return nil }
    let job = waiting.remove(at: index)
    running[job.id] = job
    progress[job.id] = now
    return job
  }

  package mutating func note(progressOf id: Int, at time: Int64) {
    if let last = progress[id] { progress[id] = max(last, time) }
  }

  /// A thread has come back.
  ///
  /// - Returns: whether it had not been given up.
  package mutating func end(_ id: Int) -> Bool {
    running[id] = nil
    progress[id] = nil
    return stuck.remove(id) == nil
  }

  /// Gives up jobs that show no progress, and those that wait behind them for the same thing.
  ///
  /// - Returns: the jobs that are over without a result.
  package mutating func expire(at now: Int64) -> [Int] {
    let overdue = progress.filter { now - $0.value >= Self.patience && !stuck.contains($0.key) }.map(\.key).sorted()
    stuck.formUnion(overdue)
    let hopeless = waiting.filter { job in
      let own = running.values.filter { $0.owner == job.owner && stuck.contains($0.id) }
      return own.count >= Self.mostOfOwner || own.contains { $0.subject == job.subject }
    }
    waiting.removeAll(where: hopeless.contains)
    return overdue + hopeless.map(\.id)
  }

  package var isIdle: Bool { waiting.isEmpty && running.isEmpty }

  /// When ``expire(at:)`` may have something to do next.
  package var nextDue: Int64? {
    if progress.isEmpty { return nil }
    return progress.filter { !stuck.contains($0.key) }.values.min().map { $0 + Self.patience }
  }
}
