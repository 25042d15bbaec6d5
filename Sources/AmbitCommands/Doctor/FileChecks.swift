internal import Kernel
internal import ScopedAccess

/// The requirements for granting, finding and keeping documents.
extension Facts {
  var mountChecks: [Check] {
    let calls = [
      ("open_tree", openTree), ("move_mount", moveMount), ("mount_setattr", mountSetattr), ("openat2", openat2),
    ]
    if let failed = calls.first(where: { !$0.1.isPresent }) {
      return [
        .missing(
          "mount-api", required: true, failed.1.answer,
          cost: "Sandboxes and scopes are set up by descriptor; by path an app could misdirect it.",
          remedy: failed.1.callRemedy)
      ]
    }
    return [.full("mount-api", required: true, calls.map(\.0).joined(separator: " "))]
  }

  /// Root alone needs it: an ordinary user's apps run under that user's own id.
  var idMappedMountCheck: Check {
    let name = "idmapped-mounts"
    if idMappedMount.isPresent { return .full(name, "on \(home)") }
    if user != 0 { return .full(name, "not needed by an ordinary user") }
    return .partial(
      name, idMappedMount.answer,
      cost:
        "Root's apps run under ids of their own. In \(home) they get what the mode bits give those, or descriptors.",
      remedy: Self.mappedRemedy)
  }

  private static let mappedRemedy =
    "Run Ambit as an ordinary user, or keep documents on ext4, xfs, btrfs or, from Linux 6.3, tmpfs."

  /// The way in which apps get the contents of each folder in question.
  var documentChecks: [Check] {
    documents.map { folder in
      let name = "documents"
      guard let method = folder.method else {
        return .missing(
          name, "\(folder.path): \(folder.failure)", cost: "Nothing in this folder can be granted.",
          remedy: "Name a folder that you can open.")
      }
      let found = "\(folder.path): \(method.words) (\(folder.fileSystem))"
      guard let cost = user == 0 ? method.cost : nil else { return .full(name, found) }
      return .partial(name, found, cost: cost, remedy: Self.mappedRemedy)
    }
  }

  var fileHandleCheck: Check {
    if fileHandle.isPresent { return .full("file-handles", "on \(home)") }
    return .missing(
      "file-handles", fileHandle.answer,
      cost: "Documents in \(home) are told apart by inode number and birth time alone.",
      remedy: "Keep documents on a file system that has handles: ext4, xfs, btrfs, tmpfs.")
  }

  var openByHandleCheck: Check {
    if openByHandle.isPresent { return .full("open-by-handle", "on \(home)") }
    return .partial(
      "open-by-handle", openByHandle.answer,
      cost: "A document that was moved is looked for in its folder and in the catalog, not fetched at once.",
      remedy: user == 0 || !fileHandle.isPresent
        ? "It takes CAP_DAC_READ_SEARCH outside of any container, and file handles."
        : "It is root's privilege (CAP_DAC_READ_SEARCH). Nothing needs to be done.")
  }

  var birthTimeCheck: Check {
    if birthTime == .present(1) { return .full("birth-time", "on \(home)") }
    return .partial(
      "birth-time", "none on \(home)", cost: "One sign fewer by which a reused inode is told from the chosen document.",
      remedy: "Keep documents on a file system that records it: ext4, xfs, btrfs, tmpfs.")
  }

  /// File systems by their magic number (`statfs(2)`), and whether SQLite's write-ahead log works on them: it needs shared memory
  /// and locks that all users of the file agree on.
  static let fileSystems: [Int: (name: String, isLocal: Bool)] = [
    0xEF53: ("ext4", true), 0x5846_5342: ("xfs", true), 0x9123_683E: ("btrfs", true), 0x0102_1994: ("tmpfs", true),
    0x794C_7630: ("overlayfs", true), 0xF2F5_2010: ("f2fs", true), 0x2FC1_2FC1: ("zfs", true),
    0xCA45_1A4E: ("bcachefs", true), 0x6969: ("nfs", false), 0xFF53_4D42: ("cifs", false), 0xFE53_4D42: ("smb", false),
    0x0102_1997: ("9p", false), 0x6573_5546: ("fuse", false), 0x00C3_6400: ("ceph", false),
    0x6A65_6A63: ("virtiofs", false),
  ]

  var stateFolderCheck: Check {
    let name = "state-folder"
    guard let state else {
      return .missing(
        name, required: true, "none", cost: "Grants, bookmarks and the log have no place.",
        remedy: "Set HOME, XDG_STATE_HOME or AMBIT_HOME to an absolute path.")
    }
    let kind = Facts.fileSystems[state.fileSystem]
    let found = "\(state.path) (\(kind?.name ?? "file system 0x" + String(state.fileSystem, radix: 16)))"
    if !state.isWritable {
      return .missing(
        name, required: true, found, cost: "Grants, bookmarks and the log cannot be written.",
        remedy: "Make \(state.existing) writable for you, or set AMBIT_HOME to a folder that is.")
    }
    if kind?.isLocal == false {
      return .partial(
        name, required: true, found, cost: "SQLite's log wants a local file system: the state may be damaged here.",
        remedy: "Set AMBIT_HOME to a folder on a local disk.")
    }
    return .full(name, required: true, found)
  }

  var runtimeFolderCheck: Check {
    let name = "runtime-folder"
    let runtime: Folder
    switch self.runtime {
    case .session(let folder): runtime = folder
    case .elsewhere(let path): return .full(name, required: true, path)
    case .unset:
      return .partial(
        name, "XDG_RUNTIME_DIR is not set", cost: "Sockets go into the state folder, which nobody clears at logout.",
        remedy: "Log in through systemd-logind or elogind, or set XDG_RUNTIME_DIR to a folder of yours with mode 0700.")
    }
    let mode = String(runtime.mode & 0o777, radix: 8)
    let remedy = "Log in again, or: mkdir -m 700 DIR and export XDG_RUNTIME_DIR=DIR."
    if runtime.existing != runtime.path {
      return .missing(
        name, required: true, "\(runtime.path) does not exist", cost: "The broker's sockets have no place.",
        remedy: remedy)
    }
    if runtime.owner != user || !runtime.isWritable {
      return .missing(
        name, required: true, "\(runtime.path) belongs to user \(runtime.owner)",
        cost: "The broker's sockets would be another's to replace.", remedy: remedy)
    }
    if runtime.mode & 0o077 != 0 {
      return .missing(
        name, required: true, "\(runtime.path) has mode 0\(mode)",
        cost: "Other users could reach for the broker's sockets.", remedy: "chmod 700 \(runtime.path)")
    }
    return .full(name, required: true, "\(runtime.path), mode 0\(mode)")
  }
}
