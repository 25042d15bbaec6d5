internal import Kernel
internal import SystemPackage

/// Does `sendfile(2)` between regular files for an app (`I5`).
///
/// The app may not make the call itself: with a pipe or a socket as its target it would keep pages of a document. Here bytes are
/// copied between two files that the app has open, with the app's own rights and its limit on the size of files.
struct FileCopier {
  let listener: SeccompListener
  /// The app's user on the host; `nil`: the launcher's own.
  let hostID: UInt32?

  /// - Returns: how many bytes were copied; 0 at the source's end.
  /// - Throws: the call's error. `EINVAL` unless both are regular files with content: the kernel's own (`/proc`, `/sys`) look at the
  ///   process that reads or writes, which would be the launcher.
  func copy(_ call: SeccompListener.Notification) throws(KernelError) -> Int {
    // The kernel takes the lower half of a descriptor's register.
    let target = try listener.descriptor(Int32(truncatingIfNeeded: call.arguments[0]), of: call)
    let source = try listener.descriptor(Int32(truncatingIfNeeded: call.arguments[1]), of: call)
    let address = call.arguments[2]
    let offset = address == 0 ? nil : try self.offset(at: address, of: call)
    // The limit is asked for first: it takes the launcher's rights.
    let ceiling = try listener.fileSizeLimit(of: call)
    let count = Int(clamping: call.arguments[3])
    let done = try ThreadIdentity.acting(as: hostID) { () throws(KernelError) in
      try source.copy(count, at: offset, to: target, ceiling: ceiling)
    }
    if let next = done.offset { try listener.write(next, at: address, of: call) }
    return done.count
  }

  private func offset(at address: UInt64, of call: SeccompListener.Notification) throws(KernelError) -> Int64 {
    guard let bytes = listener.bytes(at: address, count: 8, of: call), bytes.count == 8 else {
      throw KernelError("sendfile", errno: .badAddress)
    }
    return Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }
}
