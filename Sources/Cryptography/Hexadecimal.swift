/// Bytes as digits, two a byte, `a` to `f` small.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  package static func text(_ bytes: some Collection<UInt8>) -> String { text(of: Array(bytes)) }

  /// Not generic: it runs for each entry of the log.
  private static func text(of bytes: [UInt8]) -> String {
    func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
    return unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
      for index in bytes.indices {
        unsafe buffer[2 * index] = digit(bytes[index] >> 4)
        unsafe buffer[2 * index + 1] = digit(bytes[index] & 15)
      }
      return 2 * bytes.count
    }
  }

  /// Nil when there is anything else, or half a byte.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = digits.firstIndex(of: digit).map(UInt8.init) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
