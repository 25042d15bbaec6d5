package import Kernel
internal import SystemPackage

/// How an app that runs under a host id of its own comes to a document that belongs to another id.
package enum AccessMethod: String, CaseIterable, Sendable {
  /// The document appears on a mount that shows its owner as the app (`mount_setattr(2)`, `MOUNT_ATTR_IDMAP`).
  case idMappedMount
  /// The document appears with the ids that it has on disk, and these give the app the grant's rights. An ordinary user's app
  /// has the user's own id, so it always gets this one.
  case plainMount
  /// The document appears with the ids that it has on disk, which do not give the app the grant's rights. The broker opens it
  /// and hands over descriptors.
  case descriptors

  /// The kernel's answers about one document.
  package struct Facts: Equatable, Sendable {
    /// The app has a host id of its own, as root's apps have.
    package var hasOwnID: Bool
    /// The document's file system lets its mounts be id-mapped.
    package var isMappable: Bool
    /// Mode bits and access lists give the app's id the grant's rights.
    package var isAdmitted: Bool

    package init(hasOwnID: Bool, isMappable: Bool, isAdmitted: Bool) {
      (self.hasOwnID, self.isMappable, self.isAdmitted) = (hasOwnID, isMappable, isAdmitted)
    }
  }

  package init(_ facts: Facts) {
    self =
      switch (facts.hasOwnID, facts.isMappable, facts.isAdmitted) {
      case (false, _, _): .plainMount
      case (true, true, _): .idMappedMount
      case (true, false, true): .plainMount
      case (true, false, false): .descriptors
      }
  }

  /// In a few words, for tables.
  package var words: String {
    switch self {
    case .idMappedMount: "id-mapped mount"
    case .plainMount: "plain mount"
    case .descriptors: "descriptors"
    }
  }

  /// The acts that an app with a host id of its own cannot do and could on an id-mapped mount, as a sentence; `nil`: none.
  package var cost: String? {
    switch self {
    case .idMappedMount: nil
    case .plainMount:
      "The file system has no id-mapped mounts. Files that the app makes there belong to the app's own host id, and files below "
        + "a folder open by their path only as far as their own mode bits admit that id."
    case .descriptors:
      "The file system has no id-mapped mounts, and the mode bits do not admit the app's host id. The app gets descriptors from "
        + "the broker (ambitctl open, SecurityScope.openDescriptor); opening the path fails with EACCES. In a folder it opens, "
        + "lists and makes files this way, but cannot rename, remove or make folders."
    }
  }

  /// The mode bits of a document that a grant needs.
  ///
  /// - Parameter isFolder: also of a package.
  package static func needed(isFolder: Bool, _ rights: AccessRights) -> AccessBits {
    var bits: AccessBits = isFolder ? [.read, .execute] : .read
    if rights == .readWrite { bits.insert(.write) }
    return bits
  }

  /// Tries it with an open file or folder. Nothing is changed, and nothing of the file is read.
  ///
  /// - Parameter hostID: the app's, where it has one of its own.
  /// - Throws: where not even a plain mount of it can be made.
  package init(
    trying document: Descriptor, isFolder: Bool, _ rights: AccessRights, hostID: UInt32?
  ) throws(KernelError) {
    var facts = Facts(hasOwnID: hostID != nil, isMappable: false, isAdmitted: false)
    if let hostID {
      let status = try document.status()
      let tree = try DetachedTree(cloning: document, recursive: false, path: "")
      let identity = try IdentityMap(diskUser: status.userID, diskGroup: status.groupID, shownAs: hostID)
      facts.isMappable = try tree.map(identity, with: .data, recursive: false)
      facts.isAdmitted = document.admits(hostID, Self.needed(isFolder: isFolder, rights))
    }
    self.init(facts)
  }
}

extension DetachedTree {
  /// Restricts the tree, and shows its files with other ids where the file system can do that.
  ///
  /// - Returns: `false` if it cannot: then nothing has been changed.
  func map(
    _ identity: IdentityMap, with attributes: MountAttributes, recursive: Bool
  ) throws(KernelError) -> Bool {
    do throws(KernelError) {
      try restrict(attributes, recursive: recursive, identity: identity)
      return true
    } catch {
      // EINVAL: the file system cannot (`mount_setattr(2)`). EPERM: the mount is id-mapped already, by another process.
      guard error.errno == .invalidArgument || error.errno == .notPermitted else { throw error }
      return false
    }
  }
}
