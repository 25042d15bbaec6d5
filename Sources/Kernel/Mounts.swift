internal import CLinux
internal import SystemPackage

/// The acts that a mount denies (`mount_setattr(2)`).
package struct MountAttributes: OptionSet, Sendable, Hashable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let readOnly = MountAttributes(rawValue: 0x01)
  package static let noSetuid = MountAttributes(rawValue: 0x02)
  package static let noDevices = MountAttributes(rawValue: 0x04)
  package static let noExecute = MountAttributes(rawValue: 0x08)

  /// No set-user-id programs, and no devices.
  package static let plain: MountAttributes = [.noSetuid, .noDevices]
  /// Nor any programs at all.
  package static let data: MountAttributes = [.noSetuid, .noDevices, .noExecute]

  /// The names as in `mount(8)`.
  package var names: [String] {
    var names: [String] = []
    if contains(.readOnly) { names.append("ro") }
    if contains(.noSetuid) { names.append("nosuid") }
    if contains(.noDevices) { names.append("nodev") }
    if contains(.noExecute) { names.append("noexec") }
    return names
  }
}

/// A mount that hangs nowhere yet: a clone of the tree that a descriptor shows, to be moved to where it shall appear.
package struct DetachedTree: Sendable {
  package let descriptor: Descriptor

  /// Clones the mount at an open file or folder (`open_tree(2)`, `OPEN_TREE_CLONE`).
  ///
  /// The descriptor has to come from this process's own mount namespace.
  /// - Parameter recursive: take along the mounts below.
  package init(cloning source: Descriptor, recursive: Bool, path: String) throws(KernelError) {
    let raw = try KernelError.checkNegative("open_tree", path) {
      unsafe ambit_clone_tree(source.rawValue, "", recursive ? 1 : 0)
    }
    descriptor = Descriptor(owning: raw)
  }

  /// Clones the mount at a path, with the mounts below.
  ///
  /// - Parameter followsLink: clones the target of a link at the path's end; otherwise the link itself is cloned.
  package init(at path: String, followsLink: Bool) throws(KernelError) {
    let raw = try KernelError.checkNegative("open_tree", path) {
      unsafe ambit_clone_path(path.kernel, followsLink ? 1 : 0)
    }
    descriptor = Descriptor(owning: raw)
  }

  /// Adds denials, and parts it from its origin: later mounts here do not appear there, and the other way round. `identity` shows
  /// the files to other ids than they have on disk.
  package func restrict(
    _ attributes: MountAttributes, recursive: Bool, identity: IdentityMap? = nil
  ) throws(KernelError) {
    try KernelError.checkNegative("mount_setattr", attributes.names.joined(separator: ",")) {
      ambit_set_attributes(
        descriptor.rawValue, recursive ? 1 : 0, attributes.rawValue, 0, identity?.namespace.rawValue ?? -1)
    }
  }

  /// Makes the tree appear over an opened file or folder of the calling thread's mount namespace (`move_mount(2)`).
  package func move(onto target: Descriptor, path: String) throws(KernelError) {
    try KernelError.checkNegative("move_mount", path) { ambit_move_mount(descriptor.rawValue, target.rawValue) }
  }

  /// The same over a name in an open folder of that namespace. A process that may rename in the folder may do so at the same
  /// moment: where the tree stands then says ``Mounts/number(of:in:)``.
  package func move(onto name: String, in folder: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("move_mount", name) {
      unsafe ambit_move_mount_into(descriptor.rawValue, folder.rawValue, name.kernel)
    }
  }

  /// The same over the file at a path. Links are followed on the way to it, and not at its end: the folders on the way must not
  /// belong to any user that one does not trust.
  package func move(onto path: String) throws(KernelError) {
    try KernelError.checkNegative("move_mount", path) { unsafe ambit_move_mount_to(descriptor.rawValue, path.kernel) }
  }
}

/// Ids as an id-mapped mount shows them: one owner and one group on disk stand for one identity here.
package struct IdentityMap: Sendable {
  package let namespace: Descriptor

  package init(diskUser: UInt32, diskGroup: UInt32, shownAs identity: UInt32) throws(KernelError) {
    let raw = try KernelError.checkNegative("clone", "user namespace for an id-mapped mount") {
      ambit_idmap_namespace(diskUser, identity, diskGroup, identity)
    }
    namespace = Descriptor(owning: raw)
  }
}

package enum Mounts {
  /// The number of the mount that a name leads to, as ``Descriptor/mount`` has it; `nil` where nothing is. No link is followed at its
  /// end.
  ///
  /// - Parameter folder: the start of a relative name; `nil`: the current folder.
  package static func number(of name: String, in folder: Descriptor? = nil) -> UInt64? {
    // AT_FDCWD
    let number = unsafe ambit_mount_of(folder?.rawValue ?? -100, name.kernel)
    return number < 0 ? nil : UInt64(number)
  }

  /// Takes a mount away at once; files that are open on it stay open (`umount2(2)`, `MNT_DETACH`).
  package static func detach(_ path: String) throws(KernelError) {
    try KernelError.checkNegative("umount2", path) { unsafe ambit_unmount(path.kernel) }
  }

  /// The same if no process has anything of the mount open or mapped, nor stands in it.
  ///
  /// - Returns: `false` if one has; then it stays. A mount that others lie in counts as one that is in use.
  package static func detachIdle(_ path: String) throws(KernelError) -> Bool {
    do throws(KernelError) {
      try KernelError.checkNegative("umount2", path) { unsafe ambit_unmount_idle(path.kernel) }
      return true
    } catch {
      guard error.errno == .resourceBusy else { throw error }
      return false
    }
  }

  /// Whether a process has something of a mount open or mapped, or stands in it. To be asked once, of a mount that
  /// nothing is mounted in and that is to be detached: this does not wait, in contrast to an unmount, which waits until
  /// the mount is gone from all processors.
  package static func isInUse(_ path: String) throws(KernelError) -> Bool {
    try KernelError.checkNegative("umount2", path) { unsafe ambit_mount_in_use(path.kernel) } == 1
  }

  /// Makes a mount read-only for good, and the mounts in it: opening for writing, making and removing files is `EROFS` from then
  /// on, also for processes that stand in it (`mount_setattr(2)`).
  ///
  /// - Returns: `false` if that cannot be, as long as something of it is open for writing.
  package static func makeReadOnly(_ path: String) -> Bool {
    guard let mount = try? Descriptor.open(path, flags: [.path, .noFollow], resolve: .noSymlinks) else { return false }
    func set(recursive: Bool) -> Bool {
      ambit_set_attributes(mount.rawValue, recursive ? 1 : 0, MountAttributes.readOnly.rawValue, 0, -1) >= 0
    }
    // Making a file takes a moment in which it counts as open for writing.
    for _ in 0..<8 where set(recursive: true) { return true }
    // The open file may lie in a mount in it.
    _ = set(recursive: false)
    return false
  }

  /// Moves the mount at one place of the calling thread's mount namespace to another (`move_mount(2)`). Of links the same holds as
  /// for ``DetachedTree/move(onto:)``.
  package static func move(_ path: String, onto target: String) throws(KernelError) {
    try KernelError.checkNegative("move_mount", path) { unsafe ambit_move_mount_at(path.kernel, target.kernel) }
  }
}
