package import Kernel

/// The measurements on this machine, before any conclusion. The checks are functions of this value.
package struct Facts: Equatable, Sendable {
  /// A namespace and whether a sandbox could be begun with it and a user namespace.
  package struct Namespace: Equatable, Sendable {
    package var name: String
    package var support: Support

    package init(_ name: String, _ support: Support) {
      self.name = name
      self.support = support
    }
  }

  /// A folder that Ambit keeps something in.
  package struct Folder: Equatable, Sendable {
    /// The folder itself, which need not exist yet.
    package var path: String
    /// The folder, or the nearest one above it that exists.
    package var existing: String
    package var isWritable: Bool
    /// Owner and permission bits of `existing`.
    package var owner: UInt32
    package var mode: UInt32
    /// `statfs(2)`'s magic number.
    package var fileSystem: Int

    package init(path: String, existing: String, isWritable: Bool, owner: UInt32, mode: UInt32, fileSystem: Int) {
      self.path = path
      self.existing = existing
      self.isWritable = isWritable
      self.owner = owner
      self.mode = mode
      self.fileSystem = fileSystem
    }
  }

  /// Where the sockets go.
  package enum Runtime: Equatable, Sendable {
    /// Into `XDG_RUNTIME_DIR`, which is this folder.
    case session(Folder)
    /// Into a folder that the user chose with `AMBIT_HOME`.
    case elsewhere(String)
    case unset
  }

  /// Which control groups there are, and the controllers that this user can have a group with.
  package enum Groups: Equatable, Sendable {
    case unified(Set<GroupController>)
    case legacy(Set<GroupController>)
    case none
  }

  package var user: UInt32 = 0
  package var kernelRelease = ""
  package var architecture = ""

  package var namespaces: [Namespace] = []
  /// All of them at once, as a sandbox makes them.
  package var sandbox: Support = .absent("not tried")
  /// `kernel.unprivileged_userns_clone` (Debian); nil when the kernel has no such setting. Likewise the next two.
  package var unprivilegedNamespaces: Int?
  /// `kernel.apparmor_restrict_unprivileged_userns` (Ubuntu).
  package var apparmorRestriction: Int?
  /// `user.max_user_namespaces`.
  package var namespaceLimit: Int?

  package var clone3: Support = .absent("not tried")
  package var clonePidfd: Support = .absent("not tried")
  package var pidfdOpen: Support = .absent("not tried")
  package var pidfdGetfd: Support = .absent("not tried")
  package var closeRange: Support = .absent("not tried")

  package var seccompErrno: Support = .absent("not tried")
  package var seccompKill: Support = .absent("not tried")
  package var seccompNotify: Support = .absent("not tried")
  package var seccompListener: Support = .absent("not tried")
  package var seccompSyncWakeUp: Support = .absent("not tried")
  package var libseccomp = ""
  package var landlock: Support = .absent("not tried")

  package var openat2: Support = .absent("not tried")
  package var openTree: Support = .absent("not tried")
  package var moveMount: Support = .absent("not tried")
  package var mountSetattr: Support = .absent("not tried")
  package var idMappedMount: Support = .absent("not tried")

  /// The folder whose file system the next three were tried on: the home folder, where documents are.
  package var home = ""
  package var fileHandle: Support = .absent("not tried")
  package var openByHandle: Support = .absent("not tried")
  package var birthTime: Support = .absent("not tried")

  /// The folders that were asked about.
  package var documents: [DocumentFolder] = []

  package var state: Folder?
  package var runtime: Runtime = .unset
  package var controlGroups: Groups = .none
  package var fuse: Support = .absent("not tried")
  package var lease: Support = .absent("not tried")
  /// Whether this user may lease files of other owners.
  package var leasesOfOthers = false
  /// Seconds; nil: the kernel sets no end, or does not say.
  package var leaseBreakTime: Int?
  package var pseudoTerminal: Support = .absent("not tried")

  /// Where the programs that `make bench` measures Ambit against are; nil when they are not installed.
  package var bubblewrap: String?
  package var documentPortal: String?

  package init() {}
}
