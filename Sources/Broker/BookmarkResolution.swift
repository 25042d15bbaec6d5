internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Resolving sealed bytes: may this app, is the grant in force, where is the document, and what has changed.
extension Broker {
  /// What is asked, and by whom.
  struct Resolution {
    let kind: AuditEvent.Kind
    let purpose: SealingKey.Purpose
    let instance: Instance
    var relativeTo: String?
    /// Whose an implicit start is; nil: there is none.
    var implicitStart: Caller?
    var withoutMounting = false
  }

  func resolve(
    _ call: BookmarksInterface.ResolveCall, by caller: Caller, for instance: Instance
  ) throws -> BookmarksInterface.ResolveReply {
    let asked = Resolution(
      kind: .bookmarkResolved, purpose: .bookmark, instance: instance, relativeTo: call.relativeTo,
      implicitStart: call.implicitStart ? caller : nil, withoutMounting: call.withoutMounting)
    return try resolve(try open(call.bookmark, asked), asked)
  }

  func resolve(
    _ call: BookmarksInterface.ResolveReferenceCall, for instance: Instance
  ) throws -> BookmarksInterface.ResolveReply {
    let asked = Resolution(kind: .referenceResolved, purpose: .reference, instance: instance)
    return try resolve(try open(call.reference, asked), asked)
  }

  private func refuse(
    _ asked: Resolution, _ rule: String, _ reason: String, _ error: ErrorReply, _ grant: Grant? = nil
  ) throws -> Never {
    record(event(asked.kind, .refused, asked.instance, grant: grant, rule: rule, reason: reason))
    throw error
  }

  /// Opens what an app presents, if it is for this app.
  func open(_ text: String, _ asked: Resolution) throws -> Bookmark {
    guard let sealed = Data(base64Encoded: text) else {
      try refuse(asked, "BMK-20", "bad seal: not base64", BookmarksInterface.Failure.badSeal("not base64"))
    }
    // The app learns the same whatever is wrong with it; what it was is the user's business.
    let told = BookmarksInterface.Failure.badSeal("not sealed for this app, or changed since")
    let bookmark: Bookmark
    do throws(Bookmark.OpenError) {
      bookmark = try Bookmark.open(
        Array(sealed), with: key, for: asked.purpose, app: asked.instance.app.bundleIdentifier)
    } catch {
      switch error {
      case .brokenSeal: try refuse(asked, "BMK-20", "bad seal", told)
      case .otherApp(let app): try refuse(asked, "BMK-4", "sealed for \(app)", told)
      }
    }
    if case .implicit(let made) = bookmark.scope, made != boot, isForeign(bookmark, asked.instance) {
      try refuse(
        asked, "BMK-8",
        "made by \(bookmark.bundleIdentifier) before the machine was started anew; others could open it until then",
        told)
    }
    if asked.purpose == .bookmark, let refusal = refusal(ofOpening: bookmark, for: asked.instance) {
      try refuse(asked, refusal.rule, refusal.reason, BookmarksInterface.Failure.notAllowed(refusal.reason))
    }
    return bookmark
  }

  private func isForeign(_ bookmark: Bookmark, _ instance: Instance) -> Bool {
    bookmark.bundleIdentifier != instance.app.bundleIdentifier
  }

  private func resolve(_ bookmark: Bookmark, _ asked: Resolution) throws -> BookmarksInterface.ResolveReply {
    let instance = asked.instance
    if bookmark.grant.isEmpty, let inside = bookmark.inside { return try resolveContained(bookmark, inside, asked) }
    if case .document(let anchor) = bookmark.scope { try check(anchor, asked) }
    let notFound = BookmarksInterface.Failure.notFound(
      name: bookmark.name, lastPath: ScopeMounts.path(grant: bookmark.grant, name: bookmark.name))
    guard let granted = try grants.grant(bookmark.grant) else {
      try refuse(asked, "BMK-3", "its grant is not known", notFound)
    }
    guard granted.revoked == nil else {
      try refuse(asked, "AUD-1", "the grant was withdrawn", BookmarksInterface.Failure.revoked, granted)
    }
    mounts.refresh()
    if asked.withoutMounting, MountTable.covering(granted.path, in: mounts.entries)?.fileSystem == "autofs" {
      try refuse(
        asked, "BMK-10", "its volume is not mounted, and looking would mount it; last seen at \(granted.path)",
        notFound,
        granted)
    }
    let location: Location
    switch try search(granted, for: instance, noting: !isForeign(bookmark, instance)) {
    case .success(let found): location = found
    case .failure(let why) where why.reason == .unanswered:
      // The app knows the document by this name.
      let told = AccessInterface.Failure.unavailable("\(bookmark.name) \(why.reason.rawValue)")
      try refuse(
        asked, "BMK-16", "\(granted.name) \(why.reason.rawValue); last seen at \(granted.path)", told, granted)
    case .failure(let why):
      try refuse(
        asked, why.reason == .nothing ? "BMK-9" : "BMK-12",
        "\(granted.name) \(why.reason.rawValue); last seen at \(granted.path)", notFound, granted)
    }
    let grant = isForeign(bookmark, instance) ? try passedOn(location, instance) : location.grant
    return try answer(bookmark, location, grant, asked)
  }

  private func answer(
    _ bookmark: Bookmark, _ location: Location, _ grant: Grant, _ asked: Resolution
  ) throws -> BookmarksInterface.ResolveReply {
    let (instance, document) = (asked.instance, location.document)
    let within = try bookmark.inside.map { try find($0, in: document.descriptor, asked, grant) }
    // The grant may have been led to another file since the bookmark was made.
    let isSame =
      !location.isReplacement && (bookmark.identity ?? document.identity) == document.identity
      && within?.isSame != false
    let isStale =
      !isSame || !document.path.isSamePath(as: bookmark.path) || !(within?.path).isSamePath(as: bookmark.inside?.path)
    let inTrash = isInTrash(document)
    var detail = [
      AuditEvent.Fact.matchedBy: isSame ? "identity" : "path", "by": location.by.rawValue,
      AuditEvent.Fact.stale: isStale ? "true" : "false",
    ]
    if inTrash { detail[AuditEvent.Fact.location] = "trash" }
    let old = bookmark.inside.map { bookmark.path.path(of: $0.path) } ?? bookmark.path
    let isTaken = isSame && isTaken(old, from: within?.document ?? document)
    if isTaken { detail[AuditEvent.Fact.taken] = old }
    if bookmark.scope != .app { detail[AuditEvent.Fact.scope] = bookmark.scope.name }
    if let made = bookmark.created, asked.purpose == .bookmark {
      detail[AuditEvent.Fact.made] = Timestamp(Date(timeIntervalSince1970: Double(made) / 1e9)).text
    }
    try decide([event(asked.kind, .allowed, instance, grant: grant, document: document, detail: detail)])
    var message = try expose(
      grant, as: document, to: instance, how: asked.purpose == .bookmark ? "bookmark" : "reference")
    if let within { message.enter(within.path, within.document.kind.message) }
    return BookmarksInterface.ResolveReply(
      document: message, isStale: isStale, matchedBy: isSame ? .identity : .path, location: inTrash ? .trash : nil,
      started: try implicitStart(of: bookmark, message.scope, asked), isPlaceTaken: isTaken)
  }

  /// Whether another file stands where a document was (`BMK-13`). Nothing is mounted for that, and no file system that may not answer
  /// is asked.
  func isTaken(_ place: String, from document: FoundDocument) -> Bool {
    guard !document.path.isSamePath(as: place), !mayWait(place),
      MountTable.covering(place, in: mounts.entries)?.fileSystem != "autofs",
      let there = try? Descriptor.open(place, flags: [.path, .noFollow], resolve: .noSymlinks)
    else { return false }
    return Self.isOther(there, than: document)
  }

  static func isOther(_ there: Descriptor, than document: FoundDocument) -> Bool {
    guard let one = try? there.status(), let other = try? document.descriptor.status() else { return false }
    return one.inode != other.inode || one.device != other.device
  }

  /// An implicit scope is started by resolving, and takes a slot like any other (`LIM-7`). Without a free one the document
  /// is resolved all the same; the refusal is in the log.
  private func implicitStart(of bookmark: Bookmark, _ token: String, _ asked: Resolution) throws -> Bool {
    guard let caller = asked.implicitStart, case .implicit = bookmark.scope else { return false }
    do {
      _ = try start(.init(scope: token, caller: "resolving a bookmark"), by: caller, for: asked.instance)
      return true
    } catch is ErrorReply { return false }
  }

  // MARK: Bookmarks that others may resolve

  /// Whether the app has access to the document that a bookmark was made relative to (`BMK-5`).
  private func check(_ anchor: Bookmark.Anchor, _ asked: Resolution) throws {
    guard let token = asked.relativeTo else {
      try refuse(
        asked, "BMK-5", "it was made relative to a document, and none was named", BookmarksInterface.Failure.notRelative
      )
    }
    guard let grant = try? grant(ofScope: token, asked.instance),
      case .success(let here) = try search(grant, for: asked.instance)
    else {
      try refuse(
        asked, "BMK-5", "the app has no access to the document that it was made relative to",
        BookmarksInterface.Failure.notRelative)
    }
    // Programs that keep a bookmark in a document save that document: then the maker's grant knows the file it is now.
    var same = here.document.identity == anchor.identity
    if !same, let makers = try grants.grant(anchor.grant),
      case .success(let there) = try search(makers, for: asked.instance, noting: false)
    {
      same = there.document.identity == here.document.identity
    }
    guard same else {
      try refuse(
        asked, "BMK-5", "it was made relative to another document than \(here.grant.name)",
        BookmarksInterface.Failure.notRelative, grant)
    }
  }

  /// Another app's grant of what this app has been handed a bookmark of: a grant of its own, with the rights that the
  /// bookmark has and no more.
  private func passedOn(_ location: Location, _ instance: Instance) throws -> Grant {
    let (parent, document) = (location.grant, location.document)
    let app = instance.app.bundleIdentifier
    let rights = rights(of: parent, for: instance)
    let now = Clock.realtime()
    if let known = try grants.grant(for: document.identity, of: app, rights: rights) { return known }
    let path = document.path ?? parent.path
    if let reason = refusal(of: parent.kind, at: path, for: instance) {
      record(event(.grant, .refused, instance, grant: parent, document: document, rule: "SBX-15", reason: reason))
      throw BookmarksInterface.Failure.revoked
    }
    if let refusal = refusal(of: parent.kind, named: path.lastPathName, for: instance) {
      record(
        event(
          .grant, .refused, instance, grant: parent, document: document, rule: refusal.rule, reason: refusal.reason))
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    let grant = Grant(
      id: Grant.makeID(), bundleIdentifier: app, kind: parent.kind, rights: rights, origin: .bookmark,
      created: now, identity: document.identity, path: path, place: parent.place,
      term: term(for: instance, at: now, within: parent))
    try makeRoom(for: instance)
    try establish(
      [grant], from: parent.id,
      [
        event(
          .grant, .allowed, instance, grant: grant, document: document, how: Grant.Origin.bookmark.rawValue,
          detail: [
            AuditEvent.Fact.access: grant.rights.rawValue, "kind": grant.kind.rawValue, "parent": parent.id,
            "from": parent.bundleIdentifier, "until": Self.until(grant),
          ])
      ])
    pin(document, for: grant.id)
    try trimRecent(of: instance)
    return grant
  }
}
