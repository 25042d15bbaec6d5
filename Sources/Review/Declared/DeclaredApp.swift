package import AppModel
internal import Foundation
internal import Paths

/// An app as its bundle declares it, without anything that only a launch knows.
package struct DeclaredApp: Equatable, Sendable {
  package var name: String
  package var identifier: String
  /// `nil` for a plain program, which declares nothing.
  package var manifest: AppManifest?
  package var entitlements: Entitlements
  /// The files, as messages name them.
  package var manifestFile: String
  package var entitlementsFile: String
  /// The keys in them that ask for something, with their places.
  package var keys: DeclaredKeys

  package init(
    name: String, identifier: String, manifest: AppManifest?, entitlements: Entitlements,
    manifestFile: String = "Info.plist", entitlementsFile: String = "Entitlements.plist",
    keys: DeclaredKeys = DeclaredKeys()
  ) {
    self.name = name
    self.identifier = identifier
    self.manifest = manifest
    self.entitlements = entitlements
    self.manifestFile = manifestFile
    self.entitlementsFile = entitlementsFile
    self.keys = keys
  }

  package init(_ bundle: AppBundle) {
    self.init(
      name: bundle.name, identifier: bundle.manifest.bundleIdentifier, manifest: bundle.manifest,
      entitlements: bundle.entitlements, manifestFile: "\(bundle.url.path)/Info.plist",
      entitlementsFile: "\(bundle.url.path)/Entitlements.plist", keys: bundle.keys)
  }

  /// A plain program.
  package init(program path: String) {
    self.init(
      name: path.lastPathName, identifier: BundleIdentifier.forProgram(path),
      manifest: nil, entitlements: .none)
  }
}

extension DeclaredApp {
  /// That it asks by an entitlement.
  func asks(by key: String) -> Decision {
    .entitlement(file: entitlementsFile, key: key, line: keys.line(ofEntitlement: key))
  }
}

/// The entitlements that decide about abilities.
enum EntitlementKey {
  static let client = "com.apple.security.network.client"
  static let server = "com.apple.security.network.server"
  static let pass = "io.ambit.pass-grants"
  static let execute = "com.apple.security.files.user-selected.executable"
  static let sandbox = "com.apple.security.app-sandbox"
}
