internal import AppModel
internal import Folders
internal import Kernel
internal import Policy
internal import ScopedAccess
internal import Wire

/// Why an app's policy refuses something, with the rule that it is about.
struct Refusal: Error {
  let rule: String
  /// The end of a sentence. An app is told as well: it says nothing of what the user has.
  let reason: String
}

/// What an app's policy says of its documents, whatever was decided on them under another one.
extension Broker {
  /// What an app may do with a document of its: what its grant says, and no more than its policy lets it.
  func rights(of grant: Grant, for instance: Instance) -> AccessRights {
    instance.app.rules.readOnly ? .readOnly : grant.rights
  }

  func refusal(of call: PickerInterface.PickCall, for instance: Instance) -> Refusal? {
    let rules = instance.app.rules
    if !rules.modes.contains(call.mode.rawValue) {
      if !rules.missingSelections.isEmpty {
        let isAlone = rules.missingSelections.count == 1
        return Refusal(
          rule: "PCK-1",
          reason: "the app asks for Apple's sandbox \(isAlone ? "without" : "with neither") "
            + rules.missingSelections.joined(separator: " nor "))
      }
      let modes = rules.modes.isEmpty ? "none" : rules.modes.joined(separator: ", ")
      return Refusal(
        rule: "PCK-1", reason: "the app's policy does not allow the picker to \(call.mode) (it allows: \(modes))")
    }
    if call.kind == .folder, !rules.folders {
      return Refusal(rule: "PCK-10", reason: "the app's policy does not allow whole folders")
    }
    return nil
  }

  /// - Parameter name: that the document has now.
  func refusal(of kind: Folders.DocumentKind, named name: String, for instance: Instance) -> Refusal? {
    Self.refusal(of: kind, named: name, under: instance.app.rules)
  }

  private static func refusal(
    of kind: Folders.DocumentKind, named name: String, under rules: LauncherInterface.GrantRules
  ) -> Refusal? {
    if kind == .folder {
      return rules.folders ? nil : Refusal(rule: "PCK-10", reason: "the app's policy does not allow whole folders")
    }
    guard let types = rules.types, !PickedTypes.only(types).allows(name) else { return nil }
    let allowed = types.isEmpty ? "none" : types.joined(separator: ", ")
    return Refusal(
      rule: "PCK-7", reason: "the app's policy does not allow documents of this type (it allows: \(allowed))")
  }

  /// Why a grant may not be used now, though it is in force: it was made under another policy, or its document is called
  /// something else by now.
  func refusal(ofUsing grant: Grant, for instance: Instance) -> Refusal? {
    // What was decided for this launch, or since it began; of a launch that was handed over, its own alone is known for sure.
    let isOfThisLaunch = grant.term.launch == instance.id || grant.term.decided >= instance.started
    return Self.refusal(ofUsing: grant, under: instance.app.rules, isOfThisLaunch: isOfThisLaunch)
  }

  static func refusal(
    ofUsing grant: Grant, under rules: LauncherInterface.GrantRules, isOfThisLaunch: Bool
  ) -> Refusal? {
    if let refusal = refusal(of: grant.kind, named: grant.name, under: rules) { return refusal }
    if rules.endsWithLaunch, !isOfThisLaunch {
      return Refusal(
        rule: "AUD-1", reason: "the app's policy allows only what its user decided in this launch; ask them again")
    }
    if let end = end(of: grant, under: rules), end <= Clock.realtime() {
      return Refusal(
        rule: "AUD-1", reason: "the app's policy does not allow it for longer after the user's decision; ask them again"
      )
    }
    return nil
  }

  /// - Parameter kind: of the bookmark that is to be made; one of something in a folder is the app's own, unless it is a document's.
  func refusal(
    ofBookmark kind: BookmarksInterface.Kind, ofSomethingInside: Bool = false, for instance: Instance
  ) -> Refusal? {
    let rules = instance.app.rules
    let kind = kind == .implicit && ofSomethingInside ? .app : kind
    if let refusal = missing(kind, rules) { return refusal }
    if !rules.makesBookmarks { return Refusal(rule: "BMK-1", reason: "the app's policy does not allow bookmarks") }
    switch kind {
    case .document where !rules.documentBookmarks:
      return Refusal(rule: "BMK-5", reason: "the app's policy does not allow document-scoped bookmarks")
    case .implicit where !rules.implicitBookmarks:
      return Refusal(rule: "BMK-8", reason: "the app's policy does not allow implicit bookmarks")
    default: return nil
    }
  }

  func refusal(ofOpening bookmark: Bookmark, for instance: Instance) -> Refusal? {
    let rules = instance.app.rules
    switch bookmark.scope {
    case .app: if let refusal = missing(.app, rules) { return refusal }
    case .document: if let refusal = missing(.document, rules) { return refusal }
    case .implicit: break
    }
    switch bookmark.scope {
    case .document where !rules.documentBookmarks:
      return Refusal(rule: "BMK-5", reason: "the app's policy does not allow document-scoped bookmarks")
    case .implicit where !rules.implicitBookmarks:
      return Refusal(rule: "BMK-8", reason: "the app's policy does not allow implicit bookmarks")
    default: break
    }
    if let lifetime = rules.bookmarkLifetime,
      (bookmark.created ?? 0) + Int64(lifetime) * 1_000_000_000 <= Clock.realtime()
    {
      return Refusal(rule: "BMK-3", reason: "the bookmark is older than the app's policy allows")
    }
    return nil
  }

  /// What Apple's sandbox asks an entitlement for, and the app does not have it.
  private func missing(_ kind: BookmarksInterface.Kind, _ rules: LauncherInterface.GrantRules) -> Refusal? {
    let (entitlement, rule): (String, String)
    switch kind {
    case .app: (entitlement, rule) = (AppSandbox.appScope, "BMK-1")
    case .document: (entitlement, rule) = (AppSandbox.documentScope, "BMK-5")
    case .implicit:
      guard rules.missingBookmarks.count > 1 else { return nil }
      return Refusal(
        rule: "BMK-8",
        reason: "the app asks for Apple's sandbox with neither \(AppSandbox.appScope) nor \(AppSandbox.documentScope)")
    }
    guard rules.missingBookmarks.contains(entitlement) else { return nil }
    return Refusal(rule: rule, reason: "the app asks for Apple's sandbox without \(entitlement)")
  }
}
