package import Kernel
internal import SystemPackage

/// Further files beside a shown document (`COO-25`).
extension ScopeMounts {
  /// The mode of their places where no folder of the app's own is around the document: it tells them from the places of documents.
  private static let mark: UInt64 = 0o1000

  /// Shows a file beside a shown document, under a name that nothing has there.
  ///
  /// - Parameter staging: the app's own folder around the document; `nil`: there is none.
  /// - Throws: with `EBUSY` if the app has renamed the place at that moment. Then nothing of the document is shown any more.
  package func showRelated(
    _ document: FoundDocument, grant: String, name: String, rights: AccessRights, in staging: Descriptor?
  ) throws(KernelError) {
    let path = Self.path(grant: grant, name: name)
    guard let known = shown[grant] else { throw KernelError("move_mount", path, errno: .noSuchFileOrDirectory) }
    let (tree, method) = try view(of: document, at: path, rights)
    guard method != .descriptors else { throw KernelError("move_mount", path, errno: .notSupported) }
    let number = try Self.number(of: tree, path)
    let folder = try makePlace(name, of: grant, in: staging)
    do throws(KernelError) {
      let isInPlace = try visit { () throws(KernelError) -> Bool in
        let around = try Descriptor.open(Self.folder(of: grant), flags: [.path, .directory], resolve: .noSymlinks)
        try tree.move(onto: name, in: around)
        // From here on the name is that of a mount, and the kernel refuses to rename it.
        if Mounts.number(of: name, in: around) == number { return true }
        try Mounts.detach(known.isStaged ? Self.folder(of: grant) : path)
        return false
      }
      guard isInPlace else { throw KernelError("move_mount", path, errno: .resourceBusy) }
    } catch {
      removePlace(name, from: folder, staging)
      throw error
    }
    related[grant, default: [:]][name] = number
  }

  /// Takes it away: new opens fail from here on.
  ///
  /// - Returns: the mount, if the app still has something of it open.
  /// - Throws: with `EBUSY` where it does not stand under its name any more.
  package func hideRelated(grant: String, name: String, in staging: Descriptor?) throws(KernelError) -> BusyMount? {
    guard let number = related[grant]?.removeValue(forKey: name) else { return nil }
    if related[grant]?.isEmpty == true { related[grant] = nil }
    let path = Self.path(grant: grant, name: name)
    let busy = try visit { () throws(KernelError) -> BusyMount? in
      guard Mounts.number(of: path) == number else { throw KernelError("umount2", path, errno: .resourceBusy) }
      return try detach(path, isRecursive: false)
    }
    if let folder = try? placeFolder(of: grant, staging) { removePlace(name, from: folder, staging) }
    return busy
  }

  private func removePlace(_ name: String, from folder: Descriptor, _ staging: Descriptor?) {
    try? withFileSystemIdentity(staging == nil ? hostID : nil) { () throws(KernelError) in try folder.removeFile(name) }
  }

  private func placeFolder(of grant: String, _ staging: Descriptor?) throws(KernelError) -> Descriptor {
    if let staging { return staging }
    return try Descriptor.open(grant, below: documents, flags: [.read, .directory, .noFollow])
  }

  /// - Returns: the folder that the place is in.
  private func makePlace(
    _ name: String, of grant: String, in staging: Descriptor?
  ) throws(KernelError) -> Descriptor {
    let folder = try placeFolder(of: grant, staging)
    let mode = staging == nil ? Self.mark : 0
    try withFileSystemIdentity(staging == nil ? hostID : nil) { () throws(KernelError) in
      _ = try Descriptor.open(name, below: folder, flags: [.create, .exclusive, .noFollow], mode: mode)
    }
    return folder
  }

  /// Whether a place is that of such a file.
  static func isRelated(_ name: String, in folder: Descriptor) -> Bool {
    let place = try? Descriptor.open(name, below: folder, flags: [.path, .noFollow])
    return ((try? place?.status().mode) ?? 0) & 0o7777 == UInt32(mark)
  }
}
