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

  /// Copies a file or a folder with all in it. From any thread.
  ///
  /// - Parameters:
  ///   - folder: where the copy is made.
  ///   - owner: whose the copy is to be; `nil`: this process's.
  ///   - duplicates: the copy gets a number in any case.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED` and nothing is left.
  /// - Throws: `EPERM` for anything but a file or a folder of files, folders and links.
  package init(
    of source: Descriptor, named wanted: String, in folder: Descriptor, owner: Descriptor?, duplicates: Bool = false,
    while isWanted: @escaping () -> Bool
  ) throws(KernelError) {
    let temporary = ".ambit-\(Grant.makeID())"
    do throws(KernelError) {
      switch try source.status().kind {
      case .regular:
        // No mode at all: the content is elsewhere (``Placeholder``), and a privileged broker would copy zeros.
        guard try source.status().mode & 0o777 != 0 else { throw KernelError("copy", wanted, errno: .permissionDenied) }
        let file = try Descriptor.open(
          temporary, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
        try source.reopened([.read, .nonBlocking]).copyContent(to: file, while: isWanted)
        try source.adopt(file, as: owner ?? file)
        try file.synchronize()
      case .directory:
        try folder.makeDirectory(temporary, mode: 0o700)
        let made = try Descriptor.open(temporary, below: folder, flags: [.read, .directory, .noFollow])
        var content = PackageCopy(owner: owner ?? made, while: isWanted)
        try content.fill(made, from: try source.reopened([.read, .directory]), like: nil)
        try source.adopt(made, as: owner ?? made)
      default: throw KernelError("copy", "\(wanted) is no file and no folder", errno: .notPermitted)
      }
      let names = duplicates ? NameProposals(duplicating: wanted) : NameProposals(wanted)
      name = try Self.place(temporary, in: folder, as: names, wanted)
      item = try Descriptor.open(name, below: folder, flags: .place)
    } catch {
      if (try? folder.removeFile(temporary)) == nil { try? folder.removeTree(temporary) }
      throw error
    }
    _ = folder.namesAreOnDisk
  }

  /// Copies several, all or none.
  package static func all(
    _ items: [(item: Descriptor, name: String)], into folder: Descriptor, owner: Descriptor?,
    while isWanted: @escaping () -> Bool
  ) -> Result<[ItemCopy], KernelError> {
    var copies: [ItemCopy] = []
    do throws(KernelError) {
      for (item, name) in items {
        copies.append(try ItemCopy(of: item, named: name, in: folder, owner: owner, while: isWanted))
      }
      return .success(copies)
    } catch {
      discard(copies, in: folder)
      return .failure(error)
    }
  }

  /// Takes copies away that nobody will have.
  package static func discard(_ copies: [ItemCopy], in folder: Descriptor) {
    for copy in copies {
      if (try? folder.removeFile(copy.name)) == nil { try? folder.removeTree(copy.name) }
    }
  }

  /// Gives it the wanted name, or the first free one of “Essay 2.txt”, “Essay 3.txt” (`PCK-17`).
  private static func place(
    _ temporary: String, in folder: Descriptor, as names: NameProposals, _ wanted: String
  ) throws(KernelError) -> String {
    for name in names {
      do throws(KernelError) {
        try folder.moveAside(temporary, to: folder, as: name)
        return name
      } catch {
        guard error.errno == .fileExists else { throw error }
      }
    }
    throw KernelError("renameat2", wanted, errno: .fileExists)
  }
}
