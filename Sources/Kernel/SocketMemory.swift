internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#endif

/// Kernel memory in the buffers of a network namespace's sockets (`sock_diag(7)`).
///
/// A socket with unread messages and a closed sender counts as a full buffer: the kernel does not
/// tell the messages' size.
package struct SocketMemory: Sendable {
  private let diagnosis: Descriptor
  /// The app can have sockets of the internet's families. Without them, their tables are not walked.
  private let hasInternet: Bool

  /// - Parameter diagnosis: a socket of `NETLINK_SOCK_DIAG`, made in the namespace.
  package init(_ diagnosis: Descriptor, hasInternet: Bool) {
    self.diagnosis = diagnosis
    self.hasInternet = hasInternet
  }

  private static let local: (family: Int32, protocol: Int32) = (AF_UNIX, 0)
  private static let internet: [(family: Int32, protocol: Int32)] = [AF_INET, AF_INET6].flatMap { family in
    [Int32(IPPROTO_TCP), Int32(IPPROTO_UDP)].map { (family, $0) }
  }

  /// Bytes of all sockets of the namespace. Sizes that the kernel does not tell count as nothing.
  package var total: Int { uses(capacity: 0).total }

  /// Bytes of the sockets with certain inodes.
  package func total(of inodes: Set<UInt64>) -> Int {
    // One that no descriptor has any more cannot be told from other programs'.
    uses(capacity: 1 << 16).uses.reduce(0) { inodes.contains($1.inode) ? $0 + Int(clamping: $1.bytes) : $0 }
  }

  private func uses(capacity: Int) -> (total: Int, uses: [ambit_socket_use]) {
    var total: UInt64 = 0
    var uses: [ambit_socket_use] = []
    for (family, number) in [Self.local] + (hasInternet ? Self.internet : []) {
      var part = [ambit_socket_use](repeating: ambit_socket_use(), count: capacity)
      let count = unsafe ambit_socket_uses(diagnosis.rawValue, family, number, &part, capacity, &total)
      if count > 0 { uses += part.prefix(min(count, capacity)) }
    }
    return (Int(clamping: total), uses)
  }
}
