/// What an `Info.plist` says of packages: documents that are folders.
///
/// A declaration that is not as it should be declares nothing: a real app's file is read as it is.
struct PackageDeclarations {
  /// Types that conform to `com.apple.package`, and that others are declared to conform to.
  private static let known: Set<String> = ["com.apple.package", "com.apple.bundle", "com.apple.rtfd"]

  /// Without dot, sorted.
  let extensions: [String]

  init(_ list: PropertyListFile) {
    let types = ["UTExportedTypeDeclarations", "UTImportedTypeDeclarations"]
      .flatMap { list.dictionaries($0) }.map(TypeDeclaration.init)
    var packages = Self.known
    // One may conform to another that is declared behind it; each round finds at least one more, or is the last.
    while true {
      let found = types.filter { !packages.isDisjoint(with: $0.conformsTo) }.compactMap(\.identifier)
      if packages.isSuperset(of: found) { break }
      packages.formUnion(found)
    }
    let declared = types.filter { !packages.isDisjoint(with: $0.conformsTo) }.flatMap(\.extensions)
    let documents = list.dictionaries("CFBundleDocumentTypes").filter {
      PropertyListFile.boolean($0["LSTypeIsPackage"]) == true
    }
    .flatMap { Self.strings($0["CFBundleTypeExtensions"]) }
    extensions = Set(declared + documents).sorted()
  }

  private struct TypeDeclaration {
    let identifier: String?
    let conformsTo: [String]
    let extensions: [String]

    init(_ values: [String: Any]) {
      identifier = values["UTTypeIdentifier"] as? String
      conformsTo = PackageDeclarations.strings(values["UTTypeConformsTo"])
      let tags = values["UTTypeTagSpecification"] as? [String: Any] ?? [:]
      extensions = PackageDeclarations.strings(tags["public.filename-extension"])
    }
  }

  /// Apple's lists of one may be written as the one.
  private static func strings(_ value: Any?) -> [String] {
    (value as? [String]) ?? (value as? String).map { [$0] } ?? []
  }
}
