#if canImport(Glibc)
  internal import Glibc
#endif

/// As `uname(2)` has it, as far as any code compares it.
package struct KernelVersion: Equatable, Comparable, Sendable, CustomStringConvertible {
  package let major: Int
  package let minor: Int

  package init(_ major: Int, _ minor: Int) {
    self.major = major
    self.minor = minor
  }

  /// From the beginning of a text: `6.1`, `6.1.0-13-amd64`.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2 else { return nil }
    let minor = parts.count == 2 ? parts[1].prefix { $0.isASCII && $0.isNumber } : parts[1]
    guard let first = Int(parts[0]), let second = Int(minor), first >= 0, second >= 0 else { return nil }
    self.init(first, second)
  }

  package var description: String { "\(major).\(minor)" }

  package static func < (left: KernelVersion, right: KernelVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  /// Of the running kernel; 0.0 if it calls itself something else.
  package static let current: KernelVersion = {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return KernelVersion(0, 0) }
    return unsafe withUnsafeBytes(of: names.release) { bytes in
      KernelVersion(unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)) ?? KernelVersion(0, 0)
    }
  }()
}
