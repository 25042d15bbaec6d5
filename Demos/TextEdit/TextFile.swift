#if canImport(Glibc)
  import Glibc
#endif

/// Text files by their path, with the plain calls of the system: what these answer is what the kernel says.
enum TextFile {
  static func read(_ path: String) throws(SystemError) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 {
        return String(decoding: bytes, as: UTF8.self)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Adds text at the file's end. The file has to be there.
  static func append(_ text: String, to path: String) throws(SystemError) {
    try write(text, to: path, flags: O_APPEND)
  }

  /// Makes the file if it is not there, and replaces what is in it.
  static func replace(_ path: String, with text: String) throws(SystemError) {
    try write(text, to: path, flags: O_CREAT | O_TRUNC)
  }

  private static func write(_ text: String, to path: String, flags: Int32) throws(SystemError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | flags, 0o644)
    guard descriptor >= 0 else { throw .last }
    defer { _ = close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw .last
      }
    }
  }
}
