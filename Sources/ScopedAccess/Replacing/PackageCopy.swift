internal import Kernel
internal import SystemPackage

/// A copy of a folder with all that is in it: by descriptor, following no link, and never with anything in it that a process has
/// open, or that has another name elsewhere. From any thread.
struct PackageCopy {
  /// The owner of the copy.
  let owner: Descriptor
  /// Asked from time to time; where it says no, the error is `ECANCELED`.
  let isWanted: () -> Bool
  /// Told before each wait for the disk.
  private let beforeDisk: () -> Void
  private let budget: UInt64?
  /// Bytes that the copy takes, as far as they are bounded.
  private(set) var size: UInt64 = 0
  private var left = most

  /// Files and folders in a package.
  private static let most = 200_000
  private static let depth = 64
  /// Bytes that the name and the facts of a file or a folder take.
  static let entrySize: UInt64 = 4096

  /// - Parameter budget: bytes of all files, and ``entrySize`` for each entry; `nil`: as much as there is. A copy with a bound has
  ///   no attributes: each file could have many of 64 KiB.
  init(
    owner: Descriptor, atMost budget: UInt64? = nil, while isWanted: @escaping () -> Bool,
    beforeDisk: @escaping () -> Void = {}
  ) {
    self.beforeDisk = beforeDisk
    self.owner = owner
    self.budget = budget
    self.isWanted = isWanted
  }

  /// Fills an empty folder with the content of another one.
  ///
  /// - Parameter former: a file there with the same name and kind as one here gives it its attributes.
  /// - Throws: `EPERM` if there is anything but files, folders and links; `E2BIG` if there is too much, `EFBIG` if it has too
  ///   many bytes; `EXDEV` if something is mounted in it.
  mutating func fill(_ copy: Descriptor, from source: Descriptor, like former: Descriptor?) throws(KernelError) {
    try fill(copy, from: source, like: former, depth: Self.depth)
    // Files alone would not be enough: after a crash their names would be missing.
    beforeDisk()
    try copy.synchronizeFully()
  }

  private mutating func fill(
    _ copy: Descriptor, from source: Descriptor, like former: Descriptor?, depth: Int
  ) throws(KernelError) {
    for entry in try DirectoryReader.entries(of: source, limit: max(1, left)) {
      left -= 1
      guard left > 0, depth > 0 else { throw KernelError("copy", entry.name, errno: .argListTooLong) }
      guard isWanted() else { throw KernelError("copy", entry.name, errno: .canceled) }
      try charge(Self.entrySize, for: entry.name)
      let found = try Descriptor.open(entry.name, below: source, flags: [.path, .noFollow])
      guard found.mount == source.mount else { throw KernelError("copy", entry.name, errno: .improperLink) }
      let kind = try found.status().kind
      let old = try old(entry.name, kind, in: former)
      switch kind {
      case .regular:
        let file = try Descriptor.open(
          entry.name, below: copy, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
        guard try found.status().mode & 0o777 != 0 else {
          throw KernelError("copy", "a placeholder", errno: .permissionDenied)
        }
        let content = try found.reopened([.read, .nonBlocking])
        if let budget {
          // Counted while it is copied: an app can make it larger at any moment, and a file may have many names here.
          let count = try content.copyContent(to: file, atMost: budget - size, while: isWanted)
          try charge(count, for: entry.name)
        } else {
          try content.copyContent(to: file, while: isWanted)
        }
        try dress(file, from: found, like: old)
        beforeDisk()
        try file.synchronize()
      case .directory:
        try copy.makeDirectory(entry.name, mode: 0o700)
        let folder = try Descriptor.open(entry.name, below: copy, flags: [.read, .directory, .noFollow])
        try fill(folder, from: found, like: old, depth: depth - 1)
        try dress(folder, from: found, like: old)
        beforeDisk()
        try folder.synchronizeFully()
      case .symlink: try copy.copyLink(found, as: entry.name, owner: owner)
      case .other: throw KernelError("copy", "\(entry.name) is no file and no folder", errno: .notPermitted)
      }
    }
  }

  private mutating func charge(_ bytes: UInt64, for name: String) throws(KernelError) {
    guard let budget else { return }
    guard bytes <= budget - size else { throw KernelError("copy", name, errno: .fileTooLarge) }
    size += bytes
  }

  private func old(_ name: String, _ kind: FileStatus.Kind, in former: Descriptor?) throws(KernelError) -> Descriptor? {
    guard let former, kind != .symlink,
      let old = try? Descriptor.open(name, below: former, flags: [.path, .noFollow]), (try? old.status().kind) == kind
    else { return nil }
    return old
  }

  private func dress(_ made: Descriptor, from source: Descriptor, like old: Descriptor?) throws(KernelError) {
    guard budget == nil else { return }
    if let old { try old.copyAttributes(to: made) } else { try source.adopt(made, as: owner) }
  }
}

extension Descriptor {
  /// The same as ``copyContent(to:while:)`` for a file that another process may make larger meanwhile.
  ///
  /// - Parameter most: bytes.
  /// - Returns: the copy's size.
  /// - Throws: `EFBIG` if it is larger.
  func copyContent(
    to copy: Descriptor, atMost most: UInt64, while isWanted: () -> Bool
  ) throws(KernelError) -> UInt64 {
    let tooLarge = KernelError("copy", "descriptor \(rawValue)", errno: .fileTooLarge)
    guard try status().size <= most else { throw tooLarge }
    var isTooLarge = false
    do throws(KernelError) {
      try copyContent(to: copy) {
        isTooLarge = ((try? copy.status().size) ?? 0) > most
        return !isTooLarge && isWanted()
      }
    } catch {
      throw isTooLarge ? tooLarge : error
    }
    let size = try copy.status().size
    guard size <= most else { throw tooLarge }
    return size
  }
}
