internal import Paths

/// The part of an app's `Info.plist` that Ambit reads. Other keys are left alone, so that a real app's file is read unchanged.
package struct AppManifest: Equatable, Sendable {
  /// `CFBundleIdentifier`, by the rules of ``BundleIdentifier``.
  package let bundleIdentifier: String
  /// `CFBundleExecutable`: the name of a file directly in the bundle's folder.
  package let executable: String
  /// `CFBundleName`, or the folder's name without `.app`.
  package let name: String
  /// `CFBundleVersion`.
  package let version: String?
  /// Extensions of its own package types, sorted: of the types that it declares as `com.apple.package`
  /// (``PackageDeclarations``).
  package let packageTypes: [String]
  /// Extensions of its related items, sorted (``RelatedItemDeclarations``).
  package let relatedTypes: [String]
  /// Other apps' pickers show its Documents: `UISupportsDocumentBrowser`, or `UIFileSharingEnabled` with
  /// `LSSupportsOpeningDocumentsInPlace` (`SBX-6`).
  package let sharesDocuments: Bool
  /// The same by `NSUbiquitousContainerIsDocumentScopePublic` of any of its containers: Ambit's have one (`SBX-7`).
  package let hasPublicScope: Bool
  /// It says what documents it opens: `CFBundleDocumentTypes`.
  package let opensDocuments: Bool
  /// It opens originals and no copies: `LSSupportsOpeningDocumentsInPlace`, or `UISupportsDocumentBrowser` (`OIP-1`).
  package let opensInPlace: Bool

  package init(
    bundleIdentifier: String, executable: String, name: String, version: String?, packageTypes: [String] = [],
    relatedTypes: [String] = [], sharesDocuments: Bool = false, hasPublicScope: Bool = false,
    opensDocuments: Bool = false, opensInPlace: Bool = false
  ) {
    self.bundleIdentifier = bundleIdentifier
    self.executable = executable
    self.name = name
    self.version = version
    self.packageTypes = packageTypes
    self.relatedTypes = relatedTypes
    self.sharesDocuments = sharesDocuments
    self.hasPublicScope = hasPublicScope
    self.opensDocuments = opensDocuments
    self.opensInPlace = opensInPlace
  }
}

extension AppManifest {
  package init(_ list: PropertyListFile, folderName: String) throws(AppBundleError) {
    bundleIdentifier = try list.required("CFBundleIdentifier", example: "org.example.notes")
    if let problem = BundleIdentifier.check(bundleIdentifier) {
      throw list.badValue("CFBundleIdentifier", bundleIdentifier, problem)
    }
    if bundleIdentifier.hasPrefix(BundleIdentifier.programPrefix) {
      throw list.badValue(
        "CFBundleIdentifier", bundleIdentifier,
        "identifiers that begin with \(BundleIdentifier.programPrefix.quoted) are kept for plain programs")
    }
    if bundleIdentifier.hasPrefix(BundleIdentifier.anotherPrefix) {
      throw list.badValue(
        "CFBundleIdentifier", bundleIdentifier,
        "identifiers that begin with \(BundleIdentifier.anotherPrefix.quoted) are kept for apps that are not the ones they say"
      )
    }
    executable = try list.required("CFBundleExecutable", example: "Notes")
    if let problem = Self.problem(withExecutable: executable) {
      throw list.badValue("CFBundleExecutable", executable, problem)
    }
    name = try list.optionalText("CFBundleName") ?? folderName
    version = try list.optionalText("CFBundleVersion")
    packageTypes = PackageDeclarations(list).extensions
    relatedTypes = RelatedItemDeclarations(list).extensions
    // Each is read, so that a value of another type is reported, independently of the other keys.
    let browser = try list.looseFlag("UISupportsDocumentBrowser") ?? false
    let sharing = try list.looseFlag("UIFileSharingEnabled") ?? false
    let inPlace = try list.looseFlag("LSSupportsOpeningDocumentsInPlace") ?? false
    opensDocuments = !(list["CFBundleDocumentTypes"]?.array ?? []).isEmpty
    opensInPlace = browser || inPlace
    sharesDocuments = browser || (sharing && inPlace)
    hasPublicScope = (list["NSUbiquitousContainers"]?.dictionary ?? []).contains { container in
      container.node["NSUbiquitousContainerIsDocumentScopePublic"]?.looseBoolean == true
    }
  }

  /// The name is joined to the bundle's folder: it must stay in it.
  private static func problem(withExecutable name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name == "." || name == ".." { return "that is a folder, and the name of a file in the bundle is wanted" }
    if name.hasSlash { return "it has a '/', and the name of a file in the bundle is wanted" }
    if name.utf8.count > 255 { return "it is \(name.utf8.count) bytes long, and 255 are allowed" }
    if name.unicodeScalars.contains(where: \.changesTerminal) { return "it has control characters" }
    return nil
  }
}
