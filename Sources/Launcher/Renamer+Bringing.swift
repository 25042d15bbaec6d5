internal import Kernel
internal import Sandbox
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A file that a program made elsewhere, as in its container or in `/tmp`, and renames over its document (`FSF-4`).
///
/// There is a border of mounts between the two. `mv(1)` and `install(1)` take a document away before they copy to such a place,
/// which is impossible here. So the file is copied to the folder of the grant, with the app's rights, and saved from there as any
/// other; then it is removed where it was.
extension Renamer {
  /// A regular file, and where it lies.
  struct Source {
    let folder: Descriptor
    let name: String
    /// Open for reading, by the app's rights.
    let file: Descriptor
  }

  func bringing(
    _ address: UInt64, from folder: UInt64?, _ to: Target, _ flags: UInt64, _ call: SeccompListener.Notification
  ) -> Decision {
    #if AMBIT_MUTANTS
      if Mutant.nothingBrought.isActive { return .goOn }
    #endif
    guard to.isDocument, !to.isFolder, flags & ~Self.noReplace == 0,
      let source = source(address, from: folder, for: to, call), listener.isWaiting(call)
    else { return .goOn }
    if flags == Self.noReplace { return .fail(.fileExists) }
    return .bring(source, grant: to.grant, folder: to.folder, document: to.name)
  }

  /// The file, if the app may read it and remove it from its place; in all other cases the kernel answers.
  private func source(
    _ address: UInt64, from folder: UInt64?, for to: Target, _ call: SeccompListener.Notification
  ) -> Source? {
    place(address, from: folder, call) { folder, name throws(KernelError) in
      let present = try Descriptor.open(name, below: folder, flags: [.path, .noFollow])
      // Something that is mounted there cannot be taken away.
      guard try present.status().kind == .regular, present.mount == folder.mount, folder.mayBeChanged,
        to.folder.mayBeChanged
      else { return nil }
      return Source(folder: folder, name: name, file: try present.reopened(.read))
    }
  }

  /// - Returns: the answer to the rename; `nil`: the kernel answers.
  func bring(
    _ source: Source, to grant: String, in folder: Descriptor, _ document: String,
    for call: SeccompListener.Notification
  ) -> Errno?? {
    let copied = ".ambit-\(call.id)"
    do throws(KernelError) {
      // The limit is asked for first: it takes the launcher's rights.
      let ceiling = try listener.fileSizeLimit(of: call)
      try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
        let copy = try Descriptor.open(
          copied, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
        do throws(KernelError) {
          try source.file.copyAll(to: copy, ceiling: ceiling) { listener.isWaiting(call) }
        } catch {
          try? folder.removeFile(copied)
          throw error
        }
      }
    } catch { return .some(error.errno) }
    let outcome = replace(grant, in: folder, document, by: copied)
    do throws(KernelError) {
      return try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
        guard case .some(.none) = outcome else {
          try? folder.removeFile(copied)
          return outcome
        }
        // Another file has got its name meanwhile: that one stays.
        let present = try? Descriptor.open(source.name, below: source.folder, flags: [.path, .noFollow])
        let file = try source.file.status()
        if let present = try present?.status(), present.inode == file.inode, present.device == file.device {
          try source.folder.removeFile(source.name)
        }
        return outcome
      }
    } catch { return .some(error.errno) }
  }
}
