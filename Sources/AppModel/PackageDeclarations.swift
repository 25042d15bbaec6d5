/// The declarations of packages in an `Info.plist`: documents that are folders.
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
      $0["LSTypeIsPackage"]?.looseBoolean == true
    }
    .flatMap { $0["CFBundleTypeExtensions"]?.strings ?? [] }
    extensions = Set(declared + documents).sorted()
  }

  private struct TypeDeclaration {
    let identifier: String?
    let conformsTo: [String]
    let extensions: [String]

    init(_ values: PropertyListNode) {
      identifier = values["UTTypeIdentifier"]?.string
      conformsTo = values["UTTypeConformsTo"]?.strings ?? []
      extensions = values["UTTypeTagSpecification"]?["public.filename-extension"]?.strings ?? []
    }
  }
}
