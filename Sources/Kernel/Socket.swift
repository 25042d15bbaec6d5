internal import CLinux
internal import SystemPackage

/// Unix stream sockets, with descriptors as passengers (`unix(7)`). Everything here is close-on-exec, and nothing
/// raises `SIGPIPE`.
package enum UnixSocket {
  /// The most descriptors in one message (`SCM_MAX_FD`).
  package static let maximumDescriptors = Int(AMBIT_MAX_DESCRIPTORS)

  /// The process at the other end, as the kernel saw it when it connected (`SO_PEERCRED`).
  package struct Peer: Equatable, Sendable {
    package let pid: Int32
    package let userID: UInt32
    package let groupID: UInt32
  }

  /// Listens at a name in an open directory. The path to the directory may be of any length, because the 108 bytes of
  /// `sun_path` hold `/proc/self/fd/<n>/<name>`; `/proc` has to be mounted.
  ///
  /// - Parameters:
  ///   - name: one path component, at most 80 bytes, at which nothing stands yet.
  ///   - mode: permission bits of the socket's file, less the umask.
  /// - Returns: a listening socket on which `accept` does not wait.
  package static func listen(
    in directory: Descriptor, name: String, mode: UInt32 = 0o600, backlog: Int32 = 64
  ) throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.checkNegative("bind", name) {
        unsafe ambit_socket_listen(directory.rawValue, name, mode, backlog)
      })
  }

  /// Connects to the socket of that name in an open directory.
  package static func connect(in directory: Descriptor, name: String) throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.checkNegative("connect", name) {
        unsafe ambit_socket_connect(directory.rawValue, name)
      })
  }

  /// Connects to the socket at a path of any length.
  package static func connect(path: String) throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("connect", path) { unsafe ambit_socket_connect_path(path) })
  }

  /// The next waiting connection, or nil when there is none.
  package static func accept(_ listener: Descriptor) throws(KernelError) -> Descriptor? {
    do throws(KernelError) {
      return Descriptor(
        owning: try KernelError.checkNegative("accept4") { ambit_socket_accept(listener.rawValue) })
    } catch {
      // A peer that gave up while it waited (ECONNABORTED) is no reason to stop accepting others.
      if error.errno == .wouldBlock || error.errno == .connectionAbort { return nil }
      throw error
    }
  }

  /// Two sockets connected to each other.
  package static func pair() throws(KernelError) -> (Descriptor, Descriptor) {
    var sockets: (Int32, Int32) = (-1, -1)
    try unsafe withUnsafeMutablePointer(to: &sockets) { pointer throws(KernelError) in
      try unsafe pointer.withMemoryRebound(to: Int32.self, capacity: 2) { first throws(KernelError) in
        _ = try KernelError.checkNegative("socketpair") { unsafe ambit_socket_pair(first) }
      }
    }
    return (Descriptor(owning: sockets.0), Descriptor(owning: sockets.1))
  }

  /// The process that connected.
  package static func peer(of socket: Descriptor) throws(KernelError) -> Peer {
    var (pid, user, group): (Int32, UInt32, UInt32) = (0, 0, 0)
    try KernelError.checkNegative("getsockopt", "SO_PEERCRED") {
      unsafe ambit_socket_peer(socket.rawValue, &pid, &user, &group)
    }
    return Peer(pid: pid, userID: user, groupID: group)
  }
}
