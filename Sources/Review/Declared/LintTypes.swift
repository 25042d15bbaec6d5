package import AppModel

extension Lint {
  /// Types that nearly every document is of (`TYP-5`).
  static let broadTypes: [String: String] = [
    "public.data": "every file", "public.item": "every file and folder", "public.content": "every document",
    "public.composite-content": "every document made of several parts", "public.folder": "every folder",
    "public.directory": "every folder", "public.volume": "whole disks", "*": "every file", "****": "every file",
  ]

  /// The findings about types and documents alone.
  package static func types(of manifest: PropertyListFile) -> [LintFinding] { sorted(types(manifest)) }

  static func types(_ manifest: PropertyListFile) -> [LintFinding] {
    let declarations = TypeDeclarations(manifest)
    return claims(manifest, declarations) + declared(manifest, declarations) + opening(manifest)
  }

  // MARK: - The types that it opens

  private static func claims(_ manifest: PropertyListFile, _ declarations: TypeDeclarations) -> [LintFinding] {
    var findings: [LintFinding] = []
    let own = manifest["CFBundleIdentifier"]?.string
    for (index, type) in (manifest["CFBundleDocumentTypes"]?.array ?? []).enumerated() where type.dictionary != nil {
      let path = KeyPath().key("CFBundleDocumentTypes").index(index)
      let keys = ["LSItemContentTypes", "CFBundleTypeExtensions", "CFBundleTypeMIMETypes", "CFBundleTypeOSTypes"]
      if keys.allSatisfy({ type[$0]?.array?.isEmpty ?? (type[$0] == nil) }) {
        findings.append(
          LintFinding(
            .emptyType, at: manifest.place(path, type.line),
            "\(path) names no type and no extension, so no document is of it.",
            "Add LSItemContentTypes, or take it out."))
      }
      for key in ["LSItemContentTypes", "CFBundleTypeExtensions", "CFBundleTypeOSTypes"] {
        guard let value = type[key] else { continue }
        let members = value.array ?? [value]
        for (number, member) in members.enumerated() {
          guard let name = member.string else { continue }
          let place = manifest.place(value.array == nil ? path.key(key) : path.key(key).index(number), member.line)
          if let what = broadTypes[name.lowercased()] {
            findings.append(
              LintFinding(
                .overBroadType, at: place, "It says that it opens \(name), which is \(what) (TYP-5).",
                "Name the types that it really opens; a document that nothing else opens leads to it otherwise."))
          } else if key == "LSItemContentTypes", let own, name.hasPrefix(own + "."), !declarations.names.contains(name)
          {
            findings.append(
              LintFinding(
                .undeclaredType, at: place,
                "\(name.quoted) has the app's own name in it and is declared nowhere in the manifest.",
                "Declare it in UTExportedTypeDeclarations."))
          }
        }
      }
    }
    return findings
  }

  // MARK: - The types that it declares

  private static func declared(_ manifest: PropertyListFile, _ declarations: TypeDeclarations) -> [LintFinding] {
    var findings: [LintFinding] = []
    var seen: [String: KeyPath] = [:]
    for type in declarations.all {
      guard let name = type.identifier else { continue }
      let place = manifest.place(type.path.key("UTTypeIdentifier"), type.line)
      if let problem = BundleIdentifier.check(name) {
        findings.append(
          LintFinding(
            .badTypeIdentifier, at: place, "\(name.quoted) cannot be a type's identifier: \(problem) (TYP-6).",
            "Use A-Z, a-z, 0-9, '.' and '-', beginning with a name that is yours."))
      } else if let reserved = ["public.", "dyn.", "com.apple."].first(where: name.hasPrefix) {
        findings.append(
          LintFinding(
            .reservedType, type.isExported ? .error : .warning, at: place,
            "\(name.quoted) begins with \(reserved.quoted), which no app may declare (TYP-6).",
            "Declare a type of your own that conforms to it, or take the declaration out: the system has its own."))
      }
      if type.isExported, let first = seen.updateValue(type.path, forKey: name) {
        findings.append(
          LintFinding(
            .repeatedType, at: place,
            "\(name.quoted) is declared at \(first) already, and which of the two holds is not said.",
            "Put the two into one."))
      }
      findings += conformance(of: type, manifest, declarations)
    }
    return findings
  }

  private static func conformance(
    of type: TypeDeclarations.Declaration, _ manifest: PropertyListFile, _ declarations: TypeDeclarations
  ) -> [LintFinding] {
    guard let name = type.identifier else { return [] }
    let place = manifest.place(type.path, type.line)
    if declarations.isCircular(name) {
      return [
        LintFinding(
          .circularType, at: place, "\(name.quoted) conforms to itself, directly or by others.",
          "Take one of the steps out of UTTypeConformsTo.")
      ]
    }
    // A type may lead to one that is not known here; then more may hold than can be seen.
    guard let bases = declarations.bases(of: name) else { return [] }
    guard !bases.isDisjoint(with: ["public.data", "com.apple.package"]) else {
      return [
        LintFinding(
          .typeWithoutBase, at: place,
          "\(name.quoted) conforms neither to public.data nor to com.apple.package (TYP-1): no document can be of it.",
          "Add public.data to UTTypeConformsTo for files, com.apple.package for folders that are one document.")
      ]
    }
    guard type.isExported, !bases.contains("public.content") else { return [] }
    return [
      LintFinding(
        .typeNotInSearch, at: place,
        "\(name.quoted) does not conform to public.content: its documents do not show in Recents and Search (TYP-1).",
        "Add public.content to UTTypeConformsTo if people make such documents.")
    ]
  }

  // MARK: - How it opens

  private static func opening(_ manifest: PropertyListFile) -> [LintFinding] {
    var findings: [LintFinding] = []
    let hasTypes = manifest["CFBundleDocumentTypes"]?.array?.isEmpty == false
    let (inPlace, browser, sharing) = (
      "LSSupportsOpeningDocumentsInPlace", "UISupportsDocumentBrowser", "UIFileSharingEnabled"
    )
    if manifest.says(inPlace), !hasTypes, !manifest.says(sharing), !manifest.says(browser) {
      findings.append(
        LintFinding(
          .inPlaceWithoutTypes, at: manifest.place(inPlace),
          "It opens documents in place, and says of no type that it opens it.",
          "Add CFBundleDocumentTypes, or take \(inPlace) out."))
    }
    if manifest.says(browser), !hasTypes {
      findings.append(
        LintFinding(
          .browserWithoutTypes, at: manifest.place(browser), "It has a document browser, and no types to show in it.",
          "Add CFBundleDocumentTypes."))
    }
    if manifest.says(browser), manifest[inPlace]?.looseBoolean == false {
      findings.append(
        LintFinding(
          .browserWithoutInPlace, at: manifest.place(inPlace),
          "It has a document browser, which opens documents in place, and says that it does not open them so.",
          "Set \(inPlace) to true."))
    }
    if manifest.says(sharing), !manifest.says(inPlace), !manifest.says(browser) {
      findings.append(
        LintFinding(
          .sharingWithoutInPlace, at: manifest.place(sharing),
          "\(sharing) alone shows its Documents to nobody here; it takes \(inPlace) as well (SBX-6).",
          "Add \(inPlace), or take \(sharing) out."))
    }
    return findings
  }
}
