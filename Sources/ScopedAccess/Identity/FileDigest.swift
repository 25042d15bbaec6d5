package import AppModel
internal import Cryptography
internal import Foundation
package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The sign that a file is the one whose content was read: another one, or one that was written since, has another stamp.
package struct FileStamp: Hashable, Sendable {
  package let text: String
  package let size: UInt64
  private let changed: Int64

  package init(_ status: FileStatus) {
    text = "\(status.device):\(status.inode):\(status.size):\(status.mode):\(status.changed):\(status.birth)"
    size = status.size
    changed = status.changed
  }

  /// Whether a later change is sure to leave another stamp: a file that is changed again in the same tick of the
  /// kernel's clock may not get one.
  ///
  /// - Parameter now: nanoseconds since 1970.
  package func isSettled(at now: Int64) -> Bool { now - changed > 1_000_000_000 }
}

/// SHA-256 of one open file's content.
package enum FileDigest {
  /// A content of more bytes is not read: no program is that large.
  package static let largest: UInt64 = 8 << 30

  /// - Parameters:
  ///   - file: opened as a location, or for reading.
  ///   - goesOn: asked again and again, whether the answer is still wanted.
  /// - Returns: 32 bytes; `nil`: it is not wanted any more.
  /// - Throws: EACCES where this user may execute the file and not read it, EFBIG if it is too large.
  package static func content(of file: Descriptor, while goesOn: () -> Bool) throws(KernelError) -> [UInt8]? {
    guard try file.status().size <= largest else { throw KernelError("read", "a program", errno: .fileTooLarge) }
    let open = try Descriptor.open("/proc/self/fd/\(file.rawValue)", flags: [.read, .nonBlocking])
    var hash = SHA256()
    var read: UInt64 = 0
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { unsafe buffer.deallocate() }
    while true {
      guard goesOn() else { return nil }
      let count = try KernelError.check("read", "an app's file") {
        unsafe Glibc.read(open.rawValue, buffer.baseAddress, buffer.count)
      }
      if count == 0 { return hash.finish() }
      read += UInt64(count)
      guard read <= largest else { throw KernelError("read", "a program", errno: .fileTooLarge) }
      unsafe hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Of a file that is open already, through its own descriptor: to open it anew would break a lease on it.
  ///
  /// - Returns: 32 bytes.
  /// - Throws: also `ECANCELED`, if the answer is not wanted any more.
  static func content(through file: Descriptor, while goesOn: () -> Bool) throws(KernelError) -> [UInt8] {
    var hash = SHA256()
    var read: UInt64 = 0
    while true {
      guard goesOn() else { throw KernelError("pread", errno: .canceled) }
      let bytes = try file.bytes(at: read, count: 1 << 18)
      if bytes.isEmpty { return hash.finish() }
      hash.update(bytes)
      read += UInt64(bytes.count)
    }
  }

  /// The substitute for the content of a file that cannot be read: the file's identity, and the time of its state.
  package static func unread(_ stamp: FileStamp) -> [UInt8] {
    SHA256.digest("unread \(stamp.text)")
  }

  /// Of an app, of its files' contents with their lengths; `nil`: the app has no such file.
  package static func app(_ files: [(size: UInt64, digest: [UInt8])?]) -> AppDigest? {
    var hash = SHA256()
    for file in files {
      let (size, digest) = file ?? (.max, [])
      hash.update((0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * UInt64($0))) })
      hash.update(digest)
    }
    return AppDigest(hash.finish())
  }
}
