package import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Which launchers are running, for a broker that has to take over from one that died.
///
/// An unprivileged broker's namespaces live on in its launchers and apps. A record is a file named after a launcher's
/// process; it is believed only if that process is this user's and runs the launcher that belongs to this program.
package struct LauncherRecords {
  private let folder: String

  package init(_ folders: AmbitFolders) { folder = "\(folders.runtime)/launchers" }

  /// Notes this process. The record is removed with ``remove()``; one that is left behind by a crash does no harm.
  package func add() throws(KernelError) {
    let runtime = try Descriptor.open(folder.parent, flags: [.path, .directory])
    if (try? Descriptor.open(folder, flags: [.path, .directory])) == nil {
      try? runtime.makeDirectory("launchers", mode: 0o700)
    }
    _ = try Descriptor.open("\(folder)/\(getpid())", flags: [.write, .create, .noFollow], mode: 0o600)
  }

  package func remove() { unsafe unlink("\(folder)/\(getpid())") }

  /// Moves this process into the user and mount namespace of a running launcher, if one is not where this process is.
  ///
  /// - Returns: `false` if there is none.
  package func joinNamespaces() throws(KernelError) -> Bool {
    guard let records = try? Descriptor.open(folder, flags: [.read, .directory, .noFollow]),
      let entries = try? DirectoryReader.entries(of: records), let own = try? Namespaces.own("user").status()
    else { return false }
    for entry in entries {
      guard let pid = Int32(entry.name), isLauncher(pid),
        let user = try? Descriptor.open("/proc/\(pid)/ns/user", flags: .read),
        let mount = try? Descriptor.open("/proc/\(pid)/ns/mnt", flags: .read),
        let status = try? user.status(), status.inode != own.inode
      else { continue }
      try Namespaces.join(user, .user)
      try Namespaces.join(mount, .mount)
      return true
    }
    return false
  }

  private func isLauncher(_ pid: Int32) -> Bool {
    guard let process = try? Descriptor.open("/proc/\(pid)", flags: [.path, .directory]).status(),
      process.userID == geteuid(),
      let program = try? Descriptor.open("/proc/\(pid)/exe", flags: .path).status(),
      let launcher = Programs.ambit.path,
      let own = try? Descriptor.open(launcher, flags: .path).status()
    else { return false }
    return program.inode == own.inode && program.device == own.device
  }
}

extension String {
  fileprivate var parent: String { String(self[..<(lastIndex(of: "/") ?? startIndex)]) }
}
