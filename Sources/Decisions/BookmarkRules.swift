internal import AppModel

/// Whether a bookmark may be made or opened.
extension DocumentRules {
  /// The apps that may resolve a bookmark. One of something in the app's own container is an `app` one.
  package enum BookmarkScope: Sendable { case app, implicit, document }

  /// Whether a bookmark may be made (`BMK-1`, `BMK-5`, `BMK-8`).
  ///
  /// - Parameter ofSomethingInside: a folder that the app has; such a bookmark is the app's own, unless it is a document's.
  package func refusal(ofMaking scope: BookmarkScope, ofSomethingInside: Bool = false) -> Refusal? {
    let scope = scope == .implicit && ofSomethingInside ? .app : scope
    if let refusal = missing(scope) { return refusal }
    if !makesBookmarks {
      return Refusal(
        field: "bookmarks.create", rule: "BMK-1", reason: "the app's policy does not allow bookmarks")
    }
    return refusal(of: scope)
  }

  /// Whether a bookmark may be opened (`BMK-3`, `BMK-5`, `BMK-8`).
  ///
  /// - Parameters:
  ///   - made: in nanoseconds since 1970; `nil`: that is not known.
  ///   - now: nanoseconds since 1970.
  package func refusal(ofOpening scope: BookmarkScope, made: Int64?, now: Int64) -> Refusal? {
    if scope != .implicit, let refusal = missing(scope) { return refusal }
    if let refusal = refusal(of: scope) { return refusal }
    guard let bookmarkLifetime, let made, Self.sum(made, bookmarkLifetime) <= now else { return nil }
    return Refusal(
      field: "bookmarks.lifetime", rule: "BMK-3", reason: "the bookmark is older than the app's policy allows")
  }

  private func refusal(of scope: BookmarkScope) -> Refusal? {
    switch scope {
    case .document where !documentBookmarks:
      Refusal(
        field: "bookmarks.document_scoped", rule: "BMK-5",
        reason: "the app's policy does not allow document-scoped bookmarks")
    case .implicit where !implicitBookmarks:
      Refusal(
        field: "bookmarks.implicit", rule: "BMK-8", reason: "the app's policy does not allow implicit bookmarks")
    default: nil
    }
  }

  /// Apple's sandbox asks an entitlement for it, and the app does not have it.
  private func missing(_ scope: BookmarkScope) -> Refusal? {
    let (entitlement, field, rule): (String, String, String)
    switch scope {
    case .app: (entitlement, field, rule) = (AppSandbox.appScope, "bookmarks.create", "BMK-1")
    case .document: (entitlement, field, rule) = (AppSandbox.documentScope, "bookmarks.document_scoped", "BMK-5")
    case .implicit:
      guard missingBookmarks.count > 1 else { return nil }
      return Refusal(
        field: "bookmarks.implicit", rule: "BMK-8",
        reason: "the app asks for Apple's sandbox with neither \(AppSandbox.appScope) nor \(AppSandbox.documentScope)")
    }
    guard missingBookmarks.contains(entitlement) else { return nil }
    return Refusal(field: field, rule: rule, reason: "the app asks for Apple's sandbox without \(entitlement)")
  }
}
