package import Kernel
internal import Paths
internal import SystemPackage
internal import UserFiles

/// A copy of a document or of an app's file under a name that is free, whole or not at all: it gets its name when it is on the disk.
package struct ItemCopy: Sendable {
  /// The name that it got.
  package let name: String
  /// The copy, opened as a place (`O_PATH`).
  package let item: Descriptor
  /// When it, or a folder's list of names, was changed last: `st_ctime`.
  private let changed: Int64

  /// Copies a file or a folder with all in it. From any thread.
  ///
  /// - Parameters:
  ///   - folder: where the copy is made.
  ///   - owner: whose the copy is to be; `nil`: this process's.
  ///   - duplicates: the copy gets a number in any case.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED` and nothing is left.
  ///   - beforeDisk: told before each wait for the disk.
  /// - Throws: `EPERM` for anything but a file or a folder of files, folders and links.
  package init(
    of source: Descriptor, named wanted: String, in folder: Descriptor, owner: Descriptor?, duplicates: Bool = false,
    while isWanted: @escaping () -> Bool, beforeDisk: @escaping () -> Void = {}
  ) throws(KernelError) {
    let staged = try StagedCopy(
      of: source, named: wanted, in: folder, owner: owner, while: isWanted, beforeDisk: beforeDisk)
    self = try staged.place(duplicates ? NameProposals(duplicating: wanted) : NameProposals(wanted))
    beforeDisk()
    _ = folder.namesAreOnDisk
  }

  fileprivate init(name: String, in folder: Descriptor) throws(KernelError) {
    self.name = name
    item = try Descriptor.open(name, below: folder, flags: .place)
    changed = try item.status().changed
  }

  /// Copies several, all or none: they get their names when all are on the disk.
  package static func all(
    _ items: [(item: Descriptor, name: String)], into folder: Descriptor, owner: Descriptor?,
    while isWanted: @escaping () -> Bool, beforeDisk: @escaping () -> Void = {}
  ) -> Result<[ItemCopy], KernelError> {
    var staged: [StagedCopy] = []
    var copies: [ItemCopy] = []
    do throws(KernelError) {
      for (item, name) in items {
        staged.append(
          try StagedCopy(of: item, named: name, in: folder, owner: owner, while: isWanted, beforeDisk: beforeDisk))
      }
      for (each, (_, name)) in zip(staged, items) { copies.append(try each.place(NameProposals(name))) }
      beforeDisk()
      _ = folder.namesAreOnDisk
      guard isWanted() else { throw KernelError("copy", items.first?.name ?? "", errno: .canceled) }
      return .success(copies)
    } catch {
      for each in staged.dropFirst(copies.count) { each.remove() }
      discard(copies, in: folder)
      return .failure(error)
    }
  }

  /// Takes copies away for which there is no use. A copy that was changed meanwhile stays, and so does another file in its place. From
  /// any thread: a folder may hold much.
  package static func discard(_ copies: [ItemCopy], in folder: Descriptor) {
    for copy in copies {
      guard let present = try? Descriptor.open(copy.name, below: folder, flags: .place),
        let (now, own) = try? (present.status(), copy.item.status()),
        now.inode == own.inode, present.mount == copy.item.mount, now.changed == copy.changed
      else { continue }
      if (try? folder.removeFile(copy.name)) == nil { try? folder.removeTree(copy.name) }
    }
  }
}

/// A whole copy that has no name yet that people see.
private struct StagedCopy {
  private let temporary: String
  private let folder: Descriptor
  private let wanted: String

  init(
    of source: Descriptor, named wanted: String, in folder: Descriptor, owner: Descriptor?,
    while isWanted: @escaping () -> Bool, beforeDisk: @escaping () -> Void
  ) throws(KernelError) {
    temporary = ".ambit-\(Grant.makeID())"
    (self.folder, self.wanted) = (folder, wanted)
    do throws(KernelError) {
      switch try source.status().kind {
      case .regular:
        // No mode at all: the content is elsewhere (``Placeholder``), and a privileged broker would copy zeros.
        guard try source.status().mode & 0o777 != 0 else { throw KernelError("copy", wanted, errno: .permissionDenied) }
        let file = try Descriptor.open(
          temporary, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
        try source.reopened([.read, .nonBlocking]).copyContent(to: file, while: isWanted)
        try source.adopt(file, as: owner ?? file)
        beforeDisk()
        try file.synchronize()
      case .directory:
        try folder.makeDirectory(temporary, mode: 0o700)
        let made = try Descriptor.open(temporary, below: folder, flags: [.read, .directory, .noFollow])
        var content = PackageCopy(owner: owner ?? made, while: isWanted, beforeDisk: beforeDisk)
        try content.fill(made, from: try source.reopened([.read, .directory]), like: nil)
        try source.adopt(made, as: owner ?? made)
      default: throw KernelError("copy", "\(wanted) is no file and no folder", errno: .notPermitted)
      }
      // The wait for the disk may have been too long for the request.
      guard isWanted() else { throw KernelError("copy", wanted, errno: .canceled) }
    } catch {
      remove()
      throw error
    }
  }

  /// Gives it the wanted name, or the first free one of “Essay 2.txt”, “Essay 3.txt” (`PCK-17`). Where it gets none, it is gone.
  func place(_ names: NameProposals) throws(KernelError) -> ItemCopy {
    do throws(KernelError) {
      for name in names {
        do throws(KernelError) { try folder.moveAside(temporary, to: folder, as: name) } catch {
          guard error.errno == .fileExists else { throw error }
          continue
        }
        return try ItemCopy(name: name, in: folder)
      }
      throw KernelError("renameat2", wanted, errno: .fileExists)
    } catch {
      remove()
      throw error
    }
  }

  func remove() {
    if (try? folder.removeFile(temporary)) == nil { try? folder.removeTree(temporary) }
  }
}
