internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Kinds of namespaces (`namespaces(7)`).
package struct NamespaceKinds: OptionSet, Sendable, Hashable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let mount = NamespaceKinds(rawValue: 0x0002_0000)
  package static let cgroup = NamespaceKinds(rawValue: 0x0200_0000)
  package static let uts = NamespaceKinds(rawValue: 0x0400_0000)
  package static let ipc = NamespaceKinds(rawValue: 0x0800_0000)
  package static let user = NamespaceKinds(rawValue: 0x1000_0000)
  package static let pid = NamespaceKinds(rawValue: 0x2000_0000)
  package static let network = NamespaceKinds(rawValue: 0x4000_0000)

  /// Names as `/proc/self/ns` has them.
  package var names: [String] {
    let all: [(NamespaceKinds, String)] = [
      (.user, "user"), (.mount, "mnt"), (.pid, "pid"), (.ipc, "ipc"), (.uts, "uts"), (.cgroup, "cgroup"),
      (.network, "net"),
    ]
    return all.compactMap { contains($0.0) ? $0.1 : nil }
  }
}

package enum Namespaces {
  /// Opens one of the calling process's own namespaces.
  package static func own(_ name: String) throws(KernelError) -> Descriptor {
    try Descriptor.open("/proc/self/ns/\(name)", flags: .read)
  }

  /// Moves the calling thread (for a user namespace: the process, which may have one thread only) (`setns(2)`).
  package static func join(_ namespace: Descriptor, _ kind: NamespaceKinds) throws(KernelError) {
    try KernelError.checkNegative("setns", kind.names.joined()) {
      ambit_setns(namespace.rawValue, CInt(truncatingIfNeeded: kind.rawValue))
    }
  }

  /// A new network namespace, of the calling thread's user namespace, with nothing in it but a loopback interface in service.
  package static func makeNetwork() throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("unshare", "network namespace") { ambit_new_network() })
  }

  /// Gives the calling thread its own root and current directory, so that it may change its mount namespace.
  package static func separateFileSystemState() throws(KernelError) {
    try KernelError.checkNegative("unshare", "CLONE_FS") { ambit_unshare(0x200) }
  }

  /// Runs the body in another mount namespace, and comes back. The calling thread gets its own root and current directory.
  ///
  /// - Parameter home: the calling thread's own.
  package static func visit<Result>(
    _ namespace: Descriptor, from home: Descriptor, _ body: () throws(KernelError) -> Result
  ) throws(KernelError) -> Result {
    // Each time: a thread that some queue has started meanwhile shares this one's root and directory again.
    try separateFileSystemState()
    try join(namespace, .mount)
    let outcome: Swift.Result<Result, KernelError>
    do { outcome = .success(try body()) } catch { outcome = .failure(error) }
    do {
      try join(home, .mount)
    } catch {
      // From here on every path that this thread opens would be an app's. No answer is safe but none.
      preconditionFailure("the broker cannot leave an app's mount namespace: \(error)")
    }
    return try outcome.get()
  }

  /// Moves the process into a user and a mount namespace of its own in which it may mount, keeping its identity.
  ///
  /// Only while the process has a single thread. Mounts that the host makes later still arrive.
  package static func becomeMountOwner() throws(KernelError) {
    let user = getuid()
    let group = getgid()
    try KernelError.checkNegative("unshare", "user and mount namespace") {
      ambit_unshare(CInt(NamespaceKinds([.user, .mount]).rawValue))
    }
    try write("deny", to: "/proc/self/setgroups")
    try write("\(user) \(user) 1\n", to: "/proc/self/uid_map")
    try write("\(group) \(group) 1\n", to: "/proc/self/gid_map")
    try KernelError.check("mount", "/, slave") { unsafe mount(nil, "/", nil, UInt(MS_REC | MS_SLAVE), nil) }
  }

  /// Whether this process is root with every id of the host at its disposal. Root in a container that has only some of them
  /// is, for the needs of sandboxes, an ordinary user.
  package static var isHostRoot: Bool {
    guard geteuid() == 0, let file = try? Descriptor.open("/proc/self/uid_map", flags: .read),
      let map = try? file.readAll(limit: 4096)
    else { return false }
    return String(decoding: map, as: UTF8.self).split(whereSeparator: \.isWhitespace) == ["0", "0", "4294967295"]
  }

  /// Whether this process may mount in its own mount namespace.
  package static var mayMount: Bool { ambit_may_mount() == 1 }

  /// Lets programs that this unprivileged process starts keep its rights in its user namespace.
  package static func passCapabilitiesOn() throws(KernelError) {
    guard geteuid() != 0 else { return }
    try KernelError.checkNegative("prctl", "PR_CAP_AMBIENT") { ambit_pass_capabilities_on() }
  }

  /// After joining a user namespace the kernel treats the process as one whose memory must not be looked at, and its
  /// own `/proc` entries stop being its own; this takes that back.
  package static func ownProcEntries() throws(KernelError) {
    try KernelError.checkNegative("prctl", "PR_SET_DUMPABLE") { ambit_make_dumpable() }
  }

  package static func write(_ text: String, to path: String) throws(KernelError) {
    let file = try Descriptor.open(path, flags: .write)
    var bytes = Array(text.utf8)
    let count = bytes.count
    try KernelError.check("write", path) {
      unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.write(file.rawValue, $0.baseAddress, count) }
    }
  }
}

extension Descriptor {
  /// A descriptor for a running process (`pidfd_open(2)`).
  package static func process(_ pid: Int32) throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("pidfd_open", "\(pid)") { ambit_pidfd_open(pid) })
  }

  /// Sends a signal to the process of a pidfd (`pidfd_send_signal(2)`).
  package func signalProcess(_ signal: Int32) throws(KernelError) {
    try KernelError.checkNegative("pidfd_send_signal", "\(signal)") { ambit_pidfd_signal(rawValue, signal) }
  }
}

/// Runs the body with the file-system identity of another user: files that it creates belong to that user.
package func withFileSystemIdentity<Result>(
  _ identity: UInt32?, _ body: () throws(KernelError) -> Result
) throws(KernelError) -> Result {
  guard let identity else { return try body() }
  ambit_set_fs_identity(identity, identity)
  defer { ambit_set_fs_identity(geteuid(), getegid()) }
  return try body()
}
