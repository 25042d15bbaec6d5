import Glibc
package import Kernel
import SystemPackage

/// Opens the user's choice, once, so that all later decisions are about that very file.
package enum DocumentOpening {
  /// Opens the document that a path names. Symbolic links in it are resolved here and never again.
  ///
  /// Nothing is read and nothing can block: the descriptor is `O_PATH`.
  ///
  /// - Throws: the kernel's error; `ENOTSUP` for anything but a regular file or a folder, `ESTALE` when the file cannot be reached
  ///   by its own path (deleted meanwhile, or hidden under a mount).
  package static func open(_ path: String) throws(KernelError) -> PickedDocument {
    if path.utf8.contains(0) { throw KernelError("openat", DisplayText(path).plain, errno: .invalidArgument) }
    return try open(FileName(path), in: AT_FDCWD)
  }

  /// Opens a name in an open folder. A symbolic link is the user's choice like any other: it is followed, here.
  static func open(_ name: FileName, in folder: Int32) throws(KernelError) -> PickedDocument {
    let subject = DisplayText(name.text).plain
    #if AMBIT_MUTANTS
      if Mutant.pickedLinkRefused.isActive {
        _ = try KernelPath.open(name, in: folder, O_RDONLY | O_NOFOLLOW, subject: subject)
      }
    #endif
    // The kernel resolves the whole path in one call; asking for the path first and opening it afterwards would
    // leave a moment in which a link could be turned elsewhere.
    let chosen = try KernelPath.open(name, in: folder, O_PATH, subject: subject)
    let status = try FileStatus(of: chosen.rawValue, subject: subject)
    let kind: PickerRequest.Kind
    switch status.kind {
    case .file: kind = .file
    // The name decides later whether the folder is a package.
    case .folder, .package: kind = .folder
    case .special, .broken: throw KernelError("openat", subject, errno: .notSupported)
    }
    let bytes = try KernelPath.bytes(of: chosen.rawValue, subject: subject)
    let path = String(kernel: bytes)
    // The path must lead to the open file: people, the audit log and the broker's checks go by the path.
    let document: Descriptor
    do throws(KernelError) {
      document = try KernelPath.open(FileName(path), O_PATH | O_NOFOLLOW, subject: subject)
    } catch {
      let isElsewhere = [.noSuchFileOrDirectory, .notDirectory].contains(error.errno)
      throw isElsewhere ? KernelError("openat", subject, errno: .staleNFSFileHandle) : error
    }
    guard try FileStatus(of: document.rawValue, subject: subject).isSameFile(as: status) else {
      throw KernelError("openat", subject, errno: .staleNFSFileHandle)
    }
    return PickedDocument(path: path, descriptor: document, kind: kind)
  }

  /// The error, for the message line or a script's author.
  static func sentence(_ error: KernelError, _ name: String) -> String {
    let quoted = DisplayText.quoted(name, limit: 60)
    switch error.errno {
    case .noSuchFileOrDirectory: return "\(quoted) does not exist."
    case .notDirectory: return "\(quoted) does not exist: a part of its path is not a folder."
    case .permissionDenied: return "\(quoted) is not open to you: permission denied."
    case .notSupported: return "\(quoted) is neither a file nor a folder."
    case .staleNFSFileHandle: return "\(quoted) is no longer where it was."
    case .tooManySymbolicLinkLevels: return "\(quoted) is a link that leads in a circle."
    default: return "\(quoted) cannot be opened: \(error.errno.description)."
    }
  }
}
