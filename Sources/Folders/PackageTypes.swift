internal import ContentTypes

/// Which folders are documents: packages, by their names' extensions. Their users see one thing and choose one thing, though programs
/// find a folder (`com.apple.package`).
package struct PackageTypes: Equatable, Sendable {
  /// The document packages of the system's types. Bundles of programs are none.
  package static let known: Set<String> = {
    let tree = TypeTree.standard
    let documents = tree.descendants(of: "com.apple.package").filter {
      tree.conforms($0, to: "public.content") && !tree.conforms($0, to: "com.apple.bundle")
    }
    return Set(documents.flatMap { tree[$0]?.extensions ?? [] })
  }()

  /// An app declares no more than these.
  package static let mostDeclared = 64

  /// Lower-case, without dot.
  package let extensions: Set<String>

  /// - Parameter declared: extensions of the app's own package types; impossible ones are left out.
  package init(declared: [String] = []) {
    extensions = Self.known.union(declared.prefix(Self.mostDeclared).map { $0.lowercased() }.filter(Self.isExtension))
  }

  /// Those of several apps.
  package init(of all: some Sequence<PackageTypes>) {
    extensions = all.reduce(into: Self.known) { $0.formUnion($1.extensions) }
  }

  /// Letters, digits, `-` and `_`: nothing by which a name without extension, or a part of another one, could be meant.
  package static func isExtension(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Whether a folder of this name is a package. Something stands before the extension: `.pages` is a hidden folder.
  package func isPackage(_ name: String) -> Bool {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return false }
    return extensions.contains(name[name.utf8.index(after: dot)...].lowercased())
  }
}
