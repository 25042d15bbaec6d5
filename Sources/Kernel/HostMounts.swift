/// The mounts of the host, for a process that is about to move into a mount namespace of its own: a mount that the host unmounts
/// later stays there where mounts are private, and one that was inherited from the host cannot be unmounted by itself
/// (`mount_namespaces(7)`, on locked mounts).
package struct HostMounts: Sendable {
  /// The mounts and their places; numbers of mounts differ between namespaces.
  struct Mount: Hashable, Sendable {
    let device: String
    let root: String
    let point: String
  }

  private let table: Descriptor
  private var last: Set<Mount>
  /// The mounts that have gone from the host since, and that the calling thread's namespace still has.
  private var lost: Set<Mount> = []

  /// - Throws: if the table cannot be read. To be called in the host's mount namespace: an open `mountinfo` goes on telling of
  ///   the namespace that it was opened in.
  package init() throws(KernelError) {
    table = try Descriptor.open("/proc/thread-self/mountinfo", flags: .read)
    last = Set(try MountTable.mounts(in: table))
  }

  /// Looks at the host's mounts, if they have changed (`proc_pid_mountinfo(5)`).
  package mutating func refresh() {
    var entry = [PollEntry(table, [])]
    guard (try? Poll.wait(&entry, timeout: .zero)) == 1, entry[0].returned.contains(.error),
      let mounts = try? MountTable.mounts(in: table)
    else { return }
    let now = Set(mounts)
    lost.formUnion(last.subtracting(now))
    lost.subtract(now)
    last = now
    guard !lost.isEmpty, let own = try? Descriptor.open("/proc/thread-self/mountinfo", flags: .read),
      let here = try? MountTable.mounts(in: own)
    else { return }
    // Where the host's mounts are shared, it has gone from here as well.
    lost.formIntersection(here)
  }

  /// Where the calling thread's namespace still has a mount that has gone from the host, as of the last ``refresh()``.
  package var kept: [String] { lost.map(\.point).sorted() }
}

extension MountTable {
  /// - Parameter table: an open `mountinfo`; read from its beginning.
  static func mounts(in table: Descriptor) throws(KernelError) -> [HostMounts.Mount] {
    try rewind(table)
    return try table.readAll().split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6 else { return nil }
      return HostMounts.Mount(
        device: String(decoding: fields[2], as: UTF8.self), root: unescape(fields[3]), point: unescape(fields[4]))
    }
  }
}
