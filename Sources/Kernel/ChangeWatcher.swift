internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#endif

/// A descriptor of `inotify(7)`. The kernel has room for 128 of one user (`fs.inotify.max_user_instances`).
package protocol Watcher: Sendable { init() throws(KernelError) }

extension Optional where Wrapped: Watcher {
  /// The watcher, made at its first use. `nil`: the kernel has no room for it now.
  package mutating func opened() -> Wrapped? {
    if self == nil { self = try? Wrapped() }
    return self
  }
}

/// Tells of every change of the entries of folders, in the order of the changes (`inotify(7)`).
package struct ChangeWatcher: Watcher {
  package enum Kind: Sendable { case created, deleted, movedAway, movedHere, content, attributes, lost }

  package struct Event: Hashable, Sendable {
    /// The number that ``watch(_:)`` answered; -1 for ``Kind/lost``.
    package let watch: Int32
    package let kind: Kind
    package let name: String
    /// The same for the two events of one move.
    package let move: UInt32
    package let isFolder: Bool
  }

  package let descriptor: Descriptor

  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("inotify_init1") { ambit_watcher() })
  }

  /// - Returns: a number; the same one for the same folder.
  package func watch(_ folder: Descriptor) throws(KernelError) -> Int32 {
    try KernelError.checkNegative("inotify_add_watch") { ambit_watch_changes(descriptor.rawValue, folder.rawValue) }
  }

  package func unwatch(_ watch: Int32) { _ = ambit_unwatch(descriptor.rawValue, watch) }

  /// The events since the last question, at most 64 KiB of them.
  package func events() -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
    guard count > 0 else { return events }
    unsafe buffer.withUnsafeBytes { bytes in
      var at = 0
      while at + 16 <= count {
        let watch = unsafe bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)
        let mask = unsafe bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
        let move = unsafe bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt32.self)
        let room = Int(unsafe bytes.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
        guard at + 16 + room <= count else { break }
        let name = unsafe bytes[(at + 16)..<(at + 16 + room)].prefix { $0 != 0 }
        if let kind = Self.kind(mask) {
          events.append(
            Event(
              watch: watch, kind: kind, name: unsafe String(kernel: name), move: move,
              isFolder: mask & UInt32(IN_ISDIR) != 0))
        }
        at += 16 + room
      }
    }
    return events
  }

  private static func kind(_ mask: UInt32) -> Kind? {
    let kinds: [(UInt32, Kind)] = [
      (UInt32(IN_Q_OVERFLOW), .lost), (UInt32(IN_CREATE), .created), (UInt32(IN_DELETE), .deleted),
      (UInt32(IN_MOVED_FROM), .movedAway), (UInt32(IN_MOVED_TO), .movedHere), (UInt32(IN_MODIFY), .content),
      (UInt32(IN_ATTRIB), .attributes),
    ]
    return kinds.first { mask & $0.0 != 0 }?.1
  }
}
