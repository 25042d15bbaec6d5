/// An app's rights in Apple's sandbox to the files that its user selects, by its entitlements.
///
/// An app asks for that sandbox with `com.apple.security.app-sandbox`. One that does not, as those of iOS and Ambit's own, is held
/// to none of this: its grants are as it asked for them.
package struct AppSandbox: Equatable, Sendable {
  package enum Selection: String, CaseIterable, Equatable, Sendable {
    /// The user can select nothing for it: its open panel stays closed.
    case nothing
    case readOnly = "read-only"
    case readWrite = "read-write"
  }

  package var selection: Selection
  /// `com.apple.security.files.bookmarks.app-scope`: it may keep the selected files.
  package var appBookmarks: Bool
  /// `com.apple.security.files.bookmarks.document-scope`: bookmarks that a document keeps.
  package var documentBookmarks: Bool

  package init(selection: Selection, appBookmarks: Bool = false, documentBookmarks: Bool = false) {
    self.selection = selection
    self.appBookmarks = appBookmarks
    self.documentBookmarks = documentBookmarks
  }
}

extension AppSandbox {
  /// The entitlements for bookmarks, by their names.
  package static let appScope = prefix + "files.bookmarks.app-scope"
  package static let documentScope = prefix + "files.bookmarks.document-scope"

  /// Of these two the ones that it does not have.
  package var missingBookmarks: [String] {
    (appBookmarks ? [] : [Self.appScope]) + (documentBookmarks ? [] : [Self.documentScope])
  }

  /// Of the two for files that the user selects, those that it does not have; writing has reading in it.
  package var missingSelections: [String] {
    switch selection {
    case .nothing: [Self.readOnlySelection, Self.readWriteSelection]
    case .readOnly: [Self.readWriteSelection]
    case .readWrite: []
    }
  }

  private static let readOnlySelection = prefix + "files.user-selected.read-only"
  private static let readWriteSelection = prefix + "files.user-selected.read-write"
  private static let prefix = "com.apple.security."
  /// The keys that it is made of.
  static let keys = [
    "app-sandbox", "files.user-selected.read-only", "files.user-selected.read-write", "files.bookmarks.app-scope",
    "files.bookmarks.document-scope",
  ].map { prefix + $0 }

  /// `nil`: it does not ask for that sandbox.
  init?(_ list: PropertyListFile) throws(AppBundleError) {
    func flag(_ key: String) throws(AppBundleError) -> Bool { try list.flag(Self.prefix + key) ?? false }

    // Each is read, so that a value of another type is reported, independently of the other keys.
    let isAsked = try flag("app-sandbox")
    let (reads, writes) = (try flag("files.user-selected.read-only"), try flag("files.user-selected.read-write"))
    self.init(
      // Writing has reading in it.
      selection: writes ? .readWrite : reads ? .readOnly : .nothing,
      appBookmarks: try flag("files.bookmarks.app-scope"),
      documentBookmarks: try flag("files.bookmarks.document-scope"))
    guard isAsked else { return nil }
  }
}
