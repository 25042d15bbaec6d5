internal import Kernel

/// A walk through folders, nearest to the last place first: by the inode number that reading a folder tells anyway,
/// so that nothing but true candidates is opened.
struct DocumentSearch {
  let finder: DocumentFinder
  let identity: FileIdentity
  var budget: Int
  var visited: Set<UInt64> = []
  /// However slow the disk is: everybody else waits for the broker meanwhile (`BMK-16`).
  private let deadline = Clock.monotonic() + 5_000_000_000

  init(finder: DocumentFinder, identity: FileIdentity, budget: Int) {
    self.finder = finder
    self.identity = identity
    self.budget = budget
  }

  mutating func run(from path: String) -> (document: FoundDocument, by: FindMethod)? {
    for (distance, ancestor) in path.ancestors.enumerated() {
      guard budget > 0 else { return nil }
      guard
        let folder = try? Descriptor.open(
          ancestor, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
        let status = try? folder.status(), (try? folder.volumeIdentity()) == identity.volume
      else { continue }
      visited.insert(status.inode)
      if let document = walk(folder, device: status.device, deep: distance > 0) {
        return (document, distance == 0 ? .siblings : .search)
      }
      if distance == 0, let document = walk(folder, device: status.device, deep: true) { return (document, .search) }
    }
    return searchOtherMounts()
  }

  /// In one folder with all that is below it, and nowhere else.
  mutating func run(in folder: Descriptor) -> FoundDocument? {
    guard
      let start = try? Descriptor.open(
        ".", below: folder, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
      let status = try? start.status()
    else { return nil }
    visited.insert(status.inode)
    return walk(start, device: status.device, deep: true)
  }

  /// Its volume may be mounted somewhere else than it was (`BMK-1`).
  private mutating func searchOtherMounts() -> (document: FoundDocument, by: FindMethod)? {
    for mount in MountTable.localMountPoints() where budget > 0 {
      guard let folder = try? Descriptor.open(mount, flags: [.read, .directory, .nonBlocking]),
        let status = try? folder.status(), (try? folder.volumeIdentity()) == identity.volume,
        visited.insert(status.inode).inserted
      else { continue }
      if let document = walk(folder, device: status.device, deep: true) { return (document, .search) }
    }
    return nil
  }

  /// Depth first, and a folder is opened only when its turn comes: what is open at a time is one folder a level.
  private mutating func walk(_ start: Descriptor, device: UInt64, deep: Bool) -> FoundDocument? {
    var waiting: [(name: String, parent: Descriptor)] = []
    var current: Descriptor? = start
    while true {
      if let folder = current, let entries = try? DirectoryReader.entries(of: folder) {
        if Clock.monotonic() > deadline { budget = 0 }
        for entry in entries {
          budget -= 1
          if entry.inode == identity.inode, let found = finder.candidate(entry.name, below: folder, identity) {
            return found
          }
          if deep, entry.kind == .directory, visited.insert(entry.inode).inserted {
            waiting.append((entry.name, folder))
          }
        }
        if budget <= 0 { return nil }
      }
      guard let next = waiting.popLast() else { return nil }
      current = try? Descriptor.open(
        next.name, below: next.parent, flags: [.read, .directory, .noFollow, .nonBlocking], resolve: .noSymlinks)
      if (try? current?.status().device) != device { current = nil }
    }
  }
}
