internal import Paths

/// A uniform type, as far as a file's name tells it.
package struct ContentType: Hashable, Sendable {
  package let identifier: String
  /// The types that it is a kind of, without itself; the nearest first.
  private let kinds: [String]

  /// Itself and the types that it is a kind of.
  package var tree: [String] { [identifier] + kinds }

  package init(ofName name: String, _ kind: MetadataRecord.Kind) {
    let suffix = Self.split(name).suffix
    switch kind {
    case .folder: self = ContentType(identifier: "public.folder", kinds: Self.folder)
    case .file: self = Self.named(suffix) ?? ContentType(identifier: "public.data", kinds: ["public.item"])
    case .package:
      let known = Self.named(suffix)?.identifier ?? "com.apple.package"
      let kinds = known == "com.apple.package" ? Self.package : ["com.apple.package"] + Self.package
      self = ContentType(identifier: known, kinds: kinds)
    }
  }

  private init(identifier: String, kinds: [String]) { (self.identifier, self.kinds) = (identifier, kinds) }

  private static let folder = ["public.directory", "public.item"]
  private static let package = ["public.directory", "public.item"]
  private static let data = ["public.data", "public.content", "public.item"]

  private static func named(_ suffix: String) -> ContentType? {
    guard !suffix.isEmpty else { return nil }
    if let known = known[suffix.lowercased()] { return known }
    return ContentType(identifier: "dyn.\(suffix)", kinds: ["public.data", "public.item"])
  }

  /// By extension. AmbitKit's `UTType` has the same ones.
  private static let known: [String: ContentType] = {
    let text = ["public.text"] + data
    let image = ["public.image"] + data
    let table: [(String, [String], [String])] = [
      ("public.json", text, ["json"]), ("com.adobe.pdf", data, ["pdf"]), ("public.png", image, ["png"]),
      ("public.jpeg", image, ["jpg", "jpeg"]), ("com.apple.rtfd", package, ["rtfd"]),
      ("public.plain-text", text, ["txt", "text", "md", "markdown", "csv"]),
      ("public.text", data, ["html", "htm", "xml", "rtf"]),
      ("public.image", data, ["gif", "tif", "tiff", "webp", "heic"]),
    ]
    var known: [String: ContentType] = [:]
    for (identifier, kinds, suffixes) in table {
      for suffix in suffixes { known[suffix] = ContentType(identifier: identifier, kinds: kinds) }
    }
    return known
  }()

  /// A name and its extension, without the dot. A name that begins with its only dot has none.
  package static func split(_ name: String) -> (stem: String, suffix: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
    let suffix = name[name.index(after: dot)...]
    return suffix.isEmpty ? (name, "") : (String(name[..<dot]), String(suffix))
  }
}
