/// Bytes as plain letters: each byte that is not plain is a mark and two hexadecimal digits.
package struct ByteEscape: Sendable {
  private let mark: UInt8
  private let isUppercase: Bool
  private let plain: Set<UInt8>

  /// Of URLs (RFC 3986, 2.1): digits, ASCII letters and these stay.
  package static func percent(keeping others: String) -> ByteEscape {
    ByteEscape(mark: 0x25, isUppercase: true, plain: [0x30...0x39, 0x41...0x5A, 0x61...0x7A], others)
  }

  /// Of names that ignore case: digits and small letters stay, `_` is the mark.
  package static let name = ByteEscape(mark: 0x5F, isUppercase: false, plain: [0x30...0x39, 0x61...0x7A], "")

  private init(mark: UInt8, isUppercase: Bool, plain: [ClosedRange<UInt8>], _ others: String) {
    (self.mark, self.isUppercase) = (mark, isUppercase)
    self.plain = Set(plain.joined()).union(others.utf8)
  }

  package func escaped(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array((isUppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
    var result: [UInt8] = []
    for byte in bytes {
      result += plain.contains(byte) ? [byte] : [mark, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// - Returns: `nil` where a mark begins no byte.
  package func bytes(of text: some Sequence<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      guard byte == mark else {
        result.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit) else {
        return nil
      }
      result.append(high << 4 | low)
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
