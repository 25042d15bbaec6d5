internal import AppModel
internal import Policy

extension Rules {
  var documents: [Entry] {
    [
      Entry(Ability(.pickDocuments), .yes, by: [.ambit(rule: "PCK-1")]),
      Entry(Ability(.startDocuments), .upTo(settings.scopeLimit), by: [decided("scopes.limit")]),
      Entry(Ability(.startPicked), Extent(settings.startsPicked), by: [decided("scopes.start_picked")]),
      Entry(
        Ability(.keepGrants), Extent(ceiling: settings.persisted.quota), manner: mannerOfKeeping,
        by: [decided("grants.persisted")]),
      Entry(Ability(.keepReferences), Extent(settings.references), by: [decided("scopes.references")]),
      Entry(
        Ability(.followReplaced), Extent(settings.replacedDocuments == .follow), by: [decided("bookmarks.replaced")]),
      permission(
        .passGrants, settings.passing, key: "grants.pass", asked: app?.entitlements.passGrants ?? false,
        entitlement: EntitlementKey.pass),
      permission(
        .runPicked, settings.executing, key: "grants.execute", asked: app?.entitlements.executePicked ?? false,
        entitlement: EntitlementKey.execute),
      Entry(Ability(.learnHostPaths), Extent(settings.tellsHostPaths), by: [decided("grants.host_paths")]),
      Entry(Ability(.outliveScope), Extent(settings.outlived == .allow), by: [decided("scopes.outlived")]),
      shown,
    ]
  }

  /// What becomes of one more document than may be kept.
  private var mannerOfKeeping: String? {
    guard settings.persisted.quota != nil else { return nil }
    if settings.persisted.releasesOldest { return "the oldest gives way" }
    guard let recent = settings.persisted.recent else { return "more are refused" }
    return "more are refused, and of those without bookmark or reference the \(recent) used last are kept"
  }

  private var shown: Entry {
    guard let app else { return Entry(Ability(.showDocuments), .ifAsked, by: [.ambit(rule: "SBX-6")]) }
    guard let manifest = app.manifest else { return Entry(Ability(.showDocuments), .no, by: [.ambit(rule: "SBX-6")]) }
    var decisions: [Decision] = []
    if manifest.sharesDocuments {
      decisions.append(
        .manifest(
          file: app.manifestFile,
          key: "UISupportsDocumentBrowser, or UIFileSharingEnabled with LSSupportsOpeningDocumentsInPlace"))
    }
    if manifest.hasPublicScope {
      decisions.append(
        .manifest(
          file: app.manifestFile, key: "NSUbiquitousContainers: NSUbiquitousContainerIsDocumentScopePublic"))
    }
    return Entry(
      Ability(.showDocuments), Extent(!decisions.isEmpty),
      by: decisions.isEmpty
        ? [.notAsked(keys: ["UISupportsDocumentBrowser", "NSUbiquitousContainerIsDocumentScopePublic"])] : decisions)
  }
}
