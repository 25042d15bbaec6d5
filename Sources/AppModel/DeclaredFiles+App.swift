internal import Paths

extension DeclaredFiles {
  /// The app that the files declare, whether or not it could be launched here.
  ///
  /// - Returns: no manifest where there are entitlements alone.
  package func app() throws(AppBundleError) -> (
    manifest: AppManifest?, manifestFile: String, entitlements: Entitlements, entitlementsFile: String,
    keys: DeclaredKeys
  ) {
    let kinds = lists.map { (list: $0, kind: ManifestListing.Kind(of: $0)) }
    let manifest = kinds.first { $0.kind == .manifest }?.list
    let entitlements = kinds.first { $0.kind == .entitlements }?.list
    let name = path.lastPathName
    return (
      manifest: try manifest.map { list throws(AppBundleError) in
        try AppManifest(list, folderName: name.hasSuffix(".app") ? String(name.dropLast(".app".count)) : name)
      },
      manifestFile: manifest?.path ?? "Info.plist",
      entitlements: try entitlements.map { list throws(AppBundleError) in try Entitlements(list) } ?? .none,
      entitlementsFile: entitlements?.path ?? "Entitlements.plist",
      keys: DeclaredKeys(manifest: manifest, entitlements: entitlements)
    )
  }
}
