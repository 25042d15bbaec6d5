internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// How far the user whom this process runs as could use a file, by the kernel's own answer: modes, access lists, immutable files,
/// read-only file systems and mounts.
package enum UserAccess: Equatable, Sendable {
  case none
  case readOnly
  case readWrite
}

extension Descriptor {
  /// The user's rights to the open file or folder (`access(2)`). Nothing is opened: no lease is broken, no program notices.
  ///
  /// A folder can be read by listing it and reaching its entries. Descriptors that were opened by `O_PATH` will do.
  package func userAccess(ofFolder isFolder: Bool) -> UserAccess {
    // A document whose content is not here (``Placeholder``): its owner may read it when it has come.
    if !isFolder, let status = try? status(), status.mode & 0o777 == 0, status.userID == getuid() { return .readWrite }
    let search = isFolder ? X_OK : 0
    guard ambit_user_may(rawValue, R_OK | search) == 0 else { return .none }
    return ambit_user_may(rawValue, W_OK | search) == 0 ? .readWrite : .readOnly
  }
}
