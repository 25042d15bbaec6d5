internal import AppModel
internal import Policy

extension Rules {
  var documents: [Entry] {
    asking + granting + bookmarking + [
      Entry(
        Ability(.followReplaced), Extent(settings.replacedDocuments == .follow), by: decided("bookmarks.replaced")),
      permission(
        .passGrants, settings.passing, key: "grants.pass", asked: app?.entitlements.passGrants ?? false,
        entitlement: EntitlementKey.pass),
      permission(
        .runPicked, settings.executing, key: "grants.execute", asked: app?.entitlements.executePicked ?? false,
        entitlement: EntitlementKey.execute),
      Entry(Ability(.learnHostPaths), Extent(settings.tellsHostPaths), by: decided("grants.host_paths")),
      Entry(Ability(.outliveScope), Extent(settings.outlived == .allow), by: decided("scopes.outlived")),
      shown,
      Entry(
        Ability(.coordinate), Extent(ceiling: settings.patience),
        manner: settings.silentPresenters == .proceed ? "then it goes on without a silent presenter" : nil,
        by: decided("coordination.patience") + decided("coordination.silent")),
    ]
  }

  /// The ways in which it can ask for documents, and be handed them.
  private var asking: [Entry] {
    let modes = PickerMode.allCases.map { mode in
      Entry(
        Ability(.pickDocuments, mode.rawValue), Extent(settings.picker.modes.contains(mode)),
        by: decided("picker.modes", mode.rawValue))
    }
    let types: [Entry] =
      if let extensions = settings.picker.types.extensions {
        extensions.isEmpty
          ? [Entry(Ability(.pickTypes), .no, by: decided("picker.types"))]
          : extensions.map { Entry(Ability(.pickTypes, $0), .yes, by: decided("picker.types")) }
      } else {
        [Entry(Ability(.pickTypes, "*"), .yes, by: decided("picker.types"))]
      }
    return modes + types + [
      Entry(Ability(.pickFolders), Extent(settings.picker.folders), by: decided("picker.folders")),
      Entry(Ability(.changePicked), Extent(settings.access == .readWrite), by: decided("grants.access")),
    ]
  }

  private var granting: [Entry] {
    [
      Entry(Ability(.startDocuments), .upTo(settings.scopeLimit), by: decided("scopes.limit")),
      Entry(Ability(.startPicked), Extent(settings.startsPicked), by: decided("scopes.start_picked")),
      Entry(
        Ability(.useGrants), Extent(ceiling: settings.lifetime.seconds),
        manner: settings.lifetime.withLaunch ? "as long as its launch lasts" : nil, by: decided("grants.lifetime")),
      settings.lifetime.withLaunch
        ? Entry(Ability(.keepGrants), .no, by: decided("grants.lifetime"))
        : Entry(
          Ability(.keepGrants), Extent(ceiling: settings.persisted.quota), manner: mannerOfKeeping,
          by: decided("grants.persisted")),
      Entry(Ability(.keepReferences), Extent(settings.references), by: decided("scopes.references")),
    ]
  }

  private var bookmarking: [Entry] {
    let rules = settings.bookmarks
    return [
      Entry(Ability(.makeBookmarks), Extent(rules.create), by: decided("bookmarks.create")),
      Entry(Ability(.useBookmarks), Extent(ceiling: rules.lifetime), by: decided("bookmarks.lifetime")),
      Entry(Ability(.documentBookmarks), Extent(rules.documentScoped), by: decided("bookmarks.document_scoped")),
      Entry(
        Ability(.implicitBookmarks), Extent(rules.implicit),
        manner: rules.implicit && !rules.create ? Self.opensOnly : nil,
        by: decided("bookmarks.implicit") + (rules.create ? [] : decided("bookmarks.create"))),
    ]
  }

  /// The rule for one more document than may be kept.
  private var mannerOfKeeping: String? {
    guard settings.persisted.quota != nil else { return nil }
    if settings.persisted.releasesOldest { return "the oldest gives way" }
    guard let recent = settings.persisted.recent else { return "more are refused" }
    return "more are refused, and of those without bookmark or reference the \(recent) used last are kept"
  }

  private var shown: Entry {
    guard let app else { return Entry(Ability(.showDocuments), .ifAsked, by: [.ambit(rule: "SBX-6")]) }
    guard let manifest = app.manifest else { return Entry(Ability(.showDocuments), .no, by: [.ambit(rule: "SBX-6")]) }
    let decisions = app.keys.sharing.map { key in
      Decision.manifest(file: app.manifestFile, key: key.path, line: key.line)
    }
    let isShown = manifest.sharesDocuments || manifest.hasPublicScope
    return Entry(
      Ability(.showDocuments), Extent(isShown),
      by: isShown
        ? decisions
        : [
          .notAsked(keys: [
            "UISupportsDocumentBrowser", "UIFileSharingEnabled with LSSupportsOpeningDocumentsInPlace",
            "NSUbiquitousContainerIsDocumentScopePublic",
          ])
        ])
  }
}
