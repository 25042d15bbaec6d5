internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Removing folders that another user may have filled, and may be filling: by descriptor, following no link.
///
/// However deep they are, only a few folders are open at a time: the content of a folder's folders is first moved up.
extension Descriptor {
  /// Removes a folder from this one with everything in it. A mount in it stays, and is an error.
  ///
  /// - Parameter most: files and folders that are removed at the most; then the folder stays.
  /// - Throws: the first thing that could not be removed; the rest is gone all the same.
  package func removeTree(_ name: String, most: Int = .max) throws(KernelError) {
    if try openToEmpty(name).removeContents(most: most) { try removeDirectory(name) }
  }

  /// Empties this folder.
  ///
  /// - Parameter most: files and folders that are removed at the most.
  /// - Returns: whether it is empty.
  /// - Throws: as ``removeTree(_:)``.
  @discardableResult
  package func removeContents(most: Int = .max) throws(KernelError) -> Bool {
    var removal = TreeRemoval(top: self, left: most)
    return try removal.run()
  }

  /// Opens a folder of this one to read it, and lets its owner change it if it did not.
  fileprivate func openToEmpty(_ name: String) throws(KernelError) -> Descriptor {
    let place = try Descriptor.open(name, below: self, flags: [.path, .directory, .noFollow], resolve: .sameMount)
    if try place.status().mode & 0o700 != 0o700 {
      // A descriptor of a place cannot be changed; its entry in /proc can, and leads nowhere else.
      try KernelError.check("chmod", name) { unsafe chmod("/proc/self/fd/\(place.rawValue)", 0o700) }
    }
    return try Descriptor.open(".", below: place, flags: [.read, .directory])
  }
}

private struct TreeRemoval {
  let top: Descriptor
  /// Files and folders that may still be removed.
  var left: Int
  /// How many subvolumes (btrfs) the top is in, one in the other: nothing moves up from one of them to the next.
  private let depth: Int
  private static let deepest = 32
  /// Names that are read at a time: a folder can have more than there is memory for.
  private static let slice = 10_000
  private var moved = 0
  private var failure: KernelError?

  init(top: Descriptor, left: Int, depth: Int = 0) {
    self.top = top
    self.left = left
    self.depth = depth
  }

  mutating func run() throws(KernelError) -> Bool {
    var stuck: Set<String> = []
    while true {
      let entries = try Self.entries(of: top, but: stuck)
      if entries.isEmpty { break }
      for entry in entries {
        guard left > 0 else { return false }
        if !remove(entry.name) { stuck.insert(entry.name) }
      }
    }
    if let failure { throw failure }
    return true
  }

  private static func entries(
    of folder: Descriptor, but stuck: Set<String>
  ) throws(KernelError) -> [DirectoryReader.Entry] {
    try DirectoryReader.entries(of: folder, limit: slice + stuck.count).filter { !stuck.contains($0.name) }
  }

  /// Removes an entry of the top; of a folder with folders in it, its direct content: the folders move up.
  ///
  /// - Returns: `false` if it stays.
  private mutating func remove(_ name: String) -> Bool {
    do throws(KernelError) {
      guard try !removeFile(name, of: top) else { return true }
      let folder = try top.openToEmpty(name)
      if depth < Self.deepest, folder.isSubvolume {
        var removal = TreeRemoval(top: folder, left: left, depth: depth + 1)
        let isEmpty = try removal.run()
        left = removal.left
        if isEmpty { try top.removeDirectory(name) }
        return true
      }
      var stuck: Set<String> = []
      while true {
        let entries = try Self.entries(of: folder, but: stuck)
        if entries.isEmpty { break }
        for entry in entries {
          guard left > 0 else { return true }
          do throws(KernelError) {
            guard try !removeFile(entry.name, of: folder) else { continue }
            // To give a folder another parent is to write in it.
            _ = try folder.openToEmpty(entry.name)
            try moveUp(entry.name, of: folder)
          } catch {
            note(error)
            stuck.insert(entry.name)
          }
        }
      }
      try top.removeDirectory(name)
      return true
    } catch {
      note(error)
      return error.errno == .noSuchFileOrDirectory
    }
  }

  /// Entries that another process removes meanwhile are gone all the same.
  private mutating func note(_ error: KernelError) {
    if error.errno != .noSuchFileOrDirectory { failure = failure ?? error }
  }

  /// - Returns: `false` if it is a folder.
  private mutating func removeFile(_ name: String, of folder: Descriptor) throws(KernelError) -> Bool {
    left -= 1
    do throws(KernelError) { try folder.removeFile(name) } catch {
      if error.errno == .noSuchFileOrDirectory { return true }
      // POSIX has the one, Linux the other.
      guard error.errno == .isDirectory || error.errno == .notPermitted else { throw error }
      return false
    }
    return true
  }

  private mutating func moveUp(_ name: String, of folder: Descriptor) throws(KernelError) {
    while true {
      moved += 1
      do throws(KernelError) { return try folder.moveAside(name, to: top, as: ".\(moved)") } catch {
        if error.errno != .fileExists { throw error }
      }
    }
  }
}
