internal import Decisions
internal import Folders
internal import Paths
internal import ScopedAccess
internal import Wire

/// What the policy of a running app says of its documents, whatever was decided on them under another one.
extension Instance {
  /// What the app may do with a document: what its grant says, and no more than its policy lets it.
  func rights(of grant: Grant) -> AccessRights { app.rules.readOnly ? .readOnly : grant.rights }

  /// Why a grant may not be used now.
  ///
  /// - Parameter now: nanoseconds since 1970.
  func refusal(ofUsing grant: Grant, now: Int64) -> Refusal? {
    // What was decided for this launch, or since it began; of a launch that was handed over, its own alone is known for sure.
    let isOfThisLaunch = grant.term.launch == id || grant.term.decided >= started
    return app.rules.refusal(ofUsing: grant, isOfThisLaunch: isOfThisLaunch, now: now)
  }

  /// Why the app may not write a document: it is what the app is, or holds that.
  func refusal(ofWriting document: FoundDocument) -> String? {
    guard !app.rules.readOnly else { return nil }
    return OwnFiles.refusal(ofWriting: document.descriptor, at: document.path, own: app.path)
  }

  /// When and with what a grant ends that the user decides on now.
  func term(at now: Int64, within parent: Grant? = nil) -> Grant.Term {
    app.rules.term(at: now, launch: id, within: parent)
  }

  /// What a document is to the app: by what the kernel has there, and by the name that it has now.
  func kind(of document: FoundDocument) -> Folders.DocumentKind { app.packages.kind(of: document) }
}

extension PackageTypes {
  func kind(of document: FoundDocument) -> Folders.DocumentKind {
    guard document.kind == .folder, let path = document.path else { return document.kind }
    return isPackage(path.lastPathName) ? .package : .folder
  }
}
