internal import Kernel

/// Paths as an app's thread means them.
enum AppPath {
  private static let slash = UInt8(ascii: "/")

  /// Where a relative path starts, inside.
  ///
  /// - Parameter number: of a descriptor of the thread's; `nil`: its current folder.
  static func folder(_ number: Int32?, _ thread: Int32) throws(KernelError) -> [UInt8] {
    try Descriptor.linkBytes("/proc/\(thread)/\(number.map { "fd/\($0)" } ?? "cwd")")
  }

  /// The path from the root. A process has links of its own, which mean something else to each process that follows them. They are
  /// read if a path begins with one; elsewhere they lead nowhere.
  static func whole(_ path: [UInt8], from number: Int32? = nil, _ thread: Int32) throws(KernelError) -> [UInt8] {
    guard path.first == slash else { return try folder(number, thread) + [slash] + path }
    for (start, own) in [("/proc/self/", ""), ("/proc/thread-self/", ""), ("/dev/fd/", "fd/")]
    where path.starts(with: start.utf8) {
      var parts = (own.utf8 + path.dropFirst(start.utf8.count)).split(separator: slash, omittingEmptySubsequences: true)
      guard let first = parts.first.map({ String(decoding: $0, as: UTF8.self) }) else { return path }
      parts.removeFirst()
      var link = "/proc/\(thread)/\(first)"
      switch first {
      case "root", "cwd": break
      case "fd":
        guard let number = parts.first.flatMap({ Int32(String(decoding: $0, as: UTF8.self)) }) else { return path }
        parts.removeFirst()
        link += "/\(number)"
      default: return path
      }
      return try Descriptor.linkBytes(link) + parts.flatMap { [slash] + $0 }
    }
    return path
  }
}
