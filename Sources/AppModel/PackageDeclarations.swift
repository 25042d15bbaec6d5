/// The declarations of packages in an `Info.plist`: documents that are folders.
///
/// A declaration that is not as it should be declares nothing: a real app's file is read as it is.
struct PackageDeclarations {
  /// Types that conform to `com.apple.package`, and that others are declared to conform to.
  private static let known: Set<String> = ["com.apple.package", "com.apple.bundle", "com.apple.rtfd"]

  /// Without dot, sorted.
  let extensions: [String]

  init(_ list: PropertyListFile) {
    let types = TypeDeclaration.all(in: list)
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
}

/// The declarations of related items in an `Info.plist` (`COO-25`): document types with `NSIsRelatedItemType`. Their extensions are
/// those that they name, and those of the content types among them that the app declares.
struct RelatedItemDeclarations {
  /// Without dot, sorted.
  let extensions: [String]

  init(_ list: PropertyListFile) {
    let types = TypeDeclaration.all(in: list)
    let documents = list.dictionaries("CFBundleDocumentTypes").filter {
      $0["NSIsRelatedItemType"]?.looseBoolean == true
    }
    let named = documents.flatMap { $0["CFBundleTypeExtensions"]?.strings ?? [] }
    let contents = Set(documents.flatMap { $0["LSItemContentTypes"]?.strings ?? [] })
    let declared = types.filter { $0.identifier.map(contents.contains) ?? false }.flatMap(\.extensions)
    extensions = Set(named + declared).sorted()
  }
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

  static func all(in list: PropertyListFile) -> [TypeDeclaration] {
    ["UTExportedTypeDeclarations", "UTImportedTypeDeclarations"].flatMap { list.dictionaries($0) }.map(Self.init)
  }
}
