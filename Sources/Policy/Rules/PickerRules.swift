internal import ContentTypes
internal import Paths
internal import Synchronization

/// The meaning of a picker's choice to an app, by the names in the document picker's interface.
package enum PickerMode: String, CaseIterable, Equatable, Sendable, Codable {
  /// The original, for as long as it is granted (`PCK-1`).
  case open
  /// A copy in a temporary place (`PCK-2`).
  case `import`
  /// A copy of a document of the app's, made where the user says (`PCK-6`).
  case export
  /// A document of the app's, moved to where the user says (`PCK-5`).
  case move
}

/// Which documents a policy lets an app be given, by the extensions of their names.
package enum PickedTypes: Equatable, Sendable, Codable {
  case any
  /// Names of content types, and extensions without dot, as the policy has them. None at all: no file can be picked.
  case only([String])

  package static let anyWord = "any"

  /// Lower-case extensions without dot; `nil`: any.
  package var extensions: [String]? {
    guard case .only(let names) = self else { return nil }
    let known = names.map { PickableTypes.extensions(of: $0) ?? [$0.lowercased()] }
    return known.contains(where: \.isEmpty) ? nil : Self.reduced(known.flatMap(\.self))
  }

  /// Whether a document of this name may be picked. The extension may have dots of its own (`tar.gz`), and something stands
  /// before it: `.txt` is a hidden file without extension.
  package func allows(_ name: String) -> Bool {
    guard case .only(let words) = self else { return true }
    let endings = Self.endings(of: name.lowercased())
    return words.contains { word in
      guard let extensions = PickableTypes.extensions(of: word) else { return endings.contains(word.lowercased()) }
      return extensions.isEmpty || endings.contains { extensions.contains($0) }
    }
  }

  /// The texts after a name's dots; a dot at its beginning is none of them.
  private static func endings(of name: String) -> [String] {
    name.indices.dropFirst().filter { name[$0] == "." }.map { String(name[name.index(after: $0)...]) }
  }

  /// The types that both allow.
  package func narrowed(by other: PickedTypes) -> PickedTypes {
    guard let ours = extensions else { return other.extensions == nil ? .any : other }
    guard let theirs = other.extensions else { return self }
    if ours == theirs { return self }
    // Of `gz` and `tar.gz`, the longer one names the files that match both.
    let both = ours.flatMap { our in theirs.compactMap { Self.covered(our, by: $0) ?? Self.covered($0, by: our) } }
    let reduced = Self.reduced(both)
    return reduced == ours ? self : reduced == theirs ? other : .only(reduced)
  }

  private static func covered(_ narrow: String, by wide: String) -> String? {
    narrow == wide || narrow.hasSuffix("." + wide) ? narrow : nil
  }

  /// Each once, sorted, and none that another covers.
  private static func reduced(_ extensions: [String]) -> [String] {
    let all = Set(extensions)
    return all.filter { !endings(of: $0).contains(where: all.contains) }.sorted()
  }
}

/// A policy's rules for an app's document picker (`[picker]`).
package struct PickerRules: Equatable, Sendable, Codable {
  /// In the order of ``PickerMode/allCases``.
  package var modes: [PickerMode] = PickerMode.allCases
  package var types: PickedTypes = .any
  /// Whether whole folders may be picked.
  package var folders = true

  package init() {}
}

/// The content types that a policy may name. The picker goes by extensions, so types stand for extensions here.
package enum PickableTypes {
  /// Every file is of these.
  private static let any: Set<String> = ["public.data", "public.item", "public.content"]

  /// The system's own types, and the extensions that conform to them on every machine; an empty list: any file.
  package static let standard: [(identifier: String, extensions: [String])] = TypeTree.standard.identifiers.compactMap {
    let extensions = any.contains($0) ? [] : TypeTree.standard.extensions(of: $0)
    return extensions.isEmpty && !any.contains($0) ? nil : ($0, extensions)
  }

  /// The extensions of a type on this machine; an empty list: any file. `nil` for a text that is no type's identifier, and for types that
  /// no name leads to.
  package static func extensions(of identifier: String) -> Set<String>? {
    if any.contains(identifier) { return [] }
    guard identifier.contains(".") else { return nil }
    if let known = known.withLock({ $0[identifier] }) { return known }
    guard let type = TypeDecider.system.tree[identifier], type.origin != .dynamic else { return nil }
    let extensions = Set(TypeDecider.system.tree.extensions(of: type.identifier))
    let found = extensions.isEmpty ? nil : extensions
    known.withLock { $0[identifier] = .some(found) }
    return found
  }

  /// Of the system's types that were asked for. The picker asks for each row.
  private static let known = Mutex<[String: Set<String>?]>([:])

  /// Why a word can be neither a type nor an extension, as the end of a sentence; `nil` when it can.
  static func check(_ word: String) -> String? {
    if extensions(of: word) != nil { return nil }
    if word.isEmpty { return "it is empty" }
    if word.hasPrefix(".") { return "an extension is written without its dot" }
    if word.hasSlash || word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "an extension cannot have '/' or control characters in it"
    }
    if ["public.", "com.", "org.", "dyn."].contains(where: word.hasPrefix) {
      let near = standard.map(\.identifier).nearest(to: word).map { "; did you mean \"\($0)\"?" } ?? "."
      return "this version knows no such content type\(near) Name its extensions instead"
    }
    return nil
  }
}
