internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The standard error of an extension and its launcher, for the broker's log. The log itself is no file for an extension: it could write
/// there without end, and shorten it.
enum ExtensionOutput {
  /// Bytes of one launch. The rest is read and dropped.
  static let most = 64 << 10

  /// Reads to the end, in the calling thread.
  ///
  /// - Parameter say: called with each line.
  static func keep(_ output: Descriptor, _ say: (String) -> Void) {
    var left = most
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(output.rawValue, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      guard left > 0 else { continue }
      for byte in buffer[..<min(count, left)] {
        if byte == UInt8(ascii: "\n") {
          say(String(decoding: line, as: UTF8.self))
          line = []
        } else {
          line.append(byte)
        }
      }
      left -= count
      if left <= 0 { line += Array(" … and more".utf8) }
    }
    if !line.isEmpty { say(String(decoding: line, as: UTF8.self)) }
  }
}
