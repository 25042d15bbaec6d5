internal import Paths

/// Which changes of names a crash may have left on the disk.
///
/// The names of one folder change in order, so a crash loses the last changes of a folder, and never one before them. A change of two
/// folders is one step in both. `fsync(2)` of the folder makes its changes safe; that of a file does nothing for its name.
struct NameChoices: Sendable {
  /// The steps that change names, in order.
  let steps: [Int]
  /// Folders whose last changes may be lost; each is an axis.
  let folders: [FileTree.ID]
  /// Of each folder: its steps in order, and how many of them are safe.
  private let changes: [FileTree.ID: (steps: [Int], safe: Int)]
  /// Steps of two folders.
  private let shared: [Int]
  private let operations: [Int: [FileTree.ID]]

  /// - Parameter point: the crash comes before this step.
  init(_ trace: Trace, before point: Int) {
    var steps: [Int] = []
    var changes: [FileTree.ID: (steps: [Int], safe: Int)] = [:]
    var operations: [Int: [FileTree.ID]] = [:]
    for number in 0..<point {
      let folders = trace.steps[number].operation.folders
      guard !folders.isEmpty else { continue }
      steps.append(number)
      operations[number] = folders
      for folder in folders { changes[folder, default: ([], 0)].steps.append(number) }
    }
    for number in 0..<point {
      switch trace.steps[number].operation {
      case .sync(let folder, let since):
        guard let found = changes[folder] else { continue }
        changes[folder]?.safe = max(found.safe, found.steps.count { $0 < since })
      case .syncAll(let since):
        for (folder, found) in changes { changes[folder]?.safe = max(found.safe, found.steps.count { $0 < since }) }
      default: continue
      }
    }
    self.steps = steps
    self.operations = operations
    shared = steps.filter { operations[$0]?.count == 2 }
    // What is safe in one folder is safe in the other, with everything before it there.
    var isSettled = false
    while !isSettled {
      isSettled = true
      for step in shared where (operations[step] ?? []).contains(where: { Self.isSafe(step, changes[$0]) }) {
        for folder in operations[step] ?? [] where !Self.isSafe(step, changes[folder]) {
          let place = changes[folder]?.steps.firstIndex(of: step) ?? -1
          changes[folder]?.safe = place + 1
          isSettled = false
        }
      }
    }
    self.changes = changes
    folders = changes.filter { $0.value.safe < $0.value.steps.count }.map(\.key).sorted()
  }

  private static func isSafe(_ step: Int, _ changes: (steps: [Int], safe: Int)?) -> Bool {
    guard let changes, let place = changes.steps.firstIndex(of: step) else { return false }
    return place < changes.safe
  }

  /// Whether a change of names is on the disk whatever happens.
  func isSafe(_ step: Int) -> Bool { (operations[step] ?? []).contains { Self.isSafe(step, changes[$0]) } }

  /// How many choices each axis has: so many of the last changes are lost.
  var axes: [Int] { folders.map { folder in changes[folder].map { $0.steps.count - $0.safe + 1 } ?? 1 } }

  /// The choice that loses everything from a step on.
  func choice(losingFrom step: Int) -> [Int] {
    folders.map { folder in
      guard let found = changes[folder] else { return 0 }
      return min(found.steps.count { $0 >= step }, found.steps.count - found.safe)
    }
  }

  /// The changes that survive a choice. Where a change of two folders is lost in one of them, it is lost in the other with
  /// everything after it.
  func survivors(_ choice: some Collection<Int>) -> Set<Int> {
    var kept = changes.mapValues(\.steps.count)
    for (folder, lost) in zip(folders, choice) { kept[folder]? -= lost }
    func survives(_ step: Int, in folder: FileTree.ID) -> Bool {
      (changes[folder]?.steps.firstIndex(of: step) ?? 0) < kept[folder] ?? 0
    }
    var isSettled = shared.isEmpty
    while !isSettled {
      isSettled = true
      for step in shared where (operations[step] ?? []).contains(where: { !survives(step, in: $0) }) {
        for folder in operations[step] ?? [] where survives(step, in: folder) {
          kept[folder] = changes[folder]?.steps.firstIndex(of: step)
          isSettled = false
        }
      }
    }
    var result: Set<Int> = []
    for (folder, found) in changes { result.formUnion(found.steps.prefix(kept[folder] ?? 0)) }
    return result
  }
}
