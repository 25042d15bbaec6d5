package import CrashStates
package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A folder of this process's own, in which states are laid out. It is removed with the last reference.
///
/// Everything in it is made anew and by descriptor, so no link that is laid out is ever followed.
package final class Scratch: Sendable {
  package let path: String
  private let folder: Descriptor

  /// - Parameter parent: an absolute path.
  package init(in parent: String) throws(KernelError) {
    var template = parent.path(of: "ambit-crashcheck-XXXXXX").kernel
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe buffer.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
    }
    guard made else { throw KernelError.last("mkdtemp", parent) }
    path = unsafe template.withUnsafeBufferPointer { buffer in
      unsafe buffer.baseAddress.map { unsafe String(kernel: $0) } ?? ""
    }
    folder = try Descriptor.open(path, flags: [.read, .directory, .noFollow])
  }

  /// In memory (`/dev/shm`) where that has room and runs programs, else below `parent`. On a disk, most of the time goes into making
  /// and removing files.
  package static func inMemory(holding bytes: Int, or parent: String) throws(KernelError) -> Scratch {
    let memory = "/dev/shm"
    var found = statvfs()
    if unsafe statvfs(memory, &found) == 0, found.f_flag & noPrograms == 0,
      Probe.fileSystem(of: memory) == tmpfs,
      UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize)).partialValue / 4 >= bytes,
      let made = try? Scratch(in: memory)
    {
      return made
    }
    return try Scratch(in: parent)
  }

  /// `ST_NOEXEC` of statvfs(3).
  private static let noPrograms: UInt = 8
  /// `TMPFS_MAGIC` of `linux/magic.h`.
  private static let tmpfs = 0x0102_1994

  deinit {
    _ = try? folder.removeContents()
    unsafe rmdir(path.kernel)
  }

  /// Makes an empty folder in it, or empties the one that is there.
  package func emptied(_ name: String) throws(KernelError) -> Descriptor {
    do throws(KernelError) { try folder.makeDirectory(name, mode: 0o700) } catch {
      guard error.errno == .fileExists else { throw error }
      let there = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
      try there.removeContents()
      return there
    }
    return try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
  }

  /// Lays a tree out below a name: `name/root/…`.
  package func lay(_ tree: FileTree, at name: String) throws(KernelError) {
    try tree.lay(in: try emptied(name))
  }
}

extension FileTree {
  /// Writes the tree into an empty folder: each root under its name. A file with several names becomes several files.
  package func lay(in folder: Descriptor) throws(KernelError) {
    for root in roots { try lay(root.id, as: root.name, in: folder, depth: 0) }
  }

  private func lay(_ id: ID, as name: String, in folder: Descriptor, depth: Int) throws(KernelError) {
    switch nodes[id] {
    case .file(let content)?:
      let file = try Descriptor.open(
        name, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(content)
    case .link(let text)?: try folder.makeLink(text, as: name)
    case .folder(let entries)?:
      try folder.makeDirectory(name, mode: 0o700)
      guard depth < 100 else { return }
      let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
      for (name, child) in entries.sorted(by: { $0.key < $1.key }) {
        try lay(child, as: name.text, in: made, depth: depth + 1)
      }
    case nil: return
    }
  }
}
