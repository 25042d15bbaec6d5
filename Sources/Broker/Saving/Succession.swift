internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// The fate of grants when another file takes a document's place: an app has saved it, or a program outside. Also of the grants of
/// files in a package that another folder has replaced: the user meant the file at the same place in it, under the same rule as for
/// any other file that was saved anew.
@BrokerLoop
final class Succession {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let locator: DocumentLocator
  private let files: FolderMonitor
  private let places: OfferedPlaces
  private let events: AppEvents
  /// Keeps the contents that something else takes the place of.
  var versions: VersionKeeper?

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ locator: DocumentLocator,
    _ files: FolderMonitor, _ places: OfferedPlaces, _ events: AppEvents
  ) {
    (self.grants, self.trail, self.sessions) = (grants, trail, sessions)
    (self.locator, self.files, self.places) = (locator, files, places)
    self.events = events
    files.onChange = { self.examine($0) }
  }

  /// Looks whether another file, or package, stands in the place of a grant's document, and lets it be the document.
  func examine(_ id: String) {
    for instance in sessions.instances.values where instance.scopes.holds[id]?.clearAttempt() == true {
      trail.record(
        AuditEvent(
          .refuse, .refused, instance, grant: try? grants.grant(id), document: instance.scopes.shown[id], how: "host",
          rule: "FSF-6",
          reason: "another program tried to open the database, which is in write-ahead mode and started by this app"))
    }
    #if AMBIT_MUTANTS
      if Mutant.hostSaveUnfollowed.isActive { return }
    #endif
    guard let (old, new) = files.successor(of: id) else { return }
    do {
      let instance = sessions.instances.values.first { $0.scopes.shown[id] != nil }
      guard let grant = try grants.grant(id), grant.identity == old, grant.kind.isFolder == (new.kind == .folder),
        instance?.app.replaced != .refuse
      else { return }
      let refused =
        places.refusal(of: grant.kind, at: new.path, for: instance?.app.bundleIdentifier)
      guard refused == nil else { return }
      try trail.decide([
        AuditEvent(
          .replaced, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid, grant: id,
          document: AuditEvent.Document(new), how: "host", rule: "BMK-12",
          reason: "the document is gone, and this \(grant.kind) stands in its place",
          detail: AuditEvent.facts(old, new.identity).merging([AuditEvent.Fact.matchedBy: "path"]) { $1 })
      ])
      let former = instance?.scopes.shown[id]
      // Whether that is so its own policy says, for each app.
      try succeed(old, by: new, of: grant.bundleIdentifier, cause: "host")
      files.replaced(id, by: new)
      if let former, let path = new.path { versions?.keepFormer(former, of: new.identity, at: path) }
      if grant.kind == .package { carryPlaces(from: grant.path, to: new) }
    } catch {
      trail.record(AuditEvent(.replaced, .failed, grant: id, reason: "\(error)"))
    }
  }

  /// Another file is the document from now on, for one app or for every one that has been granted it, and wherever it is shown
  /// to them (`SBX-14`).
  ///
  /// - Parameters:
  ///   - cause: `app`: an app has saved it; `host`: a program outside.
  ///   - isSettled: nothing is left of the replacement that would have to be removed.
  func succeed(
    _ old: FileIdentity, by new: FoundDocument, of app: String? = nil, cause: String = "app", isSettled: Bool = true
  ) throws {
    try grants.replace(old, by: new.identity, of: app, isSettled: isSettled)
    // Without its versions the document is whole as well.
    try? versions?.store.succeed(old, by: new.identity)
    FaultPoint.grantsReplaced.pass()
    for instance in sessions.instances.values where app == nil || instance.app.bundleIdentifier == app {
      for (id, shown) in instance.scopes.shown where shown.identity == old {
        guard let grant = try grants.grant(id), let exposure = instance.scopes.exposed[id] else { continue }
        do {
          try instance.sandbox.mounts.replace(
            by: new, grant: id, name: exposure.name, rights: instance.rights(of: grant))
          instance.scopes.shown[id] = new
          for name in exposure.names { instance.sandbox.staging.tell(id, name: name) }
          events.tell(instance, .replaced, id, cause: cause)
        } catch {
          // It goes on seeing the old file, which is gone from the host: its writes there would be lost.
          trail.record(
            AuditEvent(.replaced, .failed, instance, grant: grant, reason: "the new file cannot be shown: \(error)"))
        }
        locator.pin(new, for: id)
        files.replaced(id, by: new)
      }
    }
  }

  /// Settles the replacements that a dead broker had begun.
  func settleReplacements() throws {
    for pending in try grants.pendingReplacements() {
      if Replacement.settle(pending) {
        try grants.replace(pending.old, by: pending.new)
        let path = "\(pending.folder)/\(pending.name)"
        if let opened = try? Descriptor.open(path, flags: .place, resolve: .noSymlinks),
          let present = try? FoundDocument(opened), present.kind == .folder, present.identity == pending.new
        {
          carryPlaces(from: path, to: present)
        }
        trail.record(
          AuditEvent(
            .replaced, .allowed, document: AuditEvent.Document(pending.new, at: "\(pending.folder)/\(pending.name)"),
            reason: "begun by a broker that died", detail: AuditEvent.facts(pending.old, pending.new)))
      } else {
        try grants.abandon(pending.old)
        trail.record(
          AuditEvent(
            .replaced, .failed, document: AuditEvent.Document(pending.old, at: "\(pending.folder)/\(pending.name)"),
            reason: "the broker died before the files had changed places; the document is what it was",
            detail: AuditEvent.facts(pending.old, pending.new)))
      }
    }
  }

  // MARK: Files in packages

  /// The file that an app has saved is the document for all apps (``succeed(_:by:of:isSettled:)``), and so is each file
  /// that it has saved in it.
  ///
  /// - Parameter old: still whole, out of every app's reach.
  func carryOver(from old: FoundDocument, at path: String, to new: FoundDocument) {
    for (grant, inside) in grantsInside(path) {
      guard let former = Self.file(inside, in: old), former.identity == grant.identity else {
        // Moved there meanwhile, or away: then it is found by its identity, or by its place.
        movePlace(of: grant, to: inside, in: new)
        continue
      }
      let instance = sessions.instances.values.first { $0.scopes.shown[grant.id] != nil }
      do {
        guard let present = Self.file(inside, in: new), (try? present.descriptor.status().links) == 1,
          places.refusal(of: grant.kind, at: present.path, for: nil) == nil
        else {
          trail.record(
            AuditEvent(
              .replaced, .failed, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid,
              grant: grant.id, document: AuditEvent.Document(former), how: "app", rule: "BMK-12",
              reason: "the package that it was in was saved anew, and no file of its own stands at \(inside) in it"))
          continue
        }
        try trail.decide([
          AuditEvent(
            .replaced, app: grant.bundleIdentifier, instance: instance?.id, pid: instance?.pid, grant: grant.id,
            document: AuditEvent.Document(present), how: "app", rule: "BMK-12",
            reason: "the package that it was in was saved anew, and this file stands in its place",
            detail: AuditEvent.facts(former.identity, present.identity).merging([AuditEvent.Fact.matchedBy: "path"]) {
              $1
            })
        ])
        try succeed(former.identity, by: present, of: grant.bundleIdentifier)
      } catch {
        trail.record(AuditEvent(.replaced, .failed, app: grant.bundleIdentifier, grant: grant.id, reason: "\(error)"))
      }
      movePlace(of: grant, to: inside, in: new)
    }
  }

  /// A file that the host has replaced is found by its place, when it is gone and its app's policy says so: the
  /// place is in the new package.
  func carryPlaces(from path: String, to new: FoundDocument) {
    for (grant, inside) in grantsInside(path) {
      movePlace(of: grant, to: inside, in: new)
      examine(grant.id)
    }
  }

  /// The files that were granted where a package stood, by themselves, with their places in it.
  private func grantsInside(_ path: String) -> [(grant: Grant, inside: String)] {
    let all = (try? grants.grants(inside: path)) ?? []
    return all.filter { $0.kind == .file }.map {
      ($0, String(decoding: $0.path.utf8.dropFirst(path.utf8.count + 1), as: UTF8.self))
    }
  }

  /// A file in a package. No link is followed, and nothing that is mounted there.
  private static func file(_ inside: String, in package: FoundDocument) -> FoundDocument? {
    let file = try? Descriptor.open(
      inside, below: package.descriptor, flags: .place, resolve: [.beneath, .noSymlinks, .sameMount])
    return file.flatMap { try? FoundDocument($0) }.flatMap { $0.kind == .file ? $0 : nil }
  }

  private func movePlace(of grant: Grant, to inside: String, in package: FoundDocument) {
    guard let path = package.path else { return }
    let parent = inside.parentPath ?? ""
    let name = inside.lastPathName
    guard
      let folder = parent.isEmpty
        ? package.descriptor
        : try? Descriptor.open(
          parent, below: package.descriptor, flags: [.path, .directory],
          resolve: [.beneath, .noSymlinks, .sameMount]),
      let identity = try? FileIdentity(of: folder)
    else { return }
    grants.move(grant.id, to: "\(path)/\(inside)", place: Place(folder: identity, name: String(name)))
    files.moved(grant.id, to: DocumentPlace(folder, String(name)))
  }
}
