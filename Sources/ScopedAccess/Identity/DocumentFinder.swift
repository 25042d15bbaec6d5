package import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Which way led to a document; part of every resolution's audit record.
package enum FindMethod: String, Sendable {
  /// Where it was last seen.
  case lastPlace
  /// The descriptor that the broker kept open.
  case pinned
  /// Its kernel handle.
  case handle
  /// The folder that it was last seen in, under another name.
  case siblings
  /// A search from there outwards.
  case search
  /// It is gone, and another file stands in its place.
  case place
}

/// Finds a document by its identity, after any rename or move within its file system (`BMK-1`).
///
/// The path is evidence, never proof: whatever a path leads to is compared with the identity before it is believed.
/// With `CAP_DAC_READ_SEARCH` the kernel opens the handle, in the same time whatever the size of the tree. Without it
/// handles can only be compared, so the candidates come from the last place, the descriptor kept since, the last
/// folder's other entries, and a bounded search.
package struct DocumentFinder: Sendable {
  /// Entries that a search may look at before it gives up.
  private let searchBudget: Int
  private let privileged: Bool

  /// - Parameter privileged: whether the kernel may be asked to open handles; `nil` looks at who this process is.
  package init(searchBudget: Int = 400_000, privileged: Bool? = nil) {
    self.searchBudget = searchBudget
    self.privileged = privileged ?? (geteuid() == 0)
  }

  /// - Parameters:
  ///   - path: where it was last seen, absolute.
  ///   - pinned: a descriptor kept open since, if there is one.
  /// - Returns: `nil` if it is nowhere to be found. Deleted counts as not found, even while it is still open somewhere.
  package func find(
    _ identity: FileIdentity, lastSeenAt path: String, pinned: Descriptor?
  ) -> (document: FoundDocument, by: FindMethod)? {
    if let document = candidate(path, below: nil, identity) { return (document, .lastPlace) }
    if let pinned, let document = try? FoundDocument(pinned), document.identity == identity, Self.isLinked(pinned) {
      return (document, .pinned)
    }
    if privileged, let document = byHandle(identity, near: path) {
      return (document, .handle)
    }
    var search = Search(finder: self, identity: identity, budget: searchBudget)
    return search.run(from: path)
  }

  /// Opens a path without following any link, and answers it only if it is the document.
  fileprivate func candidate(_ path: String, below folder: Descriptor?, _ identity: FileIdentity) -> FoundDocument? {
    guard
      let opened = try? Descriptor.open(path, below: folder, flags: [.path, .noFollow], resolve: .noSymlinks),
      let status = try? opened.status(), status.inode == identity.inode, let document = try? FoundDocument(opened),
      document.identity == identity
    else { return nil }
    return document
  }

  private static func isLinked(_ descriptor: Descriptor) -> Bool {
    guard let status = try? descriptor.status() else { return false }
    return status.links > 0
  }

  private func byHandle(_ identity: FileIdentity, near path: String) -> FoundDocument? {
    guard let volume = volumeRoot(identity.volume, near: path),
      let opened = try? identity.handle.open(on: volume, flags: .path), Self.isLinked(opened),
      let document = try? FoundDocument(opened), document.identity == identity
    else { return nil }
    return document
  }

  /// Any open folder on the document's file system: an ancestor of its last place, else whatever is mounted.
  private func volumeRoot(_ volume: [UInt8], near path: String) -> Descriptor? {
    func onVolume(_ path: String) -> Descriptor? {
      guard let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking]),
        let found = try? folder.volumeIdentity(), found == volume
      else { return nil }
      return folder
    }
    for ancestor in path.ancestors {
      if let folder = onVolume(ancestor) { return folder }
    }
    for mount in MountTable.mountPoints() {
      if let folder = onVolume(mount) { return folder }
    }
    return nil
  }
}

extension String {
  /// The folders above an absolute path, nearest first, up to the root.
  fileprivate var ancestors: [String] {
    var components = split(separator: "/").dropLast()
    var result: [String] = []
    while !components.isEmpty {
      result.append("/" + components.joined(separator: "/"))
      components = components.dropLast()
    }
    return result + ["/"]
  }
}

/// A walk through folders, nearest to the last place first: by the inode number that reading a folder tells anyway,
/// so that nothing but true candidates is opened.
private struct Search {
  let finder: DocumentFinder
  let identity: FileIdentity
  var budget: Int
  var visited: Set<UInt64> = []

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
      if let document = walk(folder, device: status.device, deep: distance > 0) {
        return (document, distance == 0 ? .siblings : .search)
      }
      if distance == 0, let document = walk(folder, device: status.device, deep: true) { return (document, .search) }
    }
    return nil
  }

  /// Depth first, and a folder is opened only when its turn comes: what is open at a time is one folder a level.
  private mutating func walk(_ start: Descriptor, device: UInt64, deep: Bool) -> FoundDocument? {
    var waiting: [(name: String, parent: Descriptor)] = []
    var current: Descriptor? = start
    while true {
      if let folder = current, let entries = try? DirectoryReader.entries(of: folder) {
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
