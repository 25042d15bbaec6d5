/// FNV-1a: a changed byte anywhere gives another sum.
///
/// It tells a written record from the rest of a torn write, and texts from each other in the index; against changes
/// on purpose there is the chain.
enum Checksum {
  static func of(_ bytes: some Sequence<UInt8>, from sum: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
    bytes.reduce(sum) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

extension [UInt8] {
  /// Adds a number's bytes, the lowest first.
  mutating func append(number: some FixedWidthInteger) {
    for byte in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (byte * 8))) }
  }

  /// The number in the eight bytes from a place on.
  func number(at place: Int) -> UInt64 {
    var number: UInt64 = 0
    for byte in 0..<8 { number |= UInt64(self[place + byte]) << UInt64(byte * 8) }
    return number
  }
}
