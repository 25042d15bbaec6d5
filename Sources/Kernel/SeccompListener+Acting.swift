internal import CLinux
package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Doing a call in place of the process that made it: with that process's own descriptors, and on a copy of its arguments.
extension SeccompListener {
  /// The open file that the caller has under a number (`pidfd_getfd(2)`). Even if the number stands for another file there
  /// afterwards, this one is the file that was looked at.
  package func descriptor(_ number: Int32, of notification: Notification) throws(KernelError) -> Descriptor {
    let process = Descriptor(
      owning: try KernelError.checkNegative("pidfd_open") { ambit_pidfd_thread(notification.thread) })
    // The number of a thread that has ended may be another's by now.
    guard isWaiting(notification) else { throw KernelError("pidfd_open", errno: .noSuchProcess) }
    return Descriptor(
      owning: try KernelError.checkNegative("pidfd_getfd") { ambit_pidfd_getfd(process.rawValue, number) })
  }

  /// Answers a call that has been done here.
  ///
  /// - Parameter errno: `nil`: it succeeded, with 0.
  package func finish(_ notification: Notification, _ errno: Errno?) {
    _ = ambit_notify_result(descriptor.rawValue, notification.id, errno?.rawValue ?? 0)
  }

  /// Answers a call that has been done here and has a result.
  package func finish(_ notification: Notification, value: Int) {
    _ = ambit_notify_value(descriptor.rawValue, notification.id, Int64(value))
  }

  /// The caller's limit on the size of its files (`RLIMIT_FSIZE`), in bytes.
  package func fileSizeLimit(of notification: Notification) throws(KernelError) -> UInt64 {
    var limit: UInt64 = 0
    try KernelError.checkNegative("prlimit") { unsafe ambit_file_size_limit(notification.thread, &limit) }
    return limit
  }

  /// Writes a number into the caller's memory.
  package func write(_ value: Int64, at address: UInt64, of notification: Notification) throws(KernelError) {
    guard isWaiting(notification) else { throw KernelError("process_vm_writev", errno: .noSuchProcess) }
    var value = value
    try KernelError.checkNegative("process_vm_writev") {
      unsafe ambit_write_memory(notification.thread, address, &value, MemoryLayout<Int64>.size)
    }
  }

  /// Connects the caller's socket, waiting as long as it has to and the caller does; then answers the call.
  ///
  /// - Parameter address: as the kernel takes it, family and all.
  package func connect(_ socket: Descriptor, to address: [UInt8], for notification: Notification) {
    let result = unsafe address.withUnsafeBytes {
      unsafe ambit_connect_for(
        descriptor.rawValue, notification.id, notification.thread, socket.rawValue, $0.baseAddress, UInt32($0.count))
    }
    // A process that has gone needs no answer.
    if result != -ECANCELED { _ = ambit_notify_result(descriptor.rawValue, notification.id, -result) }
  }

  /// Once, before the first ``connect(_:to:for:)``.
  package static func prepareConnects() { ambit_prepare_connects() }
}

/// A socket's kind, under any name.
package struct SocketKind: Equatable, Sendable {
  package enum Family: Equatable, Sendable { case unix, internet, other(Int32) }
  /// Of the messages. Each datagram may go to another name; of Unix sockets, packets (`SOCK_SEQPACKET`) go to one peer alone.
  package enum Form: Equatable, Sendable, CaseIterable { case stream, packets, datagrams, other }

  package let family: Family
  package let form: Form

  package init(_ family: Family, _ form: Form) {
    self.family = family
    self.form = form
  }

  /// - Throws: `ENOTSOCK` if it is none, `EBADF` if it is only a place (`O_PATH`).
  package init(of descriptor: Descriptor) throws(KernelError) {
    var (family, type): (Int32, Int32) = (0, 0)
    try KernelError.checkNegative("getsockopt", "SO_DOMAIN") {
      unsafe ambit_socket_family(descriptor.rawValue, &family, &type)
    }
    form =
      switch type {
      case Int32(SOCK_STREAM.rawValue): .stream
      case Int32(SOCK_SEQPACKET.rawValue): .packets
      case Int32(SOCK_DGRAM.rawValue): .datagrams
      default: .other
      }
    self.family =
      switch family {
      case AF_UNIX: .unix
      case AF_INET, AF_INET6: .internet
      default: .other(family)
      }
  }
}

/// The user and groups that a thread of this process has for the kernel.
package enum ThreadIdentity {
  /// Does something with an app's rights and no others.
  ///
  /// - Parameter id: the app's user and group on the host; `nil`: it is the same as this process's, which then does without
  ///   its capabilities.
  package static func acting<Result>(
    as id: UInt32?, _ body: () throws(KernelError) -> Result
  ) throws(KernelError) -> Result {
    let raw = id ?? UInt32.max
    try KernelError.checkNegative("setresuid") { ambit_act_as(raw) }
    defer { _ = ambit_act_as_oneself(raw) }
    return try body()
  }

  /// Gives up this thread's supplementary groups, where it may; where it may not, its apps have them too.
  package static func dropGroups() { ambit_drop_thread_groups() }
}

extension Descriptor {
  /// Whether it is a socket that has a peer (`getpeername(2)`).
  package var hasPeer: Bool {
    var none: socklen_t = 0
    return unsafe getpeername(rawValue, nil, &none) == 0
  }

  /// Opens a path of any bytes, as ``open(_:below:flags:mode:resolve:)`` does.
  package static func open(
    bytes path: [UInt8], below directory: Descriptor, flags: OpenFlags, resolve: Resolve
  ) throws(KernelError) -> Descriptor {
    let ended = path.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    let raw = try KernelError.checkNegative("open", String(kernel: path)) {
      unsafe ambit_openat2(directory.rawValue, ended, flags.rawValue, 0, resolve.rawValue)
    }
    return Descriptor(owning: raw)
  }

  /// The text of a link, which may be any bytes.
  package static func linkBytes(_ path: String) throws(KernelError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let room = bytes.count
    let length = try KernelError.checkNegative("readlink", path) {
      unsafe bytes.withUnsafeMutableBufferPointer { unsafe Int32(ambit_link_bytes(path, $0.baseAddress, room)) }
    }
    return Array(bytes[..<Int(length)])
  }

  /// Whether nothing can be written through the mount that it was reached by.
  package var isOnReadOnlyMount: Bool { ambit_is_read_only(rawValue) == 1 }

  /// Whether this thread may make names in the folder and remove them.
  package var mayBeChanged: Bool { ambit_may_change(rawValue) == 1 }

  /// The number of the mount that it was reached by (`statx(2)`, `STATX_MNT_ID`).
  package var mount: UInt64? {
    let found = ambit_mount_id(rawValue)
    return found < 0 ? nil : UInt64(found)
  }

  /// Copies bytes of this regular file to another one, as `sendfile(2)` does: a mebibyte at the most.
  ///
  /// - Parameters:
  ///   - offset: where to read; `nil`: at the file's position, which moves on.
  ///   - ceiling: the size that the target must not exceed, in bytes.
  /// - Returns: how many bytes were copied, and the offset behind them.
  /// - Throws: `EINVAL` if one of the two is no regular file or the target is open for appending; `EFBIG` at the ceiling; and the
  ///   errors of reading and writing.
  package func copy(
    _ count: Int, at offset: Int64?, to target: Descriptor, ceiling: UInt64
  ) throws(KernelError) -> (count: Int, offset: Int64?) {
    var place = offset ?? 0
    let copied =
      offset == nil
      ? ambit_copy_file(rawValue, target.rawValue, nil, count, ceiling)
      : unsafe ambit_copy_file(rawValue, target.rawValue, &place, count, ceiling)
    try KernelError.checkNegative("sendfile") { Int32(clamping: copied) }
    return (copied, offset == nil ? nil : place)
  }
}
