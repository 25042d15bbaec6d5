internal import AppModel
internal import ContentTypes

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
      guard let parents = conformances[type] ?? TypeTree.standard[type]?.conformsTo else { return nil }
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
}
