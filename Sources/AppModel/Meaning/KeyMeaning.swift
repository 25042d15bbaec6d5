/// The effect of a key of a manifest or of entitlements under Ambit.
package enum KeyMeaning: Equatable, Sendable {
  /// It has an effect, which the sentence names.
  case mapped(String)
  /// It is known and changes nothing: the sentence says why.
  case idle(String)
  /// Its purpose is unknown, so it changes nothing.
  case unknown
}

/// The known keys, with their effects.
///
/// Keys within others are joined by `>`, without the numbers of arrays: `CFBundleDocumentTypes>LSItemContentTypes`; `*` at the end
/// of a first key stands for any further text, and between two `>` for a name that its owner chose. A key within a known key has
/// its meaning, unless it has one of its own.
package struct KeyVocabulary: Sendable {
  package struct Group: Sendable {
    let meaning: KeyMeaning
    let keys: [String]

    static func mapped(_ sentence: String, _ keys: String...) -> Group { Group(meaning: .mapped(sentence), keys: keys) }
    static func idle(_ sentence: String, _ keys: String...) -> Group { Group(meaning: .idle(sentence), keys: keys) }
  }

  private let exact: [String: KeyMeaning]
  /// The longest first.
  private let prefixes: [(prefix: String, meaning: KeyMeaning)]

  init(_ groups: [Group]) {
    var exact: [String: KeyMeaning] = [:]
    var prefixes: [(prefix: String, meaning: KeyMeaning)] = []
    for group in groups {
      for key in group.keys {
        if key.hasSuffix("*") {
          prefixes.append((String(key.dropLast()), group.meaning))
        } else {
          exact[key] = group.meaning
        }
      }
    }
    self.exact = exact
    self.prefixes = prefixes.sorted { $0.prefix.utf8.count > $1.prefix.utf8.count }
  }

  /// The first keys that are known by their whole name, sorted: a mistyped key may have been meant to be one of them.
  package var names: [String] { exact.keys.filter { !$0.contains(">") }.sorted() }

  /// Whether a key is known by its whole name, and not by how it begins alone.
  package func isNamed(_ key: String) -> Bool { exact[key] != nil || exact[Self.withoutVariant(key)] != nil }

  package func meaning(of path: KeyPath) -> KeyMeaning {
    let keys = path.steps.compactMap { step in if case .key(let key) = step { key } else { nil } }
    guard let first = keys.first else { return .unknown }
    for count in stride(from: keys.count, to: 1, by: -1) {
      let name = ([Self.withoutVariant(first)] + keys[1..<count]).joined(separator: ">")
      if let meaning = exact[name] { return meaning }
      // A name in the middle that its owner chose, as a container's.
      if count > 2, let meaning = exact[([Self.withoutVariant(first), "*"] + keys[2..<count]).joined(separator: ">")] {
        return meaning
      }
    }
    if let meaning = exact[first] ?? exact[Self.withoutVariant(first)] { return meaning }
    return prefixes.first { first.hasPrefix($0.prefix) }?.meaning ?? .unknown
  }

  /// A key may be for one device or platform alone: `UILaunchStoryboardName~ipad`, `NSMainNibFile-macos`.
  package static func withoutVariant(_ key: String) -> String {
    for suffix in ["~ipad", "~iphone", "~ipod", "~appletv", "~applewatch", "-macos", "-iphoneos", "-iphonesimulator"]
    where key.hasSuffix(suffix) && key.utf8.count > suffix.utf8.count {
      return String(key.dropLast(suffix.count))
    }
    return key
  }
}
