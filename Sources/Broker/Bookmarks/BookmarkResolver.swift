internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// The request, and its sender.
struct Resolution {
  let kind: AuditEvent.Kind
  let purpose: SealingKey.Purpose
  let instance: Instance
  var relativeTo: String?
  /// The owner of an implicit start; nil: there is none.
  var implicitStart: Caller?
  var withoutMounting = false
}

/// Resolves sealed bytes: may this app, is the grant in force, where is the document, and which of its facts have changed.
@BrokerLoop
final class BookmarkResolver {
  private let host: BrokerHost
  private let grants: GrantStore
  private let key: SealingKey
  private let trail: AuditTrail
  private let mounts: MountState
  private let tokens: ScopeTokens
  private let documents: GrantLocator
  private let locator: DocumentLocator
  private let contents: FolderContents
  private let places: OfferedPlaces
  private let issuer: GrantIssuer
  private let scopes: ScopeService

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ key: SealingKey, _ trail: AuditTrail, _ mounts: MountState,
    _ tokens: ScopeTokens, _ documents: GrantLocator, _ locator: DocumentLocator, _ contents: FolderContents,
    _ places: OfferedPlaces, _ issuer: GrantIssuer, _ scopes: ScopeService
  ) {
    (self.host, self.grants, self.key, self.trail) = (host, grants, key, trail)
    (self.mounts, self.tokens, self.documents, self.locator) = (mounts, tokens, documents, locator)
    (self.contents, self.places, self.issuer, self.scopes) = (contents, places, issuer, scopes)
  }

  /// Asks a file provider where an item's document is on the host.
  var provided: (_ provider: String, _ item: String) async throws -> String? = { _, _ in nil }

  func resolve(
    _ call: BookmarksInterface.ResolveCall, by caller: Caller, for instance: Instance
  ) async throws -> BookmarksInterface.ResolveReply {
    let asked = Resolution(
      kind: .bookmarkResolved, purpose: .bookmark, instance: instance, relativeTo: call.relativeTo,
      implicitStart: call.implicitStart ? caller : nil, withoutMounting: call.withoutMounting)
    return try await resolve(try open(call.bookmark, asked), asked)
  }

  func resolve(
    _ call: BookmarksInterface.ResolveReferenceCall, for instance: Instance
  ) async throws -> BookmarksInterface.ResolveReply {
    let asked = Resolution(kind: .referenceResolved, purpose: .reference, instance: instance)
    return try await resolve(try open(call.reference, asked), asked)
  }

  private func refuse(
    _ asked: Resolution, _ rule: String, _ reason: String, _ error: ErrorReply, _ grant: Grant? = nil
  ) throws -> Never {
    #if AMBIT_MUTANTS
      if Mutant.badSealUnwritten.isActive { throw error }
    #endif
    trail.record(AuditEvent(asked.kind, .refused, asked.instance, grant: grant, rule: rule, reason: reason))
    throw error
  }

  /// Opens the bytes that an app presents, if they are for this app.
  func open(_ text: String, _ asked: Resolution) throws -> Bookmark {
    guard let sealed = Data(base64Encoded: text) else {
      try refuse(asked, "BMK-20", "bad seal: not base64", BookmarksInterface.Failure.badSeal("not base64"))
    }
    // The app gets the same answer for every fault of it; the fault itself is the user's business.
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
    if case .implicit(let made) = bookmark.scope, made != host.boot, isForeign(bookmark, asked.instance) {
      try refuse(
        asked, "BMK-8",
        "made by \(bookmark.bundleIdentifier) before the machine was started anew; others could open it until then",
        told)
    }
    if asked.purpose == .bookmark,
      let refusal = asked.instance.app.decisions.refusal(
        ofOpening: bookmark.scope.decision, made: bookmark.created ?? 0, now: host.clock.realtime)
    {
      try refuse(asked, refusal.rule, refusal.reason, BookmarksInterface.Failure.notAllowed(refusal.reason))
    }
    return bookmark
  }

  private func isForeign(_ bookmark: Bookmark, _ instance: Instance) -> Bool {
    bookmark.bundleIdentifier != instance.app.bundleIdentifier
  }

  private func resolve(_ bookmark: Bookmark, _ asked: Resolution) async throws -> BookmarksInterface.ResolveReply {
    let instance = asked.instance
    if bookmark.grant.isEmpty, let inside = bookmark.inside {
      return try await resolveContained(bookmark, inside, asked)
    }
    if case .document(let anchor) = bookmark.scope { try await check(anchor, asked) }
    let notFound = BookmarksInterface.Failure.notFound(
      name: bookmark.name, lastPath: ScopeMounts.path(grant: bookmark.grant, name: bookmark.name))
    func inForce() throws -> Grant {
      guard let granted = try grants.grant(bookmark.grant) else {
        try refuse(asked, "BMK-3", "its grant is not known", notFound)
      }
      guard granted.revoked == nil else {
        try refuse(asked, "AUD-1", "the grant was withdrawn", BookmarksInterface.Failure.revoked, granted)
      }
      return granted
    }
    let granted = try inForce()
    mounts.refresh()
    if asked.withoutMounting, documents.isUnmounted(granted.path) {
      try refuse(
        asked, "BMK-10", "its volume is not mounted, and looking would mount it; last seen at \(granted.path)",
        notFound,
        granted)
    }
    let location: Location
    switch try await documents.search(for: instance, noting: !isForeign(bookmark, instance), inForce) {
    case .success(let found): location = found
    case .failure(let why) where why.reason == .unanswered:
      // The app knows the document by this name.
      let told = AccessInterface.Failure.unavailable("\(bookmark.name) \(why.reason.rawValue)")
      try refuse(
        asked, "BMK-16", "\(granted.name) \(why.reason.rawValue); last seen at \(granted.path)", told, granted)
    case .failure(let why):
      if let found = try await shownAnew(bookmark, asked, inForce) {
        location = found
        break
      }
      try refuse(
        asked, why.reason == .nothing ? "BMK-9" : "BMK-12",
        "\(granted.name) \(why.reason.rawValue); last seen at \(granted.path)", notFound, granted)
    }
    let grant = isForeign(bookmark, instance) ? try passedOn(location, bookmark, asked) : location.grant
    return try await answer(bookmark, location, grant, asked)
  }

  /// The document of a file provider that shows it anew: another file, and the same item. The provider is asked.
  ///
  /// - Returns: `nil`: it has no such item, or does not answer.
  private func shownAnew(
    _ bookmark: Bookmark, _ asked: Resolution, _ inForce: () throws -> Grant
  ) async throws -> Location? {
    guard let item = bookmark.provided, !isForeign(bookmark, asked.instance) else { return nil }
    let path: String?
    do { path = try await provided(item.provider, item.item) } catch let error where !(error is CancellationError) {
      complain("“\(bookmark.name)” is not resolved: \(error)")
      return nil
    }
    guard let path, let found = try? FoundDocument(Descriptor.open(path, flags: .place, resolve: .noSymlinks)),
      found.kind == .file
    else { return nil }
    return try documents.lead(try inForce(), to: found, of: item.item, asked.instance)
  }

  private func answer(
    _ bookmark: Bookmark, _ location: Location, _ grant: Grant, _ asked: Resolution
  ) async throws -> BookmarksInterface.ResolveReply {
    let (instance, document) = (asked.instance, location.document)
    var within: (path: String, document: FoundDocument, isSame: Bool)?
    if let inside = bookmark.inside { within = try await contents.find(inside, in: document.descriptor, asked, grant) }
    // A file in a folder may have been searched for.
    guard let present = try grants.grant(grant.id), present.revoked == nil else {
      try refuse(asked, "AUD-1", "the grant was withdrawn", BookmarksInterface.Failure.revoked, grant)
    }
    // The grant may have been led to another file since the bookmark was made.
    let isSame =
      !location.isReplacement && (bookmark.identity ?? document.identity) == document.identity
      && within?.isSame != false
    let isChanged =
      !isSame || !document.path.isSamePath(as: bookmark.path) || !(within?.path).isSamePath(as: bookmark.inside?.path)
    #if AMBIT_MUTANTS
      let isStale = Mutant.alwaysStale.isActive || isChanged && !Mutant.neverStale.isActive
    #else
      let isStale = isChanged
    #endif
    let inTrash = documents.isInTrash(document)
    var detail = [
      AuditEvent.Fact.matchedBy: isSame ? "identity" : "path", "by": location.by.rawValue,
      AuditEvent.Fact.stale: isStale ? "true" : "false",
    ]
    if inTrash { detail[AuditEvent.Fact.location] = "trash" }
    let old = bookmark.inside.map { bookmark.path.path(of: $0.path) } ?? bookmark.path
    let isTaken = isSame && documents.isTaken(old, from: within?.document ?? document)
    if isTaken { detail[AuditEvent.Fact.taken] = old }
    if bookmark.scope != .app { detail[AuditEvent.Fact.scope] = bookmark.scope.name }
    if let made = bookmark.created, asked.purpose == .bookmark {
      detail[AuditEvent.Fact.made] = Timestamp(Date(timeIntervalSince1970: Double(made) / 1e9)).text
    }
    try trail.decide([AuditEvent(asked.kind, .allowed, instance, grant: grant, document: document, detail: detail)])
    var message = try issuer.expose(
      grant, as: document, to: instance, how: asked.purpose == .bookmark ? "bookmark" : "reference")
    if let within { message.enter(within.path, within.document.kind.message) }
    return BookmarksInterface.ResolveReply(
      document: message, isStale: isStale, matchedBy: isSame ? .identity : .path, location: inTrash ? .trash : nil,
      started: try await implicitStart(of: bookmark, message.scope, location, asked), isPlaceTaken: isTaken)
  }

  /// An implicit scope is started by resolving, and takes a slot like any other (`LIM-7`). Without a free one the document
  /// is resolved all the same; the refusal is in the log.
  private func implicitStart(
    of bookmark: Bookmark, _ token: String, _ location: Location, _ asked: Resolution
  ) async throws -> Bool {
    guard let caller = asked.implicitStart, case .implicit = bookmark.scope else { return false }
    do {
      _ = try await scopes.start(
        .init(scope: token, caller: "resolving a bookmark"), by: caller, for: asked.instance,
        known: location.isReplacement ? nil : location)
      #if AMBIT_MUTANTS
        if Mutant.implicitStartFree.isActive {
          asked.instance.scopes.owners.end(try tokens.grantID(of: token, asked.instance))
        }
      #endif
      return true
    } catch is ErrorReply { return false }
  }

  // MARK: Bookmarks that others may resolve

  /// Whether the app has access to the document that a bookmark was made relative to (`BMK-5`).
  private func check(_ anchor: Bookmark.Anchor, _ asked: Resolution) async throws {
    #if AMBIT_MUTANTS
      if Mutant.anchorIgnored.isActive { return }
    #endif
    guard let token = asked.relativeTo else {
      try refuse(
        asked, "BMK-5", "it was made relative to a document, and none was named", BookmarksInterface.Failure.notRelative
      )
    }
    guard let grant = try? tokens.grant(of: token, asked.instance),
      case .success(let here) = try await documents.search(
        for: asked.instance, { try tokens.grant(of: token, asked.instance) })
    else {
      try refuse(
        asked, "BMK-5", "the app has no access to the document that it was made relative to",
        BookmarksInterface.Failure.notRelative)
    }
    // Programs that keep a bookmark in a document save that document: then the maker's grant knows the file it is now.
    var same = here.document.identity == anchor.identity
    if !same, let makers = try grants.grant(anchor.grant),
      case .success(let there) = try await documents.search(
        for: asked.instance, noting: false, { try grants.grant(anchor.grant) ?? makers })
    {
      same = there.document.identity == here.document.identity
    }
    guard same else {
      try refuse(
        asked, "BMK-5", "it was made relative to another document than \(here.grant.name)",
        BookmarksInterface.Failure.notRelative, grant)
    }
  }

  /// Another app's grant, of which this app has been handed a bookmark: it becomes a grant of its own, with the rights of
  /// the bookmark and no more.
  private func passedOn(_ location: Location, _ bookmark: Bookmark, _ asked: Resolution) throws -> Grant {
    let (parent, document, instance) = (location.grant, location.document, asked.instance)
    let app = instance.app.bundleIdentifier
    let rights = instance.rights(of: parent)
    let now = host.clock.realtime
    if let known = try grants.grant(for: document.identity, of: app, rights: rights) { return known }
    // A document that the user has taken from this app since is not given back by bytes from before.
    if let lost = try grants.lastWithdrawn(document.identity, from: app, parent: parent.id),
      lost >= bookmark.created ?? 0
    {
      try refuse(asked, "AUD-1", "the user withdrew the app's grant", BookmarksInterface.Failure.revoked, parent)
    }
    let path = document.path ?? parent.path
    if let reason = places.refusal(of: parent.kind, at: path, for: instance.app.bundleIdentifier) {
      trail.record(
        AuditEvent(.grant, .refused, instance, grant: parent, document: document, rule: "SBX-15", reason: reason))
      throw BookmarksInterface.Failure.revoked
    }
    if let refusal = instance.refusal(of: parent.kind, named: path.lastPathName) {
      trail.record(
        AuditEvent(
          .grant, .refused, instance, grant: parent, document: document, rule: refusal.rule, reason: refusal.reason))
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    let grant = Grant(
      id: Grant.makeID(), bundleIdentifier: app, kind: parent.kind, rights: rights, origin: .bookmark,
      created: now, identity: document.identity, path: path, place: parent.place,
      term: instance.term(at: now, within: parent))
    try issuer.makeRoom(for: instance)
    try issuer.establish(
      [grant], from: parent.id,
      [
        AuditEvent(
          .grant, .allowed, instance, grant: grant, document: document, how: Grant.Origin.bookmark.rawValue,
          detail: [
            AuditEvent.Fact.access: grant.rights.rawValue, "kind": grant.kind.rawValue, "parent": parent.id,
            "from": parent.bundleIdentifier, "until": grant.term.words,
          ])
      ])
    locator.pin(document, for: grant.id)
    try issuer.trimRecent(of: instance)
    return grant
  }

  private func resolveContained(
    _ bookmark: Bookmark, _ inside: Bookmark.Inside, _ asked: Resolution
  ) async throws -> BookmarksInterface.ResolveReply {
    let instance = asked.instance
    let container = try Descriptor.open(
      host.container(of: instance.app.bundleIdentifier), flags: [.path, .directory, .noFollow])
    let found = try await contents.find(inside, in: container, asked, nil)
    let isStale = !found.path.isSamePath(as: inside.path) || !found.isSame
    var detail = [
      AuditEvent.Fact.matchedBy: found.isSame ? "identity" : "path",
      AuditEvent.Fact.stale: isStale ? "true" : "false", AuditEvent.Fact.scope: "container",
    ]
    let there = try? Descriptor.open(
      inside.path, below: container, flags: [.path, .noFollow], resolve: [.beneath, .noSymlinks])
    let isTaken = found.isSame && there.map { found.document.differs(from: $0) } ?? false
    if isTaken { detail[AuditEvent.Fact.taken] = inside.path }
    try trail.decide([AuditEvent(asked.kind, .allowed, instance, document: found.document, detail: detail)])
    let name = found.path.lastPathName
    var message = DocumentMessage(
      scope: "", grant: "", name: name, kind: found.document.kind.message, access: .readWrite)
    // Where its container is, the app knows best.
    message.url = ""
    message.path = found.path
    return BookmarksInterface.ResolveReply(
      document: message, isStale: isStale, matchedBy: found.isSame ? .identity : .path, isPlaceTaken: isTaken)
  }
}
