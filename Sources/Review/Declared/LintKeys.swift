internal import AppModel
internal import Policy

extension Lint {
  /// Whether a list is one that an app can be run by.
  static func launch(_ list: PropertyListFile, as kind: ManifestListing.Kind) -> [LintFinding] {
    errors(list, as: kind).map { error in
      let key: String? =
        switch error {
        case .keyMissing(_, let key, _), .wrongType(_, let key, _, _), .badValue(_, let key, _, _),
          .wrongEntitlement(_, _, let key, _):
          key
        default: nil
        }
      let line = key.flatMap { key in list.entries.first { $0.key == key }?.line }
      return LintFinding(
        .notLaunchable, at: .init(file: list.path, line: line, key: key), error.sentence,
        "Until then ambit run refuses the app.")
    }
  }

  private static func errors(_ list: PropertyListFile, as kind: ManifestListing.Kind) -> [AppBundleError] {
    switch kind {
    case .manifest:
      do throws(AppBundleError) {
        _ = try AppManifest(list, folderName: "App")
        return []
      } catch { return [error] }
    case .entitlements: return Entitlements.faults(in: list)
    }
  }

  /// Keys of wrong types, unknown ones, and values that a build was to fill in.
  static func keys(_ list: PropertyListFile, as kind: ManifestListing.Kind) -> [LintFinding] {
    let refused = launch(list, as: kind)
    let faults = ShapeFault.all(in: list, as: kind).compactMap { fault -> LintFinding? in
      let place = list.place(fault.path, fault.line)
      // Worse is said of it; a key may stand on another line than its value.
      if refused.contains(where: { $0.place.key == place.key }) { return nil }
      return LintFinding(
        .wrongType, at: place, fault.sentence, "Change the value; as it is, it counts as if it were not there.")
    }
    let loose = ManifestListing(list, as: kind).rows.compactMap { row in
      row.note.map { note in
        LintFinding(
          .looseBoolean, at: list.place(row.path, row.line), "\(row.path) is \(note).",
          "Write <true/> or <false/>, which every reader takes for what it is.")
      }
    }
    return refused + faults + loose + unknown(list, as: kind) + inner(list) + variables(list)
  }

  private static func unknown(_ list: PropertyListFile, as kind: ManifestListing.Kind) -> [LintFinding] {
    let names = kind.vocabulary.names
    return list.entries.compactMap { entry in
      let path = KeyPath().key(entry.key)
      guard !kind.vocabulary.isNamed(entry.key) else { return nil }
      let place = list.place(path, entry.line)
      if let meant = meant(by: entry.key, of: names) {
        return LintFinding(
          .mistypedKey, at: place, "\(path) is no key that anybody knows, and \(meant) is.",
          "If \(meant) was meant, write it so; as it is, it changes nothing.")
      }
      guard kind.vocabulary.meaning(of: path) == .unknown else { return nil }
      return LintFinding(
        .unknownKey, at: place, "\(path) is no key that Apple's systems or Ambit are known to have.",
        "Leave it if the app itself reads it; otherwise take it out.")
    }
  }

  /// Keys of the dictionaries that document types and declarations are.
  private static let innerKeys: [String: [String]] = [
    "CFBundleDocumentTypes": [
      "CFBundleTypeName", "CFBundleTypeRole", "CFBundleTypeExtensions", "CFBundleTypeMIMETypes", "CFBundleTypeOSTypes",
      "CFBundleTypeIconFile", "CFBundleTypeIconFiles", "CFBundleTypeIconSystemGenerated", "LSItemContentTypes",
      "LSHandlerRank", "LSTypeIsPackage", "LSIsAppleDefaultForType", "NSDocumentClass", "NSExportableTypes",
      "NSPersistentStoreTypeKey", "NSUbiquitousDocumentUserActivityType",
    ],
    "UTExportedTypeDeclarations": declarationKeys, "UTImportedTypeDeclarations": declarationKeys,
  ]
  private static let declarationKeys = [
    "UTTypeIdentifier", "UTTypeDescription", "UTTypeConformsTo", "UTTypeTagSpecification", "UTTypeIconFile",
    "UTTypeIconFiles", "UTTypeIcons", "UTTypeReferenceURL", "UTTypeVersion", "UTTypeSize320IconFile",
    "UTTypeSize64IconFile",
  ]

  /// A slip in one of these is worse than at the top: the type is there, and never matches.
  private static func inner(_ list: PropertyListFile) -> [LintFinding] {
    innerKeys.keys.sorted().flatMap { key -> [LintFinding] in
      let names = innerKeys[key] ?? []
      return (list[key]?.array ?? []).enumerated().flatMap { index, member in
        (member.dictionary ?? []).compactMap { entry -> LintFinding? in
          guard !names.contains(entry.key), let meant = meant(by: entry.key, of: names) else { return nil }
          let path = KeyPath().key(key).index(index).key(entry.key)
          return LintFinding(
            .mistypedKey, at: list.place(path, entry.line),
            "\(entry.key) is no key of a type that anybody knows, and \(meant) is.",
            "If \(meant) was meant, write it so; as it is, it changes nothing.")
        }
      }
    }
  }

  /// The key that the author may have meant: three letters away at most, however long it is, since long ones that differ by more
  /// differ by a word and mean something else.
  private static func meant(by key: String, of names: [String]) -> String? {
    let (count, most) = (key.utf8.count, min(3, key.utf8.count / 4))
    guard count <= 128, most > 0 else { return nil }
    return names.filter { name in
      guard abs(name.utf8.count - count) <= most else { return false }
      // Dear to find out, so only where half of it is the same to begin with.
      return (zip(name.utf8, key.utf8).prefix { $0 == $1 }.count)
        + (zip(name.utf8.reversed(), key.utf8.reversed()).prefix { $0 == $1 }.count) >= count / 2
    }.map { (distance: editDistance(key, $0), name: $0) }.filter { $0.distance <= most }.min { $0 < $1 }?.name
  }

  /// Only Xcode's build fills in `$(PRODUCT_NAME)`.
  private static func variables(_ list: PropertyListFile) -> [LintFinding] {
    var findings: [LintFinding] = []
    func look(_ node: PropertyListNode, _ path: KeyPath) {
      if let text = node.string, text.contains("$(") || text.contains("${") {
        findings.append(
          LintFinding(
            .unexpandedVariable, at: list.place(path, node.line),
            "\(path) is \(text.quoted), in which a build was to put something.",
            "Take the file from the app that was built, or write what it stands for."))
      }
      for entry in node.dictionary ?? [] { look(entry.node, path.key(entry.key)) }
      for (index, member) in (node.array ?? []).enumerated() { look(member, path.index(index)) }
    }
    for entry in list.entries { look(entry.node, KeyPath().key(entry.key)) }
    return findings
  }
}
