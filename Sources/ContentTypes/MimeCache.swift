/// One `mime.cache` of shared-mime-info, as it lies on the disk: the file is read where a question leads, and never as a whole.
///
/// A broken file answers less, and nothing that is not in it. The layout is that of the specification, version 1.1 and 1.2: numbers are
/// big-endian, texts end with a zero.
struct MimeCache: Sendable {
  private let bytes: [UInt8]

  /// The lists that the header points to.
  private enum List: Int { case aliases, parents, literals, suffixes, globs, magic, namespaces, icons, genericIcons }

  /// - Returns: `nil` for anything but a cache of a known version.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 40, bytes[0] == 0, bytes[1] == 1, bytes[2] == 0, (1...2).contains(bytes[3]) else { return nil }
    self.bytes = bytes
  }

  private func number(_ offset: Int) -> Int {
    guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
    return Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8
      | Int(bytes[offset + 3])
  }

  private func rawText(_ offset: Int) -> ArraySlice<UInt8> {
    guard offset > 0, offset < bytes.count else { return [] }
    return bytes[offset...].prefix(1024).prefix { $0 != 0 }
  }

  private func text(_ offset: Int) -> String { String(decoding: rawText(offset), as: UTF8.self) }

  private func start(_ list: List) -> Int { number(4 + 4 * list.rawValue) }

  /// The entries of a list with that size each; no more than the file can hold.
  private func entries(_ list: List, size: Int) -> (count: Int, first: Int) {
    let at = start(list)
    guard at > 0 else { return (0, 0) }
    return (min(number(at), (bytes.count - at - 4) / size), at + 4)
  }

  // MARK: Lists

  private func pairs(_ list: List) -> [(String, Int)] {
    let (count, first) = entries(list, size: 8)
    guard count > 0 else { return [] }
    return (0..<count).map { (text(number(first + 8 * $0)), number(first + 8 * $0 + 4)) }
  }

  /// Other names of types.
  var aliases: [(alias: String, type: String)] { pairs(.aliases).map { ($0, text($1)) } }
  var genericIcons: [(type: String, icon: String)] { pairs(.genericIcons).map { ($0, text($1)) } }
  var parents: [(type: String, parents: [String])] {
    pairs(.parents).map { type, at in
      let count = min(number(at), 64)
      return (type, count > 0 ? (0..<count).map { text(number(at + 4 + 4 * $0)) } : [])
    }
  }

  /// A pattern for names, and what it says.
  struct Pattern: Hashable {
    /// For example `*.txt`, `Makefile`, `*.[1-9]`.
    let text: String
    let type: String
    /// 0 to 100.
    let weight: Int
    let isCaseSensitive: Bool

    init(_ text: String, _ type: String, _ flags: Int) {
      (self.text, self.type) = (text, type)
      (weight, isCaseSensitive) = (flags & 0xff, flags & 0x100 != 0)
    }
  }

  private func patterns(_ list: List) -> [Pattern] {
    let (count, first) = entries(list, size: 12)
    guard count > 0 else { return [] }
    return (0..<count).map { index in
      let at = first + 12 * index
      return Pattern(text(number(at)), text(number(at + 4)), number(at + 8))
    }
  }

  var literals: [Pattern] { patterns(.literals) }
  var globs: [Pattern] { patterns(.globs) }

  /// Every suffix, as `*.txt`.
  var suffixes: [Pattern] {
    var found: [Pattern] = []
    let root = start(.suffixes)
    func walk(_ count: Int, _ first: Int, _ suffix: [UInt8], _ depth: Int) {
      guard depth < 64, count > 0, count <= bytes.count / 12, found.count < 100_000 else { return }
      for index in 0..<count {
        let at = first + 12 * index
        let character = number(at)
        if character == 0 {
          found.append(Pattern("*" + String(decoding: suffix, as: UTF8.self), text(number(at + 4)), number(at + 8)))
        } else {
          let scalar = Unicode.Scalar(UInt32(character)).map { Array(String(Character($0)).utf8) } ?? []
          walk(number(at + 4), number(at + 8), scalar + suffix, depth + 1)
        }
      }
    }
    if root > 0 { walk(number(root), number(root + 4), [], 0) }
    return found
  }

  // MARK: Names

  /// The type of the longest suffix of a name in the file.
  ///
  /// - Parameter name: in UTF-8; lower-case, unless the case counts.
  func suffixMatches(_ name: [UInt8], caseSensitive: Bool) -> [Pattern] {
    let root = start(.suffixes)
    guard root > 0 else { return [] }
    let scalars = Array(String(decoding: name.suffix(256), as: UTF8.self).unicodeScalars)
    func look(_ count: Int, _ first: Int, _ end: Int) -> [Pattern] {
      guard count > 0, count <= bytes.count / 12, end > 0 else { return [] }
      // Sorted by character.
      var (low, high) = (0, count - 1)
      let wanted = Int(scalars[end - 1].value)
      while low <= high {
        let middle = (low + high) / 2
        let at = first + 12 * middle
        let character = number(at)
        if character < wanted {
          low = middle + 1
        } else if character > wanted {
          high = middle - 1
        } else {
          let (children, child) = (number(at + 4), number(at + 8))
          let longer = look(children, child, end - 1)
          if !longer.isEmpty { return longer }
          return leaves(children, child, scalars[(end - 1)...], caseSensitive)
        }
      }
      return []
    }
    return look(number(root), number(root + 4), scalars.count)
  }

  private func leaves(
    _ count: Int, _ first: Int, _ suffix: ArraySlice<Unicode.Scalar>, _ caseSensitive: Bool
  ) -> [Pattern] {
    var found: [Pattern] = []
    var index = 0
    while index < min(count, 64), number(first + 12 * index) == 0 {
      let at = first + 12 * index
      var name = String.UnicodeScalarView()
      name.append(contentsOf: suffix)
      let pattern = Pattern("*" + String(name), text(number(at + 4)), number(at + 8))
      if caseSensitive || !pattern.isCaseSensitive { found.append(pattern) }
      index += 1
    }
    return found
  }

  // MARK: Contents

  /// Bytes from the beginning that a look at the content can need.
  var extent: Int { number(start(.magic) + 4) }

  /// The type that the content's first bytes tell, by the rule with the highest priority.
  func sniff(_ data: [UInt8]) -> (type: String, priority: Int)? {
    let at = start(.magic)
    guard at > 0 else { return nil }
    let (count, first) = (min(number(at), bytes.count / 16), number(at + 8))
    guard count > 0 else { return nil }
    for index in 0..<count {
      let match = first + 16 * index
      let (rules, rule) = (min(number(match + 8), 4096), number(match + 12))
      guard rules > 0 else { continue }
      if (0..<rules).contains(where: { holds(rule + 32 * $0, data, depth: 0) }) {
        return (text(number(match + 4)), number(match))
      }
    }
    return nil
  }

  private func holds(_ at: Int, _ data: [UInt8], depth: Int) -> Bool {
    let (start, range, length) = (number(at), number(at + 4), number(at + 12))
    let (value, mask) = (number(at + 16), number(at + 20))
    guard depth < 16, length > 0, length <= data.count, value > 0, value + length <= bytes.count,
      mask == 0 || mask + length <= bytes.count
    else { return false }
    let last = min(start + range - 1, data.count - length)
    guard start <= last, (start...last).contains(where: { isEqual(data, $0, length, value, mask) }) else {
      return false
    }
    let (children, child) = (min(number(at + 24), 4096), number(at + 28))
    return children == 0 || (0..<children).contains { holds(child + 32 * $0, data, depth: depth + 1) }
  }

  private func isEqual(_ data: [UInt8], _ at: Int, _ length: Int, _ value: Int, _ mask: Int) -> Bool {
    for index in 0..<length {
      let kept: UInt8 = mask == 0 ? 0xff : bytes[mask + index]
      if data[at + index] & kept != bytes[value + index] & kept { return false }
    }
    return true
  }
}
