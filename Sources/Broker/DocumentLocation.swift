internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Where the document of a grant is now: by its identity, or, where the policy says so, by the file that took its place.
extension Broker {
  struct Location {
    let document: FoundDocument
    let by: FindMethod
    /// As it is after what was found has been noted.
    let grant: Grant
    /// The file that the grant was for is gone; this one stands in its place.
    let isReplacement: Bool
    let looked: LookupResult

    /// The name of a file beside it that says that another program has it open. Nobody waits for a file system meanwhile: where it
    /// might not answer, that has been looked at.
    var sidecar: String? { looked.isThorough ? looked.sidecar : Sidecars.inUse(beside: document) }
  }

  /// Finds the document of a grant, and notes where it was found.
  func locate(_ grant: Grant, for instance: Instance) throws -> Location {
    switch try search(grant, for: instance) {
    case .success(let location): return location
    case .failure(let why): throw AccessInterface.Failure.unavailable("\(grant.name) \(why.reason.rawValue)")
    }
  }

  /// That a document was looked for and not found.
  struct NotFound: Error { let reason: ReplacementRule.Reason }

  /// The same, for who wants to know why there is none.
  ///
  /// - Parameter noting: no for another app's grant, which one app's policy must not lead to another file.
  func search(_ grant: Grant, for instance: Instance, noting: Bool = true) throws -> Result<Location, NotFound> {
    let (looked, found, verdict) = try look(for: grant, under: instance.app.replaced)
    switch (found, verdict) {
    case (let found?, .identity):
      let known = noting ? try noted(grant, found.document, looked) : grant
      return .success(
        Location(document: found.document, by: found.by, grant: known, isReplacement: false, looked: looked))
    case (let found?, .follow):
      let known = noting ? try follow(found.document, with: grant, looked, instance) : grant
      return .success(
        Location(document: found.document, by: found.by, grant: known, isReplacement: true, looked: looked))
    case (_, .refuse(let reason)):
      if noting, reason == .folder, let moved = try movedWithPackage(grant, for: instance) {
        request?.results[lookup(of: grant).key] = nil
        return try search(moved, for: instance)
      }
      return .failure(NotFound(reason: reason))
    case (nil, _): return .failure(NotFound(reason: .nothing))
    }
  }

  /// The grant of a file with the place that it has by now, if it was in a package that was replaced and that some app has.
  private func movedWithPackage(_ grant: Grant, for instance: Instance) throws -> Grant? {
    guard grant.kind == .file else { return nil }
    for package in try grants.packages(around: grant.path) {
      if package.bundleIdentifier == grant.bundleIdentifier {
        // Led to another folder, it takes along what is in it.
        _ = try search(package, for: instance)
      } else {
        // Another app's own grant stays what it is.
        let (_, found, verdict) = try look(for: package, under: instance.app.replaced)
        if let found, verdict == .follow { carryPlaces(from: package.path, to: found.document) }
      }
      if let known = try grants.grant(grant.id), known.place != grant.place { return known }
    }
    return nil
  }

  /// Looks, and changes nothing.
  func look(
    for grant: Grant, under setting: ReplacementRule.Setting
  ) throws -> (
    looked: LookupResult, found: (document: FoundDocument, by: FindMethod)?, verdict: ReplacementRule.Verdict
  ) {
    let rule = ReplacementRule(setting)
    guard let looked = try looked(lookup(of: grant)) else { return (LookupResult(), nil, .refuse(.unanswered)) }
    if let found = looked.found {
      return (looked, found, rule.verdict(isFound: true, granted: grant.kind, candidate: nil))
    }
    let verdict = rule.verdict(isFound: false, granted: grant.kind, candidate: looked.standing?.candidate)
    return (looked, looked.standing?.document.map { ($0, .folder) }, verdict)
  }

  private func lookup(of grant: Grant) -> Lookup {
    var lookup = Lookup(.init(subject: grant.id, identity: grant.identity), path: grant.path)
    (lookup.place, lookup.pinned) = (grant.place, pinned[grant.id])
    lookup.isGone = pinned.isGone(grant.identity)
    lookup.hint = surveys.catalog.place(of: grant.id)
    lookup.kind = grant.kind.isFolder ? .directory : .regular
    return lookup
  }

  /// What the user has just chosen has not to be looked for.
  func remember(_ chosen: Chosen, of grant: Grant) {
    var looked = LookupResult()
    looked.found = (chosen.document, .lastPlace)
    (looked.place, looked.sidecar, looked.isThorough) = (chosen.place, chosen.sidecar, true)
    request?.results[lookup(of: grant).key] = .some(looked)
  }

  private func noted(_ grant: Grant, _ document: FoundDocument, _ looked: LookupResult) throws -> Grant {
    var known = grant
    if let path = document.path, !path.isSamePath(as: grant.path) || grant.place == nil {
      known.path = path
      known.place = place(of: document, looked)
      grants.move(grant.id, to: path, place: known.place)
    }
    pin(document, for: grant.id)
    return known
  }

  private func place(of document: FoundDocument, _ looked: LookupResult) -> Place? {
    looked.isThorough ? looked.place : Place(of: document)
  }

  /// Another file is the document from now on. Written down before it is so.
  private func follow(
    _ document: FoundDocument, with grant: Grant, _ looked: LookupResult, _ instance: Instance
  ) throws -> Grant {
    try decide([
      event(
        .replaced, .allowed, instance, grant: grant, document: document, rule: "BMK-12",
        reason: "the \(grant.kind) is gone; another one stands under its name in the same folder",
        detail: Self.facts(grant.identity, document.identity).merging([
          AuditEvent.Fact.matchedBy: "path", "by": FindMethod.folder.rawValue,
          "was.handle": Hexadecimal.text(grant.identity.handle.bytes), "was.path": grant.path,
          "folder.inode": grant.place.map { "\($0.folder.inode)" } ?? "",
        ]) { $1 })
    ])
    var known = grant
    known.identity = document.identity
    known.path = document.path ?? grant.path
    known.place = place(of: document, looked) ?? grant.place
    try succeed(grant.identity, by: document, of: grant.bundleIdentifier)
    grants.move(grant.id, to: known.path, place: known.place)
    pin(document, for: grant.id)
    if grant.kind == .package { carryPlaces(from: grant.path, to: document) }
    return known
  }

  // MARK: What the machine says

  static func bootIdentifier() throws -> String {
    let text = try Descriptor.open("/proc/sys/kernel/random/boot_id", flags: .read).readLine()
    return String(decoding: text, as: UTF8.self)
  }

  static func trash(_ home: String) -> TrashRule {
    let fallback = "\(home == "/" ? "" : home)/.local/share"
    let named = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
    return TrashRule(dataHomes: [named, fallback].compactMap { $0 }, user: getuid())
  }

  func isInTrash(_ document: FoundDocument) -> Bool {
    guard let path = document.path else { return false }
    var points: Set<String>?
    return trash.holds(path) { folder in
      if points == nil { points = Set(MountTable.mountPoints()) }
      if points?.contains(folder) == true { return true }
      // File managers take the top of a subvolume for one: it has a device number of its own.
      return (try? Descriptor.open(folder, flags: [.path, .directory], resolve: .noSymlinks))?.isSubvolume == true
    }
  }
}
