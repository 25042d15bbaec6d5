internal import CLinux
package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The listening side of a filter that notifies (`seccomp_unotify(2)`).
///
/// A call that it lets go on reads its arguments again, so the observed call need not be the executed one: that is for
/// observing alone. A call that is decided here is also done here, on copies.
package struct SeccompListener: Sendable {
  package let descriptor: Descriptor

  package init(_ descriptor: Descriptor) {
    self.descriptor = descriptor
    // Older kernels hand over more slowly.
    _ = ambit_notify_sync(descriptor.rawValue)
  }

  /// A call that waits for an answer.
  package struct Notification: Sendable {
    package enum Kind: Sendable {
      case open, openAt, create, connect, socket, rename, renameAt, renameAt2, watch, sendFile, other
    }

    package let id: UInt64
    /// The calling thread, by this process's pid namespace.
    package let thread: Int32
    package let number: Int32
    package let kind: Kind
    package let arguments: [UInt64]
  }

  /// The next notification; `nil` when the caller is gone.
  package func next() throws(KernelError) -> Notification? {
    var raw = ambit_notification()
    let result = unsafe ambit_notify_receive(descriptor.rawValue, &raw)
    if result == -ENOENT { return nil }
    try KernelError.checkNegative("ioctl", "SECCOMP_IOCTL_NOTIF_RECV") { result }
    let kind: Notification.Kind =
      switch ambit_call_kind(UInt32(bitPattern: raw.kind)) {
      case AMBIT_CALL_OPEN: .open
      case AMBIT_CALL_OPENAT: .openAt
      case AMBIT_CALL_CREAT: .create
      case AMBIT_CALL_CONNECT: .connect
      case AMBIT_CALL_SOCKET: .socket
      case AMBIT_CALL_RENAME: .rename
      case AMBIT_CALL_RENAMEAT: .renameAt
      case AMBIT_CALL_RENAMEAT2: .renameAt2
      case AMBIT_CALL_WATCH: .watch
      case AMBIT_CALL_SENDFILE: .sendFile
      default: .other
      }
    let all = raw.arguments
    return Notification(
      id: raw.id, thread: raw.pid, number: raw.number, kind: kind,
      arguments: [all.0, all.1, all.2, all.3, all.4, all.5])
  }

  /// - Parameter errno: `nil` lets the kernel go on with the call.
  package func answer(_ notification: Notification, _ errno: Errno?) {
    // It fails if the caller is gone, and then no answer is needed.
    _ = ambit_notify_answer(descriptor.rawValue, notification.id, errno?.rawValue ?? 0)
  }

  /// Whether the call is still waiting: only then the bytes that were read since are of the process that made it.
  package func isWaiting(_ notification: Notification) -> Bool {
    ambit_notify_valid(descriptor.rawValue, notification.id) == 0
  }

  /// A path in the caller's memory; `nil` if it is not there, not ended, or too long to be one.
  package func path(at address: UInt64, of notification: Notification) -> [UInt8]? {
    var path: [UInt8] = []
    var next = address
    let page: UInt64 = 4096
    while path.count < Int(PATH_MAX) {
      // No further than the page's end: the next page may not be there.
      let count = Int(page - next % page)
      guard let chunk = bytes(at: next, count: count, of: notification), !chunk.isEmpty else { return nil }
      if let end = chunk.firstIndex(of: 0) {
        path += chunk[..<end]
        return path.count < Int(PATH_MAX) ? path : nil
      }
      path += chunk
      next += UInt64(chunk.count)
    }
    return nil
  }

  package func bytes(at address: UInt64, count: Int, of notification: Notification) -> [UInt8]? {
    guard (1...65536).contains(count) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let copied = unsafe bytes.withUnsafeMutableBytes {
      unsafe ambit_read_memory(notification.thread, address, $0.baseAddress, count)
    }
    guard copied > 0 else { return nil }
    return Array(bytes[..<copied])
  }
}
