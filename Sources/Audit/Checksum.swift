internal import GRDB

/// FNV-1a: a changed byte anywhere gives another sum.
///
/// SQLite notices damage to its own structure, not to the text within a row; this does. It is there for failing
/// disks and stray writes: whoever changes a row on purpose can change its sum as well.
enum Checksum {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes {
      sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    return sum
  }
}

extension EventRow {
  /// A row's values as bytes: each with its kind and its length, so that no two rows have the same bytes.
  static func canonicalBytes(_ values: [DatabaseValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    for value in values {
      switch value.storage {
      case .null:
        bytes.append(0)
      case .int64(let number):
        bytes.append(1)
        bytes.append(number: UInt64(bitPattern: number))
      case .string(let text):
        bytes.append(2)
        bytes.append(number: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
      case .double(let number):
        bytes.append(3)
        bytes.append(number: number.bitPattern)
      case .blob(let data):
        bytes.append(4)
        bytes.append(number: UInt64(data.count))
        bytes.append(contentsOf: data)
      }
    }
    return bytes
  }

  /// The values that canonical bytes are of; nil when they are no such bytes. Rows have neither reals nor blobs.
  static func values(canonical bytes: [UInt8]) -> [DatabaseValue]? {
    var values: [DatabaseValue] = []
    var place = 0
    while place < bytes.count {
      let kind = bytes[place]
      place += 1
      if kind == 0 {
        values.append(.null)
        continue
      }
      guard place + 8 <= bytes.count else { return nil }
      let number = bytes.number(at: place)
      place += 8
      switch kind {
      case 1: values.append(Int64(bitPattern: number).databaseValue)
      case 2:
        guard number <= UInt64(bytes.count - place) else { return nil }
        let end = place + Int(number)
        guard let text = String(validating: bytes[place..<end], as: UTF8.self) else { return nil }
        values.append(text.databaseValue)
        place = end
      default: return nil
      }
    }
    return values
  }

  static func checksum(_ values: [DatabaseValue]) -> Int64 {
    Int64(bitPattern: Checksum.of(canonicalBytes(values)[...]))
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
