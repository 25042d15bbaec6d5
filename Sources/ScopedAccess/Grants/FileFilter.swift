/// Says of most files at once that an app has no grant of them, and of those that it has grants of that it may (a Bloom filter).
///
/// By inode number alone: of two files with one number the database knows which is meant. Eight KiB, however many there are: of
/// a thousand grants one file in 10,000 is looked up for nothing, of 10,000 one in twenty.
struct FileFilter {
  private static let size = 1 << 16
  private var bits = [UInt64](repeating: 0, count: size / 64)

  mutating func add(_ inode: UInt64) {
    for place in Self.places(inode) { bits[place / 64] |= 1 << UInt64(place % 64) }
  }

  func mayHave(_ inode: UInt64) -> Bool {
    Self.places(inode).allSatisfy { bits[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
  }

  /// Sixteen bits each, from the middle of a product: neighbours, which files made together have for numbers, lie far apart.
  private static func places(_ inode: UInt64) -> [Int] {
    let hash = inode &* 0x9E37_79B9_7F4A_7C15
    let mixed = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
    return [mixed, mixed >> 16, mixed >> 32].map { Int($0 & UInt64(size - 1)) }
  }
}
