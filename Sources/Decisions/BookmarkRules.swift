internal import AppModel
package import ScopedAccess
package import Wire

/// Whether a bookmark may be made or opened.
extension LauncherInterface.GrantRules {
  /// - Parameter kind: of the bookmark that is to be made; one of something in a folder is the app's own, unless it is a document's.
  package func refusal(ofBookmark kind: BookmarksInterface.Kind, ofSomethingInside: Bool = false) -> Refusal? {
    let kind = kind == .implicit && ofSomethingInside ? .app : kind
    if let refusal = missing(kind) { return refusal }
    if !makesBookmarks { return Refusal(rule: "BMK-1", reason: "the app's policy does not allow bookmarks") }
    switch kind {
    case .document where !documentBookmarks:
      return Refusal(rule: "BMK-5", reason: "the app's policy does not allow document-scoped bookmarks")
    case .implicit where !implicitBookmarks:
      return Refusal(rule: "BMK-8", reason: "the app's policy does not allow implicit bookmarks")
    default: return nil
    }
  }

  /// - Parameter now: nanoseconds since 1970.
  package func refusal(ofOpening bookmark: Bookmark, now: Int64) -> Refusal? {
    switch bookmark.scope {
    case .app: if let refusal = missing(.app) { return refusal }
    case .document: if let refusal = missing(.document) { return refusal }
    case .implicit: break
    }
    switch bookmark.scope {
    case .document where !documentBookmarks:
      return Refusal(rule: "BMK-5", reason: "the app's policy does not allow document-scoped bookmarks")
    case .implicit where !implicitBookmarks:
      return Refusal(rule: "BMK-8", reason: "the app's policy does not allow implicit bookmarks")
    default: break
    }
    if let lifetime = bookmarkLifetime,
      (bookmark.created ?? 0) + Int64(lifetime) * 1_000_000_000 <= now
    {
      return Refusal(rule: "BMK-3", reason: "the bookmark is older than the app's policy allows")
    }
    return nil
  }

  /// What Apple's sandbox asks an entitlement for, and the app does not have it.
  private func missing(_ kind: BookmarksInterface.Kind) -> Refusal? {
    let (entitlement, rule): (String, String)
    switch kind {
    case .app: (entitlement, rule) = (AppSandbox.appScope, "BMK-1")
    case .document: (entitlement, rule) = (AppSandbox.documentScope, "BMK-5")
    case .implicit:
      guard missingBookmarks.count > 1 else { return nil }
      return Refusal(
        rule: "BMK-8",
        reason: "the app asks for Apple's sandbox with neither \(AppSandbox.appScope) nor \(AppSandbox.documentScope)")
    }
    guard missingBookmarks.contains(entitlement) else { return nil }
    return Refusal(rule: rule, reason: "the app asks for Apple's sandbox without \(entitlement)")
  }
}
