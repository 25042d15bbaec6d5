internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

extension Descriptor {
  /// Removes a folder from this one with everything in it, which another user may have filled: by descriptor, following no link.
  ///
  /// However deep it is, only two folders are open at a time: what lies in a folder's folders is first moved up. What is mounted in
  /// it stays, and is an error.
  /// - Throws: the first thing that could not be removed; the rest is gone all the same.
  package func removeTree(_ name: String) throws(KernelError) {
    let top = try openToEmpty(name)
    var number = 0
    var failure: KernelError?
    var stuck: Set<String> = []
    while true {
      let entries = try DirectoryReader.entries(of: top).filter { !stuck.contains($0.name) }
      if entries.isEmpty { break }
      for entry in entries {
        do throws(KernelError) { try top.removeOne(entry.name, &number) } catch {
          failure = failure ?? error
          stuck.insert(entry.name)
        }
      }
    }
    if let failure { throw failure }
    try removeDirectory(name)
  }

  /// Removes an entry of this folder; of a folder with folders in it, only what lies in it directly: those move up into this one.
  private func removeOne(_ name: String, _ number: inout Int) throws(KernelError) {
    do throws(KernelError) {
      return try removeFile(name)
    } catch {
      // POSIX has the one, Linux the other.
      guard error.errno == .isDirectory || error.errno == .notPermitted else { throw error }
    }
    let folder = try openToEmpty(name)
    for entry in try DirectoryReader.entries(of: folder) {
      do throws(KernelError) { try folder.removeFile(entry.name) } catch {
        guard error.errno == .isDirectory || error.errno == .notPermitted else { throw error }
        // To give a folder another parent is to write in it.
        _ = try folder.openToEmpty(entry.name)
        try folder.move(entry.name, into: self, &number)
      }
    }
    try removeDirectory(name)
  }

  private func move(_ name: String, into other: Descriptor, _ number: inout Int) throws(KernelError) {
    while true {
      number += 1
      do throws(KernelError) {
        try KernelError.checkNegative("renameat2", name) {
          unsafe ambit_move_new(rawValue, name, other.rawValue, ".\(number)")
        }
        return
      } catch { if error.errno != .fileExists { throw error } }
    }
  }

  /// Opens a folder of this one to read it, and lets its owner change it if it did not.
  private func openToEmpty(_ name: String) throws(KernelError) -> Descriptor {
    let place = try Descriptor.open(name, below: self, flags: [.path, .directory, .noFollow])
    if try place.status().mode & 0o700 != 0o700 {
      // A descriptor of a place cannot be changed; its entry in /proc can, and leads nowhere else.
      try KernelError.check("chmod", name) { unsafe chmod("/proc/self/fd/\(place.rawValue)", 0o700) }
    }
    return try Descriptor.open(".", below: place, flags: [.read, .directory])
  }
}
