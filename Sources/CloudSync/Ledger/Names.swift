/// Names as the cloud compares them.
package enum Names {
  /// Two names collide if their folded forms are equal: without case, by canonical equivalence.
  static func folded(_ name: String) -> String { name.lowercased() }

  static func collide(_ one: String, _ other: String) -> Bool {
    // Two ASCII letters at one place that differ decide without folding.
    for (a, b) in zip(one.utf8, other.utf8) where a != b {
      if a >= 0x80 || b >= 0x80 { break }
      if lowercase(a) != lowercase(b) { return false }
    }
    return one == other || folded(one) == folded(other)
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// "Letter.txt" becomes "Letter 2.txt", then "Letter 3.txt": the first one that is not taken.
  package static func spare(for name: String, isTaken: (String) -> Bool) -> String {
    var (stem, suffix) = split(name)
    // "Letter 2" counts on from 2, so that names do not grow.
    var number = 2
    // A longer number belongs to the name.
    if let space = stem.lastIndex(of: " "), space != stem.startIndex, let old = Int(stem[stem.index(after: space)...]),
      (2..<10_000).contains(old)
    {
      stem = stem[..<space]
      number = old + 1
    }
    while true {
      var candidate = "\(stem) \(number)\(suffix)"
      while candidate.utf8.count > longest, stem.count > 1 {
        stem.removeLast()
        candidate = "\(stem) \(number)\(suffix)"
      }
      if !isTaken(candidate) { return candidate }
      number += 1
    }
  }

  /// Bytes of a name.
  private static let longest = 255
  /// Bytes of an extension, with its dot. More after a dot is no extension.
  private static let longestSuffix = 64

  private static func split(_ name: String) -> (stem: Substring, suffix: Substring) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= longestSuffix else {
      return (name[...], "")
    }
    return (name[..<dot], name[dot...])
  }
}
