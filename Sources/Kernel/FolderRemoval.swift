internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

extension Descriptor {
  /// Empties this folder. Never follows a link, and needs no more descriptors for deep trees than for flat ones: what lies deeper
  /// is moved up before it is removed.
  ///
  /// - Parameter most: files and folders that are removed at the most. Somebody may go on filling the folder.
  /// - Returns: whether it is empty.
  @discardableResult
  package func removeContents(most: Int = 1_000_000) throws(KernelError) -> Bool {
    var left = most
    var number = 0
    while left > 0 {
      let entries = try DirectoryReader.entries(of: self)
      if entries.isEmpty { return true }
      for entry in entries where left > 0 {
        left -= 1
        if (try? removeFile(entry.name)) != nil { continue }
        guard let folder = try? enter(entry.name) else { continue }
        for inner in try DirectoryReader.entries(of: folder) where left > 0 {
          left -= 1
          if (try? folder.removeFile(inner.name)) != nil { continue }
          // The folder that is moved has to be its owner's to write: its entry “..” changes.
          _ = try? folder.enter(inner.name)
          number += 1
          try? folder.move(inner.name, to: self, as: ".\(number)-\(Clock.monotonic())")
        }
        try? removeDirectory(entry.name)
      }
    }
    return false
  }

  /// Opens a folder in this one, whatever its owner has forbidden themselves.
  private func enter(_ name: String) throws(KernelError) -> Descriptor {
    let place = try Descriptor.open(name, below: self, flags: [.path, .directory, .noFollow])
    let mode = try place.status().mode
    if mode & 0o700 != 0o700 {
      try KernelError.check("chmod", name) {
        unsafe chmod("/proc/self/fd/\(place.rawValue)", mode_t(mode & 0o7777 | 0o700))
      }
    }
    return try Descriptor.open(name, below: self, flags: [.read, .directory, .noFollow])
  }
}
