package import Folders
package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A document as one app instance is shown it: opened for the app, with no more rights than the app's mount has.
package struct ShownDocument: Sendable {
  let place: Descriptor
  let method: AccessMethod
  let hostID: UInt32?

  /// The file to be opened.
  package struct Wanted: Sendable {
    let isFolder: Bool
    let isWritten: Bool
    /// Relative to the document, which is a folder.
    let path: String?
    let isMade: Bool

    /// - Parameters:
    ///   - kind: the document's.
    ///   - path: of something below it; it may not lead out of the document, nor through a link.
    ///   - writing: of a file.
    ///   - making: a file, if nothing is there.
    package init(_ kind: DocumentKind, writing: Bool, path: String? = nil, making: Bool = false) {
      (isFolder, isWritten, self.path, isMade) = (kind.isFolder, writing, path, making && path != nil)
    }
  }

  /// Opens it. Asks the file system, which may keep one waiting.
  ///
  /// As the app itself where that is enough, so that the kernel decides as it would for the app; else as the broker, since the user
  /// has granted it.
  /// - Throws: `EXDEV` or `ELOOP` for a path that leads out of the document or through a link; `EPERM` for anything but
  ///   a regular file or a folder.
  package func open(_ wanted: Wanted) throws(KernelError) -> Descriptor {
    let opened: Descriptor
    do throws(KernelError) {
      let asApp: () throws(KernelError) -> Descriptor = { () throws(KernelError) in try self.openAsCaller(wanted) }
      opened = try withFileSystemIdentity(hostID, asApp)
    } catch {
      guard method != .idMappedMount, hostID != nil, error.errno == .permissionDenied else { throw error }
      opened = try openAsCaller(wanted)
    }
    switch try opened.status().kind {
    case .regular, .directory: return opened
    default: throw KernelError("open", "neither a file nor a folder", errno: .notPermitted)
    }
  }

  private func openAsCaller(_ wanted: Wanted) throws(KernelError) -> Descriptor {
    // Without waiting: an app may have a lease on a file of its own, or a pipe may be there.
    var flags: OpenFlags = [.nonBlocking, .noControllingTerminal, wanted.isWritten ? .readWrite : .read]
    guard let path = wanted.path else {
      if wanted.isFolder { flags.insert(.directory) }
      return try place.reopened(flags)
    }
    flags.insert(.noFollow)
    do throws(KernelError) {
      return try Descriptor.open(path, below: place, flags: flags, resolve: [.beneath, .noSymlinks])
    } catch {
      guard wanted.isMade, error.errno == .noSuchFileOrDirectory else { throw error }
    }
    return try make(path, flags)
  }

  /// Makes a file that belongs to the owner of the folder around it, as on an id-mapped mount.
  private func make(_ path: String, _ flags: OpenFlags) throws(KernelError) -> Descriptor {
    let names = path.pathNames
    guard let name = names.last, name != ".", name != ".." else {
      throw KernelError("open", "no file's name", errno: .invalidArgument)
    }
    let parent = names.dropLast().joined(separator: "/")
    let folder = try Descriptor.open(
      parent.isEmpty ? "." : parent, below: place, flags: [.path, .directory], resolve: [.beneath, .noSymlinks])
    let made = try Descriptor.open(
      name, below: folder, flags: flags.union([.create, .exclusive]), mode: 0o644,
      resolve: [.beneath, .noSymlinks])
    // The app's own mask is not known here, and the broker's is none that an app would have.
    try made.changeMode(0o644)
    guard let hostID else { return made }
    let (owner, own) = (try folder.status(), try made.status())
    if own.userID != hostID, own.userID != owner.userID || own.groupID != owner.groupID {
      try made.changeOwner(owner.userID, group: owner.groupID)
    }
    return made
  }
}
