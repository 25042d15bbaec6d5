/// Which of the lookups that may take long are looked into at a time, and how long a caller waits for one.
///
/// A pure value: no threads, no clock of its own. A lookup goes by its queueKey: `nil` for documents on the machine's own disks,
/// else the mount point of a file system that may keep one waiting. A caller has one under way at a time. A lookup that has not
/// come back within the patience is given up: its thread stays behind until the kernel lets it go, and meanwhile nothing else is
/// begun that would wait behind it (`BMK-16`).
package struct LookupQueue: Sendable {
  package struct Job: Equatable, Sendable {
    package let id: Int
    package let owner: String
    package let queueKey: String?
    /// A walk through one folder. An app can ask for any number of these, each for a file that it has deleted.
    package let isInFolder: Bool
    /// When it is given up, whether it was begun or not.
    package let due: Int64
  }

  /// Nanoseconds.
  package static let patience: Int64 = 10_000_000_000
  /// At a time, with those that were given up and have not come back.
  static let mostLocal = 3
  static let mostInFolders = 1
  static let mostOfKey = 2
  static let mostOfKeys = 12
  static let mostWaiting = 8192

  /// In the order in which they came.
  private(set) var waiting: [Job] = []
  private(set) var running: [Int: Job] = [:]
  /// Those among them that were given up.
  private(set) var stuck: Set<Int> = []
  private var last = 0

  package init() {}

  /// - Returns: `nil` if it is given up at once: in its queueKey others have not come back, or too much waits.
  package mutating func add(
    owner: String, queueKey: String?, isInFolder: Bool = false, at now: Int64
  ) -> Job? {
    if let queueKey, stuck.contains(where: { running[$0]?.queueKey == queueKey }) { return nil }
    guard waiting.count < Self.mostWaiting else { return nil }
    last += 1
    let job = Job(id: last, owner: owner, queueKey: queueKey, isInFolder: isInFolder, due: now + Self.patience)
    waiting.append(job)
    return job
  }

  /// The next one to begin now; ask until there is none.
  package mutating func begin() -> Job? {
    if waiting.isEmpty { return nil }
    let busy = Set(running.values.filter { !stuck.contains($0.id) }.map(\.owner))
    let byKey = running.values.reduce(into: [String?: Int]()) { $0[$1.queueKey, default: 0] += 1 }
    let inKeys = running.count - (byKey[nil] ?? 0)
    let mayWalk = running.values.count { $0.queueKey == nil && $0.isInFolder } < Self.mostInFolders
    let index = waiting.firstIndex { job in
      guard !busy.contains(job.owner) else { return false }
      guard let queueKey = job.queueKey else {
        return byKey[nil, default: 0] < Self.mostLocal && (mayWalk || !job.isInFolder)
      }
      return byKey[queueKey, default: 0] < Self.mostOfKey && inKeys < Self.mostOfKeys
    }
    guard let index else { return nil }
    let job = waiting.remove(at: index)
    running[job.id] = job
    return job
  }

  /// A thread has come back.
  ///
  /// - Returns: whether its answer is still waited for.
  package mutating func end(_ id: Int) -> Bool {
    running[id] = nil
    return stuck.remove(id) == nil
  }

  /// Gives up due lookups, and those that wait behind them.
  ///
  /// - Returns: the lookups that are answered without a result.
  package mutating func expire(at now: Int64) -> [Int] {
    let overdue = running.values.filter { $0.due <= now && !stuck.contains($0.id) }.map(\.id).sorted()
    stuck.formUnion(overdue)
    let dead = Set(stuck.compactMap { running[$0]?.queueKey })
    let left = waiting.filter { $0.due > now && !($0.queueKey.map(dead.contains) ?? false) }
    let expired = overdue + waiting.filter { !left.contains($0) }.map(\.id)
    waiting = left
    return expired
  }

  package var isIdle: Bool { waiting.isEmpty && running.isEmpty }

  /// When ``expire(at:)`` has something to do next.
  package var nextDue: Int64? {
    (waiting.map(\.due) + running.values.filter { !stuck.contains($0.id) }.map(\.due)).min()
  }
}
