package import ContentTypes

/// The declarations of packages in an `Info.plist`: documents that are folders.
///
/// A declaration that is not as it should be declares nothing: a real app's file is read as it is.
struct PackageDeclarations {
  /// The system's types of packages.
  private static let known = Set(
    ["com.apple.package", "com.apple.bundle"].flatMap(TypeTree.standard.descendants(of:)))

  /// Without dot, sorted.
  let extensions: [String]

  init(_ list: PropertyListFile) {
    let types = DocumentDeclarations(list).types
    var packages = Self.known
    // One may conform to another that is declared behind it.
    let children = types.reduce(into: [String: [String]]()) { children, type in
      for parent in type.conformsTo { children[parent, default: []].append(type.identifier) }
    }
    var waiting = Array(packages)
    while let parent = waiting.popLast() {
      for child in children[parent] ?? [] where packages.insert(child).inserted { waiting.append(child) }
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
    let types = DocumentDeclarations(list).types
    let documents = list.dictionaries("CFBundleDocumentTypes").filter {
      $0["NSIsRelatedItemType"]?.looseBoolean == true
    }
    let named = documents.flatMap { $0["CFBundleTypeExtensions"]?.strings ?? [] }
    let contents = Set(documents.flatMap { $0["LSItemContentTypes"]?.strings ?? [] })
    let declared = types.filter { contents.contains($0.identifier) }.flatMap(\.extensions)
    extensions = Set(named + declared).sorted()
  }
}

extension DocumentDeclarations {
  /// More than any app has. Types are looked up along their parents, so an endless chain of them would take minutes.
  private static let mostTypes = 1000

  /// What an `Info.plist` declares. What is not as it should be declares nothing.
  package init(_ list: PropertyListFile) {
    let app = list["CFBundleIdentifier"]?.string ?? ""
    let types = TypeDeclaration.entries(in: list).prefix(Self.mostTypes).compactMap { values, isExported in
      TypeDeclaration.ofApp(values, isExported ? .exported(by: app) : .imported(by: app))
    }
    let claims = list.dictionaries("CFBundleDocumentTypes").map { values in
      DocumentClaim(
        name: values["CFBundleTypeName"]?.string, contentTypes: values["LSItemContentTypes"]?.strings ?? [],
        extensions: (values["CFBundleTypeExtensions"]?.strings ?? []).map { $0.lowercased() },
        mimeTypes: values["CFBundleTypeMIMETypes"]?.strings ?? [],
        rank: values["LSHandlerRank"]?.string.flatMap(DocumentClaim.Rank.init(rawValue:)) ?? .standard,
        role: values["CFBundleTypeRole"]?.string.flatMap(DocumentClaim.Role.init(rawValue:)) ?? .viewer)
    }
    self.init(types: types, claims: claims)
  }
}

extension TypeDeclaration {
  fileprivate static func entries(in list: PropertyListFile) -> [(PropertyListNode, isExported: Bool)] {
    list.dictionaries("UTExportedTypeDeclarations").map { ($0, true) }
      + list.dictionaries("UTImportedTypeDeclarations").map { ($0, false) }
  }

  fileprivate static func ofApp(_ values: PropertyListNode, _ origin: Origin) -> TypeDeclaration? {
    let tags = values["UTTypeTagSpecification"]
    func texts(_ node: PropertyListNode?) -> [String] { node?.strings ?? node?.string.map { [$0] } ?? [] }
    return ofApp(
      identifier: values["UTTypeIdentifier"]?.string ?? "", conformsTo: texts(values["UTTypeConformsTo"]),
      extensions: texts(tags?["public.filename-extension"]), mimeTypes: texts(tags?["public.mime-type"]),
      description: values["UTTypeDescription"]?.string, origin: origin,
      referenceURL: values["UTTypeReferenceURL"]?.string)
  }
}
