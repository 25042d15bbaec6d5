internal import Kernel

/// A walk through an app's container, which may hold anything: by descriptor, following no link, leaving out
/// mounts in it, and bounded.
struct ContainerWalk {
  /// Entries that may be looked at.
  private var budget: Int
  private static let depth = 64
  /// Asked at each folder.
  private let isWanted: () -> Bool

  init(budget: Int = 200_000, while isWanted: @escaping () -> Bool = { true }) {
    self.budget = budget
    self.isWanted = isWanted
  }

  /// - Parameters:
  ///   - folders: told of each folder: the one that it is in, its name and its inode.
  ///   - visit: told of each other entry, and the folder that it is in.
  /// - Returns: `false` if there was more than could be looked at.
  mutating func run(
    from start: Descriptor, folders: (Descriptor, String, UInt64) -> Void = { _, _, _ in },
    _ visit: (_ folder: Descriptor, _ entry: DirectoryReader.Entry) -> Void
  ) -> Bool {
    guard let device = try? start.status().device else { return false }
    var waiting: [(name: String, parent: Descriptor, depth: Int)] = []
    var current: (folder: Descriptor, depth: Int)? = (start, 0)
    var isComplete = true
    while true {
      if let (folder, depth) = current {
        guard isWanted(), let entries = try? DirectoryReader.entries(of: folder, limit: budget) else { return false }
        for entry in entries {
          budget -= 1
          if budget <= 0 { return false }
          if entry.kind == .directory { folders(folder, entry.name, entry.inode) }
          switch entry.kind {
          case .directory where depth < Self.depth: waiting.append((entry.name, folder, depth + 1))
          case .directory, nil: isComplete = false
          default: visit(folder, entry)
          }
        }
      }
      guard let next = waiting.popLast() else { return isComplete }
      current = nil
      if let folder = try? Descriptor.open(
        next.name, below: next.parent, flags: [.read, .directory, .noFollow, .nonBlocking]),
        (try? folder.status().device) == device
      {
        current = (folder, next.depth)
      } else {
        isComplete = false
      }
    }
  }
}
