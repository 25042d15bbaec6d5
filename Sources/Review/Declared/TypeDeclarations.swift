internal import AppModel

/// The types that a manifest declares, and their meaning.
struct TypeDeclarations {
  struct Declaration {
    let identifier: String?
    let conformsTo: [String]
    let extensions: [String]
    let isExported: Bool
    let path: KeyPath
    let line: Int?
  }

  let all: [Declaration]
  let names: Set<String>
  private let conformances: [String: [String]]

  init(_ manifest: PropertyListFile) {
    all = ["UTExportedTypeDeclarations", "UTImportedTypeDeclarations"].flatMap { key in
      (manifest[key]?.array ?? []).enumerated().filter { $0.element.dictionary != nil }.map { index, type in
        Declaration(
          identifier: type["UTTypeIdentifier"]?.string, conformsTo: type["UTTypeConformsTo"]?.strings ?? [],
          extensions: type["UTTypeTagSpecification"]?["public.filename-extension"]?.strings ?? [],
          isExported: key == "UTExportedTypeDeclarations", path: KeyPath().key(key).index(index), line: type.line)
      }
    }
    names = Set(all.compactMap(\.identifier))
    // An exported declaration beats an imported one (TYP-2).
    conformances = Dictionary(
      all.compactMap { type in type.identifier.map { ($0, type.conformsTo) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Everything that a type conforms to, itself included; `nil` where that leads to one that is not known.
  func bases(of name: String) -> Set<String>? {
    var (found, next): (Set<String>, [String]) = ([], [name])
    while let type = next.popLast() {
      guard found.insert(type).inserted else { continue }
      guard let parents = conformances[type] ?? Self.known[type] else { return nil }
      next += parents
    }
    return found
  }

  func isCircular(_ name: String) -> Bool {
    var (found, next): (Set<String>, [String]) = ([], conformances[name] ?? [])
    while let type = next.popLast() {
      if type == name { return true }
      if found.insert(type).inserted { next += conformances[type] ?? [] }
    }
    return false
  }

  /// The system's own types, as far as apps build on them, with the types to which they conform.
  private static let known: [String: [String]] = {
    let data = ["public.data"]
    let content = ["public.data", "public.content"]
    var types: [String: [String]] = [
      "public.item": [], "public.content": [], "public.data": ["public.item"],
      "public.composite-content": ["public.content"], "public.directory": ["public.item"],
      "public.folder": ["public.directory"], "com.apple.package": ["public.directory"],
      "com.apple.bundle": ["public.directory"], "com.apple.rtfd": ["com.apple.package", "public.composite-content"],
      "com.apple.application-bundle": ["com.apple.bundle", "com.apple.package"], "public.archive": data,
      "public.executable": ["public.item"], "public.database": [], "public.presentation": ["public.composite-content"],
      "public.spreadsheet": ["public.content"], "public.disk-image": ["public.archive"], "public.font": content,
      "public.zip-archive": ["public.archive"], "com.pkware.zip-archive": ["public.archive"], "public.message": [],
      "public.calendar-event": [], "public.contact": [], "public.to-do-item": [], "public.bookmark": [],
      "public.text": content, "public.image": content, "public.audiovisual-content": content,
      "com.adobe.pdf": ["public.data", "public.composite-content"], "public.3d-content": content,
    ]
    for name in ["plain-text", "rtf", "html", "xml", "source-code", "script", "json", "delimited-values-text", "yaml"] {
      types["public.\(name)"] = ["public.text"]
    }
    for name in ["utf8-plain-text", "utf16-plain-text"] { types["public.\(name)"] = ["public.plain-text"] }
    for name in ["png", "jpeg", "tiff", "heic", "svg-image", "camera-raw-image"] {
      types["public.\(name)"] = ["public.image"]
    }
    for name in ["audio", "movie", "video"] { types["public.\(name)"] = ["public.audiovisual-content"] }
    return types
  }()
}
