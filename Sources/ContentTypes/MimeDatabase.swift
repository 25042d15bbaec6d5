internal import Kernel
internal import Paths

/// The database of shared-mime-info, as it is installed: the user's folder first, then the system's.
package struct MimeDatabase: Sendable {
  private let caches: [MimeCache]
  private let folders: [String]
  /// All types, each once, sorted.
  package let types: [String]
  private let aliases: [String: String]
  private let parentsOf: [String: [String]]
  private let literals: [String: [MimeCache.Pattern]]
  private let globs: [MimeCache.Pattern]
  package let genericIcons: [String: String]

  /// - Parameter folders: such as `/usr/share/mime`; those without a readable cache are passed over.
  package init(folders: [String]) {
    var caches: [MimeCache] = []
    var used: [String] = []
    var names: Set<String> = []
    for folder in folders {
      guard let bytes = Self.content("\(folder)/mime.cache"),
        let cache = MimeCache(bytes)
      else { continue }
      caches.append(cache)
      used.append(folder)
      let listed = Self.content("\(folder)/types") ?? []
      names.formUnion(
        listed.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }.filter(Self.isType))
    }
    (self.caches, self.folders) = (caches, used)
    // The first folder wins.
    aliases = Dictionary(caches.flatMap(\.aliases).map { ($0.alias.lowercased(), $0.type) }) { first, _ in first }
    parentsOf = Dictionary(caches.flatMap(\.parents).map { ($0.type, $0.parents) }) { $0 + $1 }
    genericIcons = Dictionary(caches.flatMap(\.genericIcons).map { ($0.type, $0.icon) }) { first, _ in first }
    literals = Dictionary(grouping: caches.flatMap(\.literals)) { $0.isCaseSensitive ? $0.text : $0.text.lowercased() }
    globs = caches.flatMap(\.globs)
    for cache in caches { names.formUnion((cache.suffixes + cache.literals).map(\.type).filter(Self.isType)) }
    types = names.sorted()
  }

  /// A cache of 16 MiB has many times more types than there are.
  private static let largest = 16 << 20

  private static func content(_ path: String) -> [UInt8]? {
    try? Descriptor.open(path, flags: [.read, .nonBlocking]).readAll(limit: largest)
  }

  private static func isType(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 127
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  /// The folders by the XDG Base Directory specification.
  package static func folders(environment: [String: String]) -> [String] {
    let home =
      environment["XDG_DATA_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
      ?? environment["HOME"].map { "\($0)/.local/share" }
    let shared = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
    let all = [home].compactMap(\.self) + shared.split(separator: ":").map(String.init)
    var folders: [String] = []
    for folder in all where folder.isAbsolutePath {
      let path = folder.withoutTrailingSlashes.path(of: "mime")
      if !folders.contains(path) { folders.append(path) }
    }
    return folders
  }

  package var isEmpty: Bool { caches.isEmpty }

  // MARK: Types

  /// The type's own name, for an alias.
  package func canonical(_ type: String) -> String { aliases[type.lowercased()] ?? type }

  /// Other names of a type.
  package func aliases(of type: String) -> [String] { aliases.filter { $0.value == type }.map(\.key).sorted() }

  package func parents(of type: String) -> [String] { (parentsOf[type] ?? []).map(canonical) }

  /// By the specification's rules: every text is plain text, and everything but what is no file is octets.
  package func isSubclass(_ type: String, of base: String) -> Bool {
    let (type, base) = (canonical(type), canonical(base))
    var (seen, next): (Set<String>, [String]) = ([], [type])
    while let one = next.popLast() {
      if one == base { return true }
      if base == "text/plain", one.hasPrefix("text/") { return true }
      if base == "application/octet-stream", !one.hasPrefix("inode/") { return true }
      if seen.insert(one).inserted { next += parents(of: one) }
    }
    return false
  }

  /// Every pattern `*.extension`, with the type and the weight.
  var extensions: [(name: String, type: String, weight: Int)] {
    caches.flatMap(\.suffixes).compactMap { pattern in
      guard pattern.text.hasPrefix("*."), pattern.text.utf8.count > 2 else { return nil }
      return (String(pattern.text.dropFirst(2)), pattern.type, pattern.weight)
    }
  }

  /// The English name of the type.
  package func comment(of type: String) -> String? {
    for folder in folders {
      guard let bytes = Self.content("\(folder)/\(type).xml") else { continue }
      let text = String(decoding: bytes, as: UTF8.self)
      // The one without a language is in English.
      guard let start = text.firstRange(of: "<comment>"),
        let end = text[start.upperBound...].firstRange(of: "</comment>")
      else { continue }
      return String(text[start.upperBound..<end.lowerBound])
    }
    return nil
  }

  // MARK: Names

  /// A type that a name leads to.
  package struct NameMatch: Hashable, Sendable {
    package let type: String
    /// For example `*.txt`.
    package let pattern: String
    package let weight: Int
  }

  /// The types that a file's name leads to, the one with the largest weight first.
  package func matches(ofName name: String) -> [NameMatch] {
    let lower = Self.lowercased(name)
    if let found = literals[lower]?.filter({ !$0.isCaseSensitive }), !found.isEmpty { return matches(found) }
    if let found = literals[name]?.filter(\.isCaseSensitive), !found.isEmpty { return matches(found) }
    var found = caches.flatMap { $0.suffixMatches(Array(lower.utf8), caseSensitive: false) }
    if found.count < 2 { found += caches.flatMap { $0.suffixMatches(Array(name.utf8), caseSensitive: true) } }
    if found.isEmpty { found = globs.filter { !$0.isCaseSensitive && Glob.matches($0.text, lower) } }
    if found.count < 2 { found += globs.filter { $0.isCaseSensitive && Glob.matches($0.text, name) } }
    return matches(found)
  }

  private func matches(_ patterns: [MimeCache.Pattern]) -> [NameMatch] {
    var seen: Set<String> = []
    return patterns.filter { seen.insert($0.type).inserted }
      .map { NameMatch(type: $0.type, pattern: $0.text, weight: $0.weight) }
      .enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element)
  }

  private static func lowercased(_ text: String) -> String {
    String(
      decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  // MARK: Contents

  /// The type that the first bytes of a file tell, with the priority of the rule, 0 to 100.
  package func sniff(_ data: [UInt8]) -> (type: String, priority: Int)? {
    caches.compactMap { $0.sniff(data) }.reduce(nil) { best, next in
      best.map { $0.priority >= next.priority ? $0 : next } ?? next
    }
  }
}

/// Patterns with `*`, `?` and `[…]`, as `fnmatch(3)` has them.
enum Glob {
  static func matches(_ pattern: String, _ name: String) -> Bool {
    let (pattern, name) = (Array(pattern.utf8), Array(name.utf8))
    var (at, position, star, resume) = (0, 0, -1, 0)
    while position < name.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        (star, resume) = (at, position)
        at += 1
      } else if let next = step(pattern, at, name[position]) {
        (at, position) = (next, position + 1)
      } else if star >= 0 {
        resume += 1
        (at, position) = (star + 1, resume)
      } else {
        return false
      }
    }
    return pattern[min(at, pattern.count)...].allSatisfy { $0 == UInt8(ascii: "*") }
  }

  /// - Returns: behind the part of the pattern that takes the byte; `nil` if it does not.
  private static func step(_ pattern: [UInt8], _ at: Int, _ byte: UInt8) -> Int? {
    guard at < pattern.count else { return nil }
    switch pattern[at] {
    case UInt8(ascii: "?"): return at + 1
    case UInt8(ascii: "["):
      guard let end = pattern[(at + 1)...].dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
        return byte == pattern[at] ? at + 1 : nil
      }
      var inside = pattern[(at + 1)..<end]
      let isInverted = [UInt8(ascii: "!"), UInt8(ascii: "^")].contains(inside.first ?? 0)
      if isInverted { inside = inside.dropFirst() }
      var found = false
      var index = inside.startIndex
      while index < inside.endIndex {
        if index + 2 < inside.endIndex, inside[index + 1] == UInt8(ascii: "-") {
          if inside[index] <= byte, byte <= inside[index + 2] { found = true }
          index += 3
        } else {
          if inside[index] == byte { found = true }
          index += 1
        }
      }
      return found != isInverted ? end + 1 : nil
    default: return pattern[at] == byte ? at + 1 : nil
    }
  }
}
