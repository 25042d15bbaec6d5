/// What a key of a manifest or of entitlements comes to under Ambit.
package enum KeyMeaning: Equatable, Sendable {
  /// Something is done by it: the sentence says what.
  case mapped(String)
  /// It is known and changes nothing: the sentence says why.
  case idle(String)
  /// Nobody has said what it is for, so it changes nothing.
  case unknown
}

/// The keys that are known, with what they come to.
///
/// Keys within others are joined by `>`, without the numbers of arrays: `CFBundleDocumentTypes>LSItemContentTypes`; `*` at the end of
/// a first key stands for whatever follows, and between two `>` for a name that its owner chose. What lies within a key that is known has its meaning, unless it has one of its own.
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

  /// The first keys that are known by their whole name, sorted: what a mistyped one may have been meant to be.
  package var names: [String] { exact.keys.filter { !$0.contains(">") }.sorted() }

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
