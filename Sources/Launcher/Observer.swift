internal import Kernel
internal import Sandbox
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Explains the refusals that an observed app is about to get (`SBX-16`). Other calls go on, and the kernel decides.
final class Observer: Sendable {
  private let listener: SeccompListener
  private let rules: AccessRules
  /// An app cannot change its root, nor its mounts: the result stays valid.
  private let root = Mutex<Descriptor?>(nil)

  init(listener: SeccompListener, rules: AccessRules) {
    self.listener = listener
    self.rules = rules
  }

  func refusal(of call: SeccompListener.Notification) -> Refusal? {
    switch call.kind {
    case .open: return open(call, path: 0, from: nil, flags: call.arguments[1])
    case .create: return open(call, path: 0, from: nil, flags: UInt64(O_CREAT | O_WRONLY | O_TRUNC))
    case .openAt:
      let folder = Int32(truncatingIfNeeded: call.arguments[0])
      return open(call, path: 1, from: folder == AT_FDCWD ? nil : folder, flags: call.arguments[2])
    case .connect, .rename, .renameAt, .renameAt2, .watch, .sendFile: return nil
    case .socket:
      let number = UInt32(truncatingIfNeeded: call.arguments[0])
      let family = SocketFamily.name(number)
      // Of this family it is the type that is not let through.
      if number == UInt32(AF_UNIX) {
        return Refusal(operation: "socket", subject: "\(family) SOCK_DGRAM", denial: AccessRules.datagrams)
      }
      return Refusal(operation: "socket", subject: family, denial: rules.denial(ofSocketFamily: family))
    case .other: return Refusal(operation: "call", subject: nil, denial: AccessRules.filtered)
    }
  }

  private func open(_ call: SeccompListener.Notification, path: Int, from folder: Int32?, flags: UInt64) -> Refusal? {
    let operation: AccessOperation =
      flags & UInt64(O_CREAT) != 0
      ? .create
      : flags & UInt64(O_ACCMODE) == UInt64(O_RDONLY) && flags & UInt64(O_TRUNC) == 0
        ? .read : .write
    guard let bytes = listener.path(at: call.arguments[path], of: call) else { return nil }
    return refusal(operation, path: bytes, from: folder, of: call)
  }

  func refusal(
    _ operation: AccessOperation, path: [UInt8], from folder: Int32?, of call: SeccompListener.Notification
  ) -> Refusal? {
    guard let root = root(of: call), let found = ObservedPath(path, from: folder, thread: call.thread, root: root),
      let denial = rules.denial(of: operation, at: found.path, found.presence)
    else { return nil }
    return Refusal(operation: operation.rawValue, subject: found.path, denial: denial)
  }

  private func root(of call: SeccompListener.Notification) -> Descriptor? {
    root.withLock { known in
      if known == nil {
        let found = try? Descriptor.open("/proc/\(call.thread)/root", flags: [.path, .directory])
        // Only this check tells to which process that belongs: a number may have passed to another process.
        if listener.isWaiting(call) { known = found }
      }
      return known
    }
  }
}
