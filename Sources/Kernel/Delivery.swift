internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Handing bytes to another program, and knowing how far it has got.
extension Descriptor {
  /// Connects to the datagram socket at a path of any length.
  package static func datagramSocket(path: String) throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("connect", path) { unsafe ambit_datagram_connect_path(path) })
  }

  /// Connects over TCP to a port of this machine's own: 127.0.0.1, or ::1.
  package static func loopback(port: UInt16, six: Bool) throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.checkNegative("connect", "\(six ? "[::1]" : "127.0.0.1"):\(port)") {
        ambit_loopback_connect(six ? 1 : 0, port)
      })
  }

  /// Sends an open file as a datagram of its own (`SCM_RIGHTS`).
  package func sendDatagram(of file: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("sendmsg", "descriptor \(file.rawValue)") {
      ambit_datagram_send_file(rawValue, file.rawValue)
    }
  }

  /// Whether the other end of this pipe or socket has read everything that was written into it; nil when it is neither.
  package func isReadUp() throws(KernelError) -> Bool? {
    let count = ambit_unread(rawValue)
    if count == -Int64(ENOTTY) || count == -Int64(EINVAL) || count == -Int64(EOPNOTSUPP) { return nil }
    return try KernelError.checkNegative("ioctl", "SIOCOUTQ") { count } == 0
  }

  /// The other end reads an end from now on (`shutdown(2)`).
  package func endWriting() throws(KernelError) {
    try KernelError.checkNegative("shutdown", "descriptor \(rawValue)") { ambit_shut_down_writing(rawValue) }
  }

  /// Cuts the file off after so many bytes (`ftruncate(2)`).
  package func cut(at size: UInt64) throws(KernelError) {
    try KernelError.check("ftruncate", "descriptor \(rawValue)") { ftruncate(rawValue, off_t(size)) }
  }

  /// At most `count` bytes from an offset on (`pread(2)`); fewer only at the file's end.
  package func bytes(at offset: UInt64, count: Int) throws(KernelError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = try readBytes(into: &bytes, at: offset)
    return Array(bytes[..<length])
  }

  /// Fills a buffer from an offset on (`pread(2)`).
  ///
  /// - Returns: bytes; fewer than the buffer has only at the file's end.
  package func readBytes(into bytes: inout [UInt8], at offset: UInt64) throws(KernelError) -> Int {
    var length = 0
    while length < bytes.count {
      let more = try KernelError.check("pread", "descriptor \(rawValue)") {
        unsafe bytes.withUnsafeMutableBytes { room in
          guard let base = room.baseAddress else { return 0 }
          return unsafe pread(rawValue, base + length, room.count - length, off_t(offset) + off_t(length))
        }
      }
      if more == 0 { break }
      length += more
    }
    return length
  }

  /// Writes all bytes from an offset on (`pwrite(2)`).
  package func writeBytes(_ bytes: [UInt8], at offset: UInt64) throws(KernelError) {
    var length = 0
    while length < bytes.count {
      length += try KernelError.check("pwrite", "descriptor \(rawValue)") {
        unsafe bytes.withUnsafeBytes { rest in
          guard let base = rest.baseAddress else { return 0 }
          return unsafe pwrite(rawValue, base + length, rest.count - length, off_t(offset) + off_t(length))
        }
      }
    }
  }

  /// Whether a range of the file has no holes, as far as the file system tells (`lseek(2)`). Beyond the file's end is a hole.
  package func isDense(_ range: Range<UInt64>) -> Bool {
    ambit_is_dense(rawValue, off_t(clamping: range.lowerBound), off_t(clamping: range.upperBound)) == 1
  }

  /// Waits until the file, its size and in a folder its names are on the disk (`fsync(2)`).
  package func synchronizeFully() throws(KernelError) {
    try KernelError.check("fsync", "descriptor \(rawValue)") { fsync(rawValue) }
  }
}

/// A file's lock (`flock(2)`), this one's as long as it lives.
///
/// Given back, and not only closed: a process that another thread is starting has the descriptor too until it executes.
package final class FileLock: Sendable {
  private let file: Descriptor

  /// Nil when another thread has it.
  package init?(of file: Descriptor) throws(KernelError) {
    self.file = file
    do throws(KernelError) {
      try KernelError.check("flock", "descriptor \(file.rawValue)") { flock(file.rawValue, LOCK_EX | LOCK_NB) }
    } catch {
      if error.errno == .wouldBlock { return nil }
      throw error
    }
  }

  /// Others can have it from now on.
  package func giveBack() { _ = flock(file.rawValue, LOCK_UN) }

  deinit { giveBack() }
}
