internal import CLinux
internal import SystemPackage

/// Extended attributes of open files, places among them (`xattr(7)`).
extension Descriptor {
  /// - Parameter limit: bytes; a longer value is an error (`ERANGE`).
  /// - Returns: `nil` where the file has none of this name, or its file system has none at all.
  package func attribute(_ name: String, limit: Int) throws(KernelError) -> [UInt8]? {
    try unsafe Self.value(name, limit) { unsafe ambit_attribute(rawValue, name.kernel, $0.baseAddress, $0.count) }
  }

  /// The same of an entry of this folder. A link is followed, and nothing is opened.
  package func attribute(_ name: String, of entry: String, limit: Int) throws(KernelError) -> [UInt8]? {
    try unsafe Self.value(name, limit) {
      unsafe ambit_attribute_of(rawValue, entry.kernel, name.kernel, $0.baseAddress, $0.count)
    }
  }

  private static func value(
    _ name: String, _ limit: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int
  ) throws(KernelError) -> [UInt8]? {
    var value = [UInt8](repeating: 0, count: limit)
    let length = unsafe value.withUnsafeMutableBytes { unsafe read($0) }
    if length >= 0 { return Array(value.prefix(length)) }
    let error = KernelError("getxattr", name, errno: .init(rawValue: CInt(clamping: -length)))
    if error.errno == .noData || error.errno == .notSupported { return nil }
    throw error
  }

  /// - Parameter value: `nil`: there is to be none.
  package func setAttribute(_ name: String, _ value: [UInt8]?) throws(KernelError) {
    do throws(KernelError) {
      try KernelError.checkNegative("setxattr", name) {
        guard let value else { return unsafe ambit_set_attribute(rawValue, name.kernel, nil, 0) }
        return unsafe value.withUnsafeBytes {
          // An empty value is one all the same, and must have an address.
          var none: UInt8 = 0
          guard let base = $0.baseAddress else {
            return unsafe ambit_set_attribute(rawValue, name.kernel, &none, 0)
          }
          return unsafe ambit_set_attribute(rawValue, name.kernel, base, $0.count)
        }
      }
    } catch {
      if value == nil, error.errno == .noData { return }
      throw error
    }
  }
}
