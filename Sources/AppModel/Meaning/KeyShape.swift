/// The type of value that a known key has to have.
///
/// Where Apple's systems take several for one (`YES` for a boolean, a list of one as the one), so does this; and a key that is
/// not in the table may hold anything.
package enum KeyShape: Equatable, Sendable {
  case string, boolean, number
  /// A boolean of a manifest (``PropertyListNode/looseBoolean``).
  case looseBoolean
  /// A list of strings, or one.
  case strings
  /// A list of anything.
  case array
  /// A list of dictionaries.
  case dictionaries
  case dictionary
  /// A dictionary, or a list of strings.
  case dictionaryOrStrings

  /// With its article.
  package var expected: String {
    switch self {
    case .string: "a string"
    case .boolean: "a boolean"
    case .looseBoolean: "a boolean, or YES, NO, true, false, 1 or 0"
    case .number: "a number"
    case .strings: "an array of strings"
    case .array: "an array"
    case .dictionaries: "an array of dictionaries"
    case .dictionary: "a dictionary"
    case .dictionaryOrStrings: "a dictionary or an array of strings"
    }
  }

  func takes(_ node: PropertyListNode) -> Bool {
    switch self {
    case .string: node.string != nil
    case .boolean: node.boolean != nil
    case .looseBoolean: node.looseBoolean != nil
    case .number: node.kind == "a number"
    case .strings: node.strings != nil
    case .array: node.array != nil
    case .dictionaries: node.array?.allSatisfy { $0.dictionary != nil } == true
    case .dictionary: node.dictionary != nil
    case .dictionaryOrStrings: node.dictionary != nil || node.strings != nil
    }
  }
}

/// A value that does not fit its key.
package struct ShapeFault: Equatable, Sendable {
  package let file: String
  package let path: KeyPath
  /// `nil` in a binary list.
  package let line: Int?
  /// Both with their article.
  package let expected: String
  package let found: String

  package var sentence: String { "\(path) must be \(expected), and is \(found)." }

  /// All of a file's, in its order.
  package static func all(in list: PropertyListFile, as kind: ManifestListing.Kind? = nil) -> [ShapeFault] {
    let shapes = (kind ?? ManifestListing.Kind(of: list)) == .manifest ? KeyShape.manifest : KeyShape.entitlement
    var faults: [ShapeFault] = []
    for entry in list.entries {
      check(entry.node, KeyPath().key(entry.key), [KeyVocabulary.withoutVariant(entry.key)], list.path, shapes, &faults)
    }
    return faults
  }

  private static func check(
    _ node: PropertyListNode, _ path: KeyPath, _ keys: [String], _ file: String,
    _ shape: ([String]) -> KeyShape?, _ faults: inout [ShapeFault]
  ) {
    if let shape = shape(keys), !shape.takes(node) {
      // Of a list that is one, the members at fault are named.
      let wrong: [(path: KeyPath, node: PropertyListNode, expected: String)] =
        if let members = node.array, let member = shape.member {
          members.enumerated().filter { !member.takes($0.element) }
            .map { (path.index($0.offset), $0.element, member.expected) }
        } else {
          [(path, node, shape.expected)]
        }
      faults += wrong.map {
        ShapeFault(file: file, path: $0.path, line: $0.node.line, expected: $0.expected, found: $0.node.kind)
      }
    }
    within(node, path, keys, file, shape, &faults)
  }

  private static func within(
    _ node: PropertyListNode, _ path: KeyPath, _ keys: [String], _ file: String,
    _ shape: ([String]) -> KeyShape?, _ faults: inout [ShapeFault]
  ) {
    for entry in node.dictionary ?? [] {
      check(entry.node, path.key(entry.key), keys + [entry.key], file, shape, &faults)
    }
    for (index, member) in (node.array ?? []).enumerated() {
      within(member, path.index(index), keys, file, shape, &faults)
    }
  }
}

extension KeyShape {
  /// The required type of each member of a list.
  fileprivate var member: KeyShape? {
    switch self {
    case .strings, .dictionaryOrStrings: .string
    case .dictionaries: .dictionary
    default: nil
    }
  }

  /// The required type of a key of a file; `nil`: any.
  static func of(_ path: KeyPath, as kind: ManifestListing.Kind) -> KeyShape? {
    let keys = path.steps.compactMap { step in if case .key(let key) = step { key } else { nil } }
    guard let first = keys.first else { return nil }
    let names = [KeyVocabulary.withoutVariant(first)] + keys.dropFirst()
    return kind == .manifest ? manifest(names) : entitlement(names)
  }

  /// - Parameter keys: from the top down, without the numbers of arrays.
  static func manifest(_ keys: [String]) -> KeyShape? {
    if keys.count == 1, keys[0].hasSuffix("UsageDescription") { return .string }
    if keys.count > 1, keys[0] == "NSUbiquitousContainers" {
      return keys.count == 2 ? .dictionary : keys.count == 3 ? containers[keys[2]] : nil
    }
    return known[keys.joined(separator: ">")]
  }

  static func entitlement(_ keys: [String]) -> KeyShape? {
    guard keys.count == 1, let key = keys.first else { return nil }
    let exceptions = "com.apple.security.temporary-exception."
    if key.hasPrefix(exceptions) {
      // The type of an unknown key is unknown as well.
      guard KeyVocabulary.entitlements.isNamed(key) else { return nil }
      return key == exceptions + "audio-unit-host" ? .boolean : .strings
    }
    if let shape = entitlements[key] { return shape }
    return key.hasPrefix("com.apple.security.") ? .boolean : nil
  }

  private static let containers: [String: KeyShape] = [
    "NSUbiquitousContainerIsDocumentScopePublic": .looseBoolean, "NSUbiquitousContainerName": .string,
    "NSUbiquitousContainerSupportedFolderLevels": .string,
  ]

  private static let entitlements: [String: KeyShape] = [
    "com.apple.security.application-groups": .strings, "com.apple.security.scripting-targets": .dictionary,
    "com.apple.developer.icloud-container-identifiers": .strings,
    "com.apple.developer.ubiquity-container-identifiers": .strings,
    "com.apple.developer.ubiquity-kvstore-identifier": .string, "com.apple.developer.associated-domains": .strings,
    "com.apple.developer.team-identifier": .string, "application-identifier": .string,
    "com.apple.application-identifier": .string, "keychain-access-groups": .strings, "get-task-allow": .boolean,
    "io.ambit.pass-grants": .boolean,
  ]

  private static let known: [String: KeyShape] = {
    var shapes: [String: KeyShape] = [
      "CFBundleIdentifier": .string, "CFBundleExecutable": .string, "CFBundleName": .string,
      "CFBundleDisplayName": .string, "CFBundleVersion": .string, "CFBundleShortVersionString": .string,
      "CFBundlePackageType": .string, "CFBundleInfoDictionaryVersion": .string, "CFBundleDevelopmentRegion": .string,
      "CFBundleLocalizations": .strings, "CFBundleIconFile": .string, "CFBundleIconName": .string,
      "CFBundleDocumentTypes": .dictionaries, "CFBundleURLTypes": .dictionaries, "NSServices": .dictionaries,
      "UISupportsDocumentBrowser": .looseBoolean, "UIFileSharingEnabled": .looseBoolean,
      "LSSupportsOpeningDocumentsInPlace": .looseBoolean, "NSUbiquitousContainers": .dictionary,
      "LSMinimumSystemVersion": .string, "MinimumOSVersion": .string, "LSApplicationQueriesSchemes": .strings,
      "UISupportedInterfaceOrientations": .strings, "UIBackgroundModes": .strings, "UIAppFonts": .strings,
      "UIRequiredDeviceCapabilities": .dictionaryOrStrings, "CFBundleSupportedPlatforms": .strings,
      "NSAppTransportSecurity": .dictionary, "NSExtension": .dictionary, "UILaunchScreen": .dictionary,
      "UIApplicationSceneManifest": .dictionary, "CFBundleIcons": .dictionary, "NSPrincipalClass": .string,
      "NSUserActivityTypes": .strings, "LSApplicationCategoryType": .string, "LSEnvironment": .dictionary,
      "CFBundleDocumentTypes>CFBundleTypeName": .string, "CFBundleDocumentTypes>CFBundleTypeRole": .string,
      "CFBundleDocumentTypes>LSHandlerRank": .string, "CFBundleDocumentTypes>LSItemContentTypes": .strings,
      "CFBundleDocumentTypes>CFBundleTypeExtensions": .strings, "CFBundleDocumentTypes>CFBundleTypeMIMETypes": .strings,
      "CFBundleDocumentTypes>CFBundleTypeOSTypes": .strings, "CFBundleDocumentTypes>LSTypeIsPackage": .looseBoolean,
      "CFBundleDocumentTypes>NSIsRelatedItemType": .looseBoolean,
      "CFBundleDocumentTypes>NSDocumentClass": .string, "CFBundleDocumentTypes>NSExportableTypes": .strings,
      "CFBundleURLTypes>CFBundleURLSchemes": .strings, "CFBundleURLTypes>CFBundleURLName": .string,
    ]
    for list in ["UTExportedTypeDeclarations", "UTImportedTypeDeclarations"] {
      shapes[list] = .dictionaries
      shapes["\(list)>UTTypeIdentifier"] = .string
      shapes["\(list)>UTTypeDescription"] = .string
      shapes["\(list)>UTTypeConformsTo"] = .strings
      shapes["\(list)>UTTypeTagSpecification"] = .dictionary
      shapes["\(list)>UTTypeTagSpecification>public.filename-extension"] = .strings
      shapes["\(list)>UTTypeTagSpecification>public.mime-type"] = .strings
    }
    return shapes
  }()
}
