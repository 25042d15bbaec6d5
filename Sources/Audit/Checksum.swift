internal import GRDB

extension EventRow {
  /// A row's values as bytes: each with its kind and its length, so that no two rows have the same bytes.
  static func canonicalBytes(_ values: [DatabaseValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    func append(_ kind: UInt8, _ number: UInt64) {
      bytes.append(kind)
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    for value in values {
      switch value.storage {
      case .null:
        bytes.append(0)
      case .int64(let number):
        append(1, UInt64(bitPattern: number))
      case .string(let text):
        append(2, UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
      case .double(let number):
        append(3, number.bitPattern)
      case .blob(let data):
        append(4, UInt64(data.count))
        bytes.append(contentsOf: data)
      }
    }
    return bytes
  }

  /// FNV-1a over the canonical bytes: a changed byte anywhere gives another sum.
  ///
  /// SQLite notices damage to its own structure, not to the text within a row; this does. It is there for failing
  /// disks and stray writes: whoever changes a row on purpose can change its sum as well.
  static func checksum(_ values: [DatabaseValue]) -> Int64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in canonicalBytes(values) {
      sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    return Int64(bitPattern: sum)
  }
}
