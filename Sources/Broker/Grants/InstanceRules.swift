internal import Decisions
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

extension DocumentRules {
  /// What the launcher was told of the policy, and hands over with an app that another broker had.
  init(_ rules: LauncherInterface.GrantRules) {
    self.init()
    modes = rules.modes
    types = rules.types
    folders = rules.folders
    missingSelections = rules.missingSelections
    lifetime = rules.lifetime
    endsWithLaunch = rules.endsWithLaunch
    makesBookmarks = rules.makesBookmarks
    documentBookmarks = rules.documentBookmarks
    implicitBookmarks = rules.implicitBookmarks
    missingBookmarks = rules.missingBookmarks
    bookmarkLifetime = rules.bookmarkLifetime
  }

  /// - Parameter now: nanoseconds since 1970.
  func refusal(ofUsing grant: Grant, isOfThisLaunch: Bool, now: Int64) -> Refusal? {
    refusal(
      ofUsingFolder: grant.kind == .folder, named: grant.name, decided: grant.term.decided,
      isOfThisLaunch: isOfThisLaunch, now: now)
  }

  /// When and with what a grant ends that the user decides on now.
  ///
  /// - Parameter parent: a grant that it is made from, and does not outlast.
  func term(at now: Int64, launch: String, within parent: Grant? = nil) -> Grant.Term {
    Grant.Term(
      decided: now, until: [end(ofGrantDecided: now), parent?.term.until].compactMap { $0 }.min(),
      launch: endsWithLaunch ? launch : nil)
  }
}

/// What the policy of a running app says of its documents, whatever was decided on them under another one.
extension Instance {
  /// The app's rights to a document: those of its grant, and no more than its policy lets it.
  func rights(of grant: Grant) -> AccessRights { app.rules.readOnly ? .readOnly : grant.rights }

  /// Why a document may not be given to the app.
  ///
  /// - Parameter name: that it has now.
  func refusal(of kind: Folders.DocumentKind, named name: String) -> Refusal? {
    app.decisions.refusal(ofFolder: kind == .folder, named: name)
  }

  /// Why a grant may not be used now.
  ///
  /// - Parameter now: nanoseconds since 1970.
  func refusal(ofUsing grant: Grant, now: Int64) -> Refusal? {
    // The decisions for this launch, or since it began; of a launch that was handed over, its own alone are known for sure.
    let isOfThisLaunch = grant.term.launch == id || grant.term.decided >= started
    return app.decisions.refusal(ofUsing: grant, isOfThisLaunch: isOfThisLaunch, now: now)
  }

  /// Why the app may not write a document: the document is a part of the app, or holds such a part.
  func refusal(ofWriting document: FoundDocument) -> String? {
    guard !app.rules.readOnly else { return nil }
    return OwnFiles.refusal(ofWriting: document.descriptor, at: document.path, own: app.path)
  }

  /// The end of a grant that the user decides on now: its time, or the launch that it ends with.
  func term(at now: Int64, within parent: Grant? = nil) -> Grant.Term {
    app.decisions.term(at: now, launch: id, within: parent)
  }

  /// A document's meaning for the app: by the kernel's file there, and by the name that it has now.
  func kind(of document: FoundDocument) -> Folders.DocumentKind { app.packages.kind(of: document) }
}

extension PackageTypes {
  func kind(of document: FoundDocument) -> Folders.DocumentKind {
    guard document.kind == .folder, let path = document.path else { return document.kind }
    return isPackage(path.lastPathName) ? .package : .folder
  }
}

extension BookmarksInterface.Kind {
  var scope: DocumentRules.BookmarkScope {
    switch self {
    case .app: .app
    case .implicit: .implicit
    case .document: .document
    }
  }
}

extension Bookmark.Scope {
  var decision: DocumentRules.BookmarkScope {
    switch self {
    case .app: .app
    case .implicit: .implicit
    case .document: .document
    }
  }
}
