internal import Audit
internal import BrokerCore
internal import Cryptography
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import UserFiles
internal import Wire

/// Where the document of a grant was found.
struct Location {
  let document: FoundDocument
  let by: FindMethod
  /// As it is after the find has been noted.
  let grant: Grant
  /// The file that the grant was for is gone; this one stands in its place.
  let isReplacement: Bool
  let looked: LookupResult

  /// The name of a file beside it that says that another program has it open. No file system is waited for: where it might not
  /// answer, that has been looked at.
  var sidecar: String? { looked.isThorough ? looked.sidecar : Sidecars.inUse(beside: document) }
}

extension Location {
  /// A document that the user has just chosen has not to be looked for.
  init(_ chosen: Chosen, of grant: Grant) {
    var looked = LookupResult()
    looked.found = (chosen.document, .lastPlace)
    (looked.place, looked.sidecar, looked.isThorough) = (chosen.place, chosen.sidecar, true)
    self.init(document: chosen.document, by: .lastPlace, grant: grant, isReplacement: false, looked: looked)
  }
}

/// A document was looked for and not found.
struct NotFound: Error { let reason: ReplacementRule.Reason }

/// Finds the documents of grants: by their identity, or, where the policy says so, by the file that took their place.
@BrokerLoop
final class GrantLocator {
  private let locator: DocumentLocator
  private let mounts: MountState
  private let grants: GrantStore
  private let trail: AuditTrail
  private let succession: Succession
  private let host: BrokerHost
  /// A document that is moved all the time is not found.
  private static let mostTurns = 8

  init(
    _ host: BrokerHost, _ locator: DocumentLocator, _ mounts: MountState, _ grants: GrantStore, _ trail: AuditTrail,
    _ succession: Succession
  ) {
    (self.host, self.locator, self.mounts) = (host, locator, mounts)
    (self.grants, self.trail, self.succession) = (grants, trail, succession)
  }

  /// Finds the document of a grant, and notes where it was found.
  ///
  /// - Parameter check: the grant, as the caller may use it; asked again after a wait, since it may have ended meanwhile.
  func locate(for instance: Instance, _ check: () throws -> Grant) async throws -> Location {
    switch try await search(for: instance, check) {
    case .success(let location): return location
    case .failure(let why):
      throw AccessInterface.Failure.unavailable("\(try check().name) \(why.reason.rawValue)")
    }
  }

  /// The same as far as nothing is waited for.
  ///
  /// - Returns: `nil`: that takes a while, or the document is not simply where it is known to be.
  func locateQuickly(_ grant: Grant, for instance: Instance) throws -> Location? {
    guard let looked = locator.findQuickly(locator.lookup(of: grant)) else { return nil }
    let (_, found, verdict) = judge(looked, grant, ReplacementRule(instance.app.replaced))
    guard let found, verdict == .identity else { return nil }
    return Location(
      document: found.document, by: found.by, grant: try noted(grant, found.document, looked), isReplacement: false,
      looked: looked)
  }

  /// The same, with the reason where there is none.
  ///
  /// - Parameter noting: no for another app's grant, which one app's policy must not lead to another file.
  func search(
    for instance: Instance, noting: Bool = true, _ check: () throws -> Grant
  ) async throws -> Result<Location, NotFound> {
    for _ in 0..<Self.mostTurns {
      let grant = try check()
      let step = BrokerLoop.step
      let (looked, found, verdict) = try await look(for: grant, under: instance.app.replaced, owner: instance.id)
      if step != BrokerLoop.step, try check().identity != grant.identity { continue }
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
        if noting, reason == .folder, try await hasMovedWithPackage(grant, for: instance) { continue }
        return .failure(NotFound(reason: reason))
      case (nil, _): return .failure(NotFound(reason: .nothing))
      }
    }
    return .failure(NotFound(reason: .unanswered))
  }

  /// Whether the grant of a file has another place by now: it was in a package that was replaced and that some app has.
  private func hasMovedWithPackage(_ grant: Grant, for instance: Instance) async throws -> Bool {
    guard grant.kind == .file else { return false }
    for package in try grants.packages(around: grant.path) {
      func current() throws -> Grant { try grants.grant(package.id) ?? package }
      if package.bundleIdentifier == grant.bundleIdentifier {
        // Led to another folder, it takes along all that is in it.
        _ = try await search(for: instance, current)
      } else {
        // Another app's own grant stays as it is.
        let (_, found, verdict) = try await look(for: package, under: instance.app.replaced, owner: instance.id)
        if let found, verdict == .follow { succession.carryPlaces(from: package.path, to: found.document) }
      }
      if let known = try grants.grant(grant.id), known.place != grant.place { return true }
    }
    return false
  }

  /// As ``DocumentLocator/ask(about:for:_:)``.
  func ask<Value: Sendable>(
    about path: String, for owner: String, _ question: @escaping @Sendable () throws -> Value
  ) async throws -> Value { try await locator.ask(about: path, for: owner, question) }

  /// Looks, and changes nothing.
  func look(
    for grant: Grant, under setting: ReplacementRule.Setting, owner: String = ""
  ) async throws -> (
    looked: LookupResult, found: (document: FoundDocument, by: FindMethod)?, verdict: ReplacementRule.Verdict
  ) {
    guard let looked = try await locator.find(locator.lookup(of: grant), for: owner) else {
      return (LookupResult(), nil, .refuse(.unanswered))
    }
    return judge(looked, grant, ReplacementRule(setting))
  }

  /// Where the document is now, as far as that can be told at once.
  ///
  /// - Returns: `nil`: that takes a while.
  func lookQuickly(for grant: Grant, under setting: ReplacementRule.Setting) -> Sighting? {
    locator.findQuickly(locator.lookup(of: grant)).map { Sighting(judge($0, grant, ReplacementRule(setting))) }
  }

  /// The document of a grant, or the file that has taken its place, if there is one.
  struct Sighting {
    let document: FoundDocument?

    init(
      _ found: (
        looked: LookupResult, found: (document: FoundDocument, by: FindMethod)?, verdict: ReplacementRule.Verdict
      )
    ) {
      if case .refuse = found.verdict { document = nil } else { document = found.found?.document }
    }
  }

  private func judge(_ looked: LookupResult, _ grant: Grant, _ rule: ReplacementRule) -> (
    looked: LookupResult, found: (document: FoundDocument, by: FindMethod)?, verdict: ReplacementRule.Verdict
  ) {
    if let found = looked.found {
      return (looked, found, rule.verdict(isFound: true, granted: grant.kind, candidate: nil))
    }
    let verdict = rule.verdict(isFound: false, granted: grant.kind, candidate: looked.standing?.candidate)
    return (looked, looked.standing?.document.map { ($0, .folder) }, verdict)
  }

  private func noted(_ grant: Grant, _ document: FoundDocument, _ looked: LookupResult) throws -> Grant {
    var known = grant
    if let path = document.path, !path.isSamePath(as: grant.path) || grant.place == nil {
      known.path = path
      known.place = place(of: document, looked)
      grants.move(grant.id, to: path, place: known.place)
    }
    locator.pin(document, for: grant.id)
    return known
  }

  private func place(of document: FoundDocument, _ looked: LookupResult) -> Place? {
    looked.isThorough ? looked.place : Place(of: document)
  }

  /// A file provider shows the document of a grant as another file.
  func lead(
    _ grant: Grant, to document: FoundDocument, of item: String, _ instance: Instance
  ) throws -> Location {
    let looked = LookupResult()
    let known = try follow(
      document, with: grant, looked, instance, "BMK-16",
      "its file provider shows the item “\(item.cut(toBytes: 80))” anew")
    return Location(document: document, by: .folder, grant: known, isReplacement: true, looked: looked)
  }

  /// Another file is the document from now on. Written down before it is so.
  private func follow(
    _ document: FoundDocument, with grant: Grant, _ looked: LookupResult, _ instance: Instance,
    _ rule: String = "BMK-12", _ reason: String? = nil
  ) throws -> Grant {
    try trail.decide([
      AuditEvent(
        .replaced, .allowed, instance, grant: grant, document: document, rule: rule,
        reason: reason ?? "the \(grant.kind) is gone; another one stands under its name in the same folder",
        detail: AuditEvent.facts(grant.identity, document.identity).merging([
          AuditEvent.Fact.matchedBy: "path", "by": FindMethod.folder.rawValue,
          "was.handle": Hexadecimal.text(grant.identity.handle.bytes), "was.path": grant.path,
          "folder.inode": grant.place.map { "\($0.folder.inode)" } ?? "",
        ]) { $1 })
    ])
    var known = grant
    known.identity = document.identity
    known.path = document.path ?? grant.path
    known.place = place(of: document, looked) ?? grant.place
    try succession.succeed(grant.identity, by: document, of: grant.bundleIdentifier, cause: "host")
    grants.move(grant.id, to: known.path, place: known.place)
    locator.pin(document, for: grant.id)
    if grant.kind == .package { succession.carryPlaces(from: grant.path, to: document) }
    return known
  }

  func isInTrash(_ document: FoundDocument) -> Bool {
    #if AMBIT_MUTANTS
      if Mutant.trashUnsaid.isActive { return false }
    #endif
    guard let path = document.path else { return false }
    var points: Set<String>?
    return host.trash.holds(path) { folder in
      if points == nil { points = Set(MountTable.mountPoints()) }
      if points?.contains(folder) == true { return true }
      // File managers take the top of a subvolume for one: it has a device number of its own.
      return (try? Descriptor.open(folder, flags: [.path, .directory], resolve: .noSymlinks))?.isSubvolume == true
    }
  }

  /// Whether another file stands where a document was (`BMK-13`). Nothing is mounted for that, and no file system that may not answer
  /// is asked.
  func isTaken(_ place: String, from document: FoundDocument) -> Bool {
    #if AMBIT_MUTANTS
      if Mutant.takenUnsaid.isActive { return false }
    #endif
    guard !document.path.isSamePath(as: place), !mounts.mayWait(place), !isUnmounted(place),
      let there = try? Descriptor.open(place, flags: [.path, .noFollow], resolve: .noSymlinks)
    else { return false }
    return document.differs(from: there)
  }

  /// Whether looking there would have autofs mount something.
  func isUnmounted(_ path: String) -> Bool {
    MountTable.covering(path, in: mounts.entries)?.fileSystem == "autofs"
  }
}

extension FoundDocument {
  func differs(from there: Descriptor) -> Bool {
    guard let one = try? there.status(), let other = try? descriptor.status() else { return false }
    return one.inode != other.inode || one.device != other.device
  }
}
