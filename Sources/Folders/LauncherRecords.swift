package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The running launchers and their launches, for a broker that has to take over from one that died.
///
/// An unprivileged broker's namespaces live on in its launchers and apps: another one finds them by these records. And they show
/// that a launch is over if its launcher was ended together with the broker. A record is a link that leads nowhere, with its
/// content as its text: it is there as a whole or not at all. It is believed only as far as the kernel agrees.
package struct LauncherRecords {
  /// One launch. The processes are numbered as its launcher's pid namespace does it.
  package struct Record: Equatable, Sendable {
    package let instance: String
    package let launcher: ProcessMark
    /// The sandbox's init, with which everything in it ends.
    package let initProcess: ProcessMark
    /// The number of that pid namespace.
    package let namespace: UInt64

    package init(instance: String, launcher: ProcessMark, initProcess: ProcessMark, namespace: UInt64) {
      (self.instance, self.launcher, self.initProcess, self.namespace) = (instance, launcher, initProcess, namespace)
    }

    init?(instance: String, text: String) {
      let fields = text.split(separator: " ", omittingEmptySubsequences: false)
      guard fields.count == 3, let launcher = ProcessMark(fields[0]), let process = ProcessMark(fields[1]),
        let namespace = UInt64(fields[2])
      else { return nil }
      self.init(instance: instance, launcher: launcher, initProcess: process, namespace: namespace)
    }

    var text: String { "\(launcher) \(initProcess) \(namespace)" }
  }

  private let folder: String

  package init(_ folders: AmbitFolders) { folder = "\(folders.runtime)/launchers" }

  /// Notes a launch of this process. One that is left behind by a crash does no harm.
  ///
  /// - Parameter process: the sandbox's init.
  package func add(_ instance: String, init process: Int32) throws(KernelError) {
    guard let launcher = ProcessMark(of: getpid()), let process = ProcessMark(of: process) else {
      throw KernelError("open", "/proc/\(process)/stat", errno: .noSuchProcess)
    }
    let namespace = try Namespaces.own("pid").status().inode
    try add(Record(instance: instance, launcher: launcher, initProcess: process, namespace: namespace))
  }

  package func add(_ record: Record) throws(KernelError) {
    let runtime = try Descriptor.open(folder.parentPath ?? "", flags: [.path, .directory])
    if (try? Descriptor.open(folder, flags: [.path, .directory])) == nil {
      try? runtime.makeDirectory("launchers", mode: 0o700)
    }
    let path = "\(folder)/\(record.instance)"
    try KernelError.check("symlink", path) { unsafe symlink(record.text, path) }
  }

  package func remove(_ instance: String) {
    // A launch's name, and no path.
    guard !instance.hasSlash else { return }
    unsafe unlink("\(folder)/\(instance)")
  }

  /// All that there are. Anything but records is left alone.
  package func all() -> [Record] {
    guard let records = try? Descriptor.open(folder, flags: [.read, .directory, .noFollow]),
      let entries = try? DirectoryReader.entries(of: records)
    else { return [] }
    return entries.compactMap { entry in
      guard let link = try? Descriptor.open(entry.name, below: records, flags: [.path, .noFollow]),
        let text = try? link.linkText()
      else { return nil }
      return Record(instance: entry.name, text: text)
    }
  }

  /// Moves this process into the user and mount namespace of a running launcher, if one is not where this process is.
  ///
  /// - Returns: `false` if there is none.
  package func joinNamespaces() throws(KernelError) -> Bool {
    guard let own = try? Namespaces.own("user").status() else { return false }
    for record in all() {
      let pid = record.launcher.pid
      guard isLauncher(pid),
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

  /// It is this user's, and runs the launcher that belongs to this program.
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
