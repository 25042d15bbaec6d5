/// Which of the pieces of work that may take long, and change something, are under way at a time.
///
/// A pure value: no threads, no clock of its own. Each is of an owner, who has two places and one for each subject: what is done
/// to a document waits for what is being done to it. One that shows no progress for the patience is given up: it keeps its
/// place until its thread has come back, so that a file system that hangs takes no more than its owner's two threads.
package struct ErrandQueue: Sendable {
  package struct Errand: Equatable, Sendable {
    package let id: Int
    package let owner: String
    /// What is worked on, for example a grant.
    package let subject: String
  }

  /// Nanoseconds without progress.
  package static let patience: Int64 = 10_000_000_000
  static let mostOfOwner = 2
  static let most = 16
  /// Of one owner, beyond which more is not taken.
  static let mostWaiting = 64

  /// In the order in which they came.
  private(set) var waiting: [Errand] = []
  package private(set) var running: [Int: Errand] = [:]
  /// When each that runs has shown progress last.
  private var progress: [Int: Int64] = [:]
  /// Those that were given up and have not come back.
  private(set) var stuck: Set<Int> = []
  private var last = 0

  package init() {}

  /// - Returns: `nil` if its owner has too much waiting.
  package mutating func add(owner: String, subject: String) -> Errand? {
    guard waiting.count(where: { $0.owner == owner }) < Self.mostWaiting else { return nil }
    last += 1
    let errand = Errand(id: last, owner: owner, subject: subject)
    waiting.append(errand)
    return errand
  }

  /// The next one to begin now; ask until there is none.
  package mutating func begin(at now: Int64) -> Errand? {
    if waiting.isEmpty || running.count >= Self.most { return nil }
    // Whoever comes later for the same thing does not overtake.
    var passed: Set<[String]> = []
    let index = waiting.firstIndex { errand in
      defer { passed.insert([errand.owner, errand.subject]) }
      let own = running.values.filter { $0.owner == errand.owner }
      return own.count < Self.mostOfOwner && !own.contains { $0.subject == errand.subject }
        && !passed.contains([errand.owner, errand.subject])
    }
    guard let index else { return nil }
    let errand = waiting.remove(at: index)
    running[errand.id] = errand
    progress[errand.id] = now
    return errand
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

  /// Gives up what shows no progress, and what waits behind it for the same thing.
  ///
  /// - Returns: what is over without a result.
  package mutating func expire(at now: Int64) -> [Int] {
    let overdue = progress.filter { now - $0.value >= Self.patience && !stuck.contains($0.key) }.map(\.key).sorted()
    stuck.formUnion(overdue)
    let hopeless = waiting.filter { errand in
      let own = running.values.filter { $0.owner == errand.owner && stuck.contains($0.id) }
      return own.count >= Self.mostOfOwner || own.contains { $0.subject == errand.subject }
    }
    waiting.removeAll(where: hopeless.contains)
    return overdue + hopeless.map(\.id)
  }

  package var isIdle: Bool { waiting.isEmpty && running.isEmpty }

  /// When ``expire(at:)`` may have something to do next.
  package var nextDue: Int64? {
    progress.filter { !stuck.contains($0.key) }.values.min().map { $0 + Self.patience }
  }
}
