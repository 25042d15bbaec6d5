internal import AppModel

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// Whether other apps' pickers show an app's Documents, by the statements of its manifests so far
/// (`SBX-6`, `SBX-7`). A pure rule.
package struct SharedDocuments: Equatable, Sendable {
  /// By `UISupportsDocumentBrowser` and its kin; as the app had it when it was launched last.
  package var isBrowsable: Bool
  /// By `NSUbiquitousContainerIsDocumentScopePublic`, as the bundle of that version had it.
  package var isPublicScope: Bool
  package var version: String?

  package init(isBrowsable: Bool = false, isPublicScope: Bool = false, version: String? = nil) {
    self.isBrowsable = isBrowsable
    self.isPublicScope = isPublicScope
    self.version = version
    #if AMBIT_MUTANTS
      if Mutant.documentsAlwaysShared.isActive { self.isBrowsable = true }
    #endif
  }

  package var isShown: Bool { isBrowsable || isPublicScope }

  /// The rule when the app is launched with another manifest. That of the same version, or of an earlier one, changes
  /// nothing about the scope.
  package func after(_ manifest: SharedDocuments) -> SharedDocuments {
    #if AMBIT_MUTANTS
      if Mutant.scopeChangesAtOnce.isActive { return manifest }
    #endif
    guard BundleVersion(version) < BundleVersion(manifest.version) else {
      return SharedDocuments(isBrowsable: manifest.isBrowsable, isPublicScope: isPublicScope, version: version)
    }
    return manifest
  }
}
