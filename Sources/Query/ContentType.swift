package import ContentTypes
internal import Paths

/// A uniform type, as far as a file's name tells it.
package struct ContentType: Hashable, Sendable {
  package let identifier: String
  /// Itself and the types that it is a kind of; the nearest first.
  package let tree: [String]

  package init(ofName name: String, _ kind: MetadataRecord.Kind, by types: TypeDecider = .system) {
    identifier =
      switch kind {
      case .file: types.decide(name, .file(size: 1)).identifier
      case .folder: "public.folder"
      case .package: Self.package(name, types)
      }
    tree = types.tree.ancestors(of: identifier)
  }

  /// A folder that an app declares as a package may have any name.
  private static func package(_ name: String, _ types: TypeDecider) -> String {
    let found = types.decide(name, .folder).identifier
    return types.tree.conforms(found, to: "com.apple.package") ? found : "com.apple.package"
  }

  /// A name and its extension, without the dot. A name that begins with its only dot has none.
  package static func split(_ name: String) -> (stem: String, suffix: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
    let suffix = name[name.index(after: dot)...]
    return suffix.isEmpty ? (name, "") : (String(name[..<dot]), String(suffix))
  }
}
