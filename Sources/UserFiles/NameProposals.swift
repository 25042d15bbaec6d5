/// The names that are tried for a new file, one after the other: the wanted one, then with a number before the extension. Copies of apps'
/// files, duplicates, renamed documents and trashed files all follow it (`PCK-17`).
package struct NameProposals: Sequence {
  private static let most = 10_000
  private let longest: Int
  private let stem: String
  private let suffix: String
  private let first: Int

  /// - Parameter longest: bytes of a name at most (`NAME_MAX`).
  package init(_ wanted: String, longest: Int = 255) {
    (stem, suffix) = Self.parts(wanted)
    (self.longest, first) = (longest, 1)
  }

  /// Those of a duplicate, which is never called as the original: “Essay 2.txt” of “Essay.txt”, and “Essay 3.txt” of that.
  package init(duplicating name: String) {
    let (stem, suffix) = Self.parts(name)
    var digits = 0
    for byte in stem.utf8.reversed() {
      guard (0x30...0x39).contains(byte), digits < 5 else { break }
      digits += 1
    }
    let beginning = stem.utf8.dropLast(digits)
    // “2 Essays” and “Essay 02” have no number of this rule's.
    if (1...4).contains(digits), beginning.count > 1, beginning.last == 0x20, let number = Int(stem.suffix(digits)),
      number > 1, "\(number)".utf8.count == digits
    {
      (self.stem, first) = (String(stem.dropLast(digits + 1)), number + 1)
    } else {
      (self.stem, first) = (stem, 2)
    }
    (self.suffix, longest) = (suffix, 255)
  }

  private static func parts(_ name: String) -> (stem: String, suffix: String) {
    // A name that begins with its only dot has no extension.
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 32 {
      return (String(name[..<dot]), String(name[dot...]))
    }
    return (name, "")
  }

  package func makeIterator() -> AnyIterator<String> {
    var number = first - 1
    return AnyIterator {
      number += 1
      guard number - first < Self.most else { return nil }
      let end = number == 1 ? suffix : " \(number)\(suffix)"
      var start = stem
      while start.utf8.count + end.utf8.count > longest, !start.isEmpty { start.removeLast() }
      return start + end
    }
  }
}

/// The names that a user may give.
package enum FileNameRule {
  /// Why a file cannot have this name, as a sentence; `nil`: it can.
  package static func refusal(_ name: String) -> String? {
    if name.isEmpty { return "A file needs a name." }
    if name == "." || name == ".." { return "“\(name)” means a folder, and cannot be a name." }
    if name.utf8.contains(0) || name.utf8.contains(0x2F) { return "A name has no slash in it." }
    if name.utf8.count > 255 { return "A name has 255 bytes at most." }
    if name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      return "A name has no line ends and no other control characters."
    }
    return nil
  }
}
