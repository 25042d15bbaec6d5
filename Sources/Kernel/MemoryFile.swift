internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#endif

/// Files that have no name and live in memory (`memfd_create(2)`).
package enum MemoryFile {
  /// An empty one, to be written.
  package static func make(_ name: String) throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.checkNegative("memfd_create", name) { unsafe ambit_memory_file(name) })
  }

  /// One with this content, which no process can change any more, even one that is given it (`F_ADD_SEALS`).
  package static func sealed(_ name: String, _ content: [UInt8]) throws(KernelError) -> Descriptor {
    let file = try make(name)
    try file.writeAll(content)
    try KernelError.checkNegative("fcntl", "F_ADD_SEALS, \(name)") { ambit_seal(file.rawValue) }
    return file
  }

  /// The whole content, from the beginning.
  package static func content(of file: Descriptor) throws(KernelError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(try file.status().size))
    var count = 0
    while count < bytes.count {
      let read = try KernelError.check("pread", "a file in memory") {
        unsafe bytes.withUnsafeMutableBytes {
          unsafe pread(file.rawValue, $0.baseAddress! + count, $0.count - count, off_t(count))
        }
      }
      if read == 0 { break }
      count += read
    }
    return count == bytes.count ? bytes : Array(bytes[..<count])
  }
}
