internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Document references: the small sealed files that stand for external documents in an app's container (`REF-1`). They go with their
/// grants (`REF-7`).
@BrokerLoop
final class ReferenceFiles {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let key: SealingKey
  private let jobs: Jobs
  /// Grants whose references are being removed, by app.
  private var removals = Batches<String>()
  private var waits: [(isOver: () -> Bool, wait: Wait<Void>)] = []

  init(_ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ key: SealingKey, _ jobs: Jobs) {
    (self.host, self.grants, self.trail, self.key) = (host, grants, trail, key)
    self.jobs = jobs
  }

  // MARK: Writing

  nonisolated static let referenceExtension = "ambitref"
  private static let unfinishedPrefix = ".unfinished-ambitref-"

  /// Writes a reference into the container's Documents, unless one of this grant is there, and answers the event.
  ///
  /// The app owns that folder and may have put anything there: every step is by descriptor and follows no link. An app
  /// that keeps a reference from being written harms only itself, so that is noted and the grant stands.
  /// - Parameter document: where it was seen just now, if it was.
  func reference(to grant: Grant, isNew: Bool, _ document: FoundDocument?, _ instance: Instance) -> AuditEvent {
    #if AMBIT_MUTANTS
      if Mutant.noReference.isActive {
        return AuditEvent(.reference, .allowed, instance, grant: grant, document: document)
      }
    #endif
    do throws(KernelError) {
      let container = try Descriptor.open(
        host.container(of: instance.app.bundleIdentifier), flags: [.path, .directory, .noFollow])
      let folder = try Descriptor.open("Documents", below: container, flags: [.read, .directory, .noFollow])
      // A grant that was made just now has none.
      if !isNew, let name = existingReference(to: grant, in: folder, instance) {
        return AuditEvent(
          .reference, .allowed, instance, grant: grant, document: document, detail: ["name": name, "kept": "true"])
      }
      let content = Bookmark(
        bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights,
        path: document?.path ?? grant.path, identity: grant.identity, place: grant.place, created: grant.created
      ).sealed(with: key, for: .reference)
      let (name, inode) = try withFileSystemIdentity(instance.hostID) { () throws(KernelError) in
        try write(content, named: grant.name, in: folder)
      }
      instance.scopes.references[grant.id] = name
      // Without the note the grant merely outlives its last reference.
      try? grants.noteReference(grant.id, inode: inode)
      return AuditEvent(.reference, .allowed, instance, grant: grant, document: document, detail: ["name": name])
    } catch {
      return AuditEvent(.reference, .failed, instance, grant: grant, document: document, reason: "\(error)")
    }
  }

  /// The name of a reference to a grant, if there is one where it was, or where all of them are looked at.
  private func existingReference(to grant: Grant, in folder: Descriptor, _ instance: Instance) -> String? {
    func known() -> String? {
      guard let name = instance.scopes.references[grant.id],
        self.grant(ofReference: name, in: folder, app: instance.app.bundleIdentifier) == grant.id
      else { return nil }
      return name
    }
    if let name = known() { return name }
    // It takes the longer the more there are, and an app can see to it that none is where it was: others wait meanwhile.
    let now = host.clock.monotonic
    if let last = instance.scopes.referencesRead, now - last < 1_000_000_000 { return nil }
    instance.scopes.referencesRead = now
    guard let entries = try? DirectoryReader.entries(of: folder, limit: Self.mostEntries) else { return nil }
    // Only this broker writes references: unfinished ones are of a broker that died.
    for entry in entries where entry.name.hasPrefix(Self.unfinishedPrefix) { try? folder.removeFile(entry.name) }
    let candidates = entries.filter(Self.mayBeReference)
    // By the file that each was written to; a reference that an app has copied, or put back from a copy, has to be read.
    let names = Dictionary(candidates.map { ($0.inode, $0.name) }) { first, _ in first }
    let written = (try? grants.references(of: instance.app.bundleIdentifier)) ?? [:]
    for (id, inodes) in written { instance.scopes.references[id] = inodes.lazy.compactMap { names[$0] }.first }
    let files = Set(written.values.joined())
    for entry in candidates.lazy.filter({ !files.contains($0.inode) }).prefix(Self.mostRead) {
      if let id = self.grant(ofReference: entry.name, in: folder, app: instance.app.bundleIdentifier) {
        instance.scopes.references[id] = instance.scopes.references[id] ?? entry.name
      }
    }
    if let name = known() { return name }
    // The number of one that was deleted may be another file's by now.
    for name in (written[grant.id] ?? []).compactMap({ names[$0] }) {
      instance.scopes.references[grant.id] = name
      if let name = known() { return name }
    }
    return nil
  }

  /// More than these are not looked at for a reference that may be there already, nor more read: then there is another one.
  private static let mostEntries = 20_000
  private static let mostRead = 256

  nonisolated static func mayBeReference(_ entry: DirectoryReader.Entry) -> Bool {
    entry.kind == .regular && entry.name.hasSuffix(".\(referenceExtension)")
  }

  /// The grant that a file refers to; `nil` if it is no reference of this app's.
  func grant(ofReference name: String, in folder: Descriptor, app: String) -> String? {
    Self.grant(ofReference: name, in: folder, app: app, key)
  }

  nonisolated static func grant(ofReference name: String, in folder: Descriptor, app: String, _ key: SealingKey)
    -> String?
  {
    guard let file = try? Descriptor.open(name, below: folder, flags: [.read, .noFollow, .nonBlocking]),
      let sealed = try? file.readAll(limit: 8192),
      let found = try? Bookmark.open(sealed, with: key, for: .reference, app: app)
    else { return nil }
    return found.grant
  }

  /// Whole or not at all: the content is written under another name first.
  private func write(
    _ content: [UInt8], named name: String, in folder: Descriptor
  ) throws(KernelError) -> (name: String, inode: UInt64) {
    let unfinished = "\(Self.unfinishedPrefix)\(Grant.makeID())"
    let file = try Descriptor.open(
      unfinished, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    do throws(KernelError) {
      try file.writeAll(content)
      FaultPoint.referenceBegun.pass()
      // A file name has 255 bytes; leave room for the number and the extension.
      var stem = name
      while stem.utf8.count > 230 { stem.removeLast() }
      // An app may have files of all these names; then the name is by chance.
      for attempt in 1...40 {
        let number = attempt < 20 ? attempt : Int.random(in: 20...999_999)
        let final = "\(stem)\(number == 1 ? "" : " \(number)").\(Self.referenceExtension)"
        do throws(KernelError) {
          try folder.rename(unfinished, to: final)
          FaultPoint.referenceWritten.pass()
          return (final, try file.status().inode)
        } catch { if error.errno != .fileExists { throw error } }
      }
      throw KernelError("renameat2", name, errno: .fileExists)
    } catch {
      try? folder.removeFile(unfinished)
      throw error
    }
  }

  /// Writes the references of documents that an app was handed while it did not run: only then can it see its container. Where its
  /// policy wants none they stay owed, for another policy.
  func writeOwed(_ instance: Instance) {
    guard instance.app.references,
      let owed = try? grants.owedReferences(of: instance.app.bundleIdentifier), !owed.isEmpty
    else { return }
    let events = owed.map { grant, isFirst in reference(to: grant, isNew: isFirst, nil, instance) }
    _ = try? trail.append(events)
    // References that could not be written now are tried again.
    try? grants.settleReferences(zip(owed, events).filter { $1.result == .allowed }.map(\.0.grant.id))
  }

  // MARK: Removing

  /// Removes the references to grants that have ended. One that the app has renamed is recognised by its file, one that it has copied
  /// by its name; any other is of no use any more, and stays. An app decides how much there is to look through, so a thread does.
  func remove(of ended: [Grant]) {
    #if AMBIT_MUTANTS
      if Mutant.referenceOutlives.isActive { return }
    #endif
    for grant in ended {
      removals.add(grant.id, of: grant.bundleIdentifier)
    }
    for app in Set(ended.map(\.bundleIdentifier)) { beginRemoving(app) }
  }

  /// The same for the references that a dead broker has left.
  func removeLeft() {
    remove(of: (try? grants.endedWithReferences()) ?? [])
  }

  private func beginRemoving(_ app: String) {
    guard let pieces = removals.begin(app) else { return }
    let gone = Set(pieces)
    let container = host.openContainer(app)
    let key = key
    jobs.start(owner: "references of \(app)", subject: "references") { heartbeat in
      FaultPoint.referencesDue.hold()
      FaultPoint.referencesDue.pass()
      guard let container else { return true }
      var walk = ContainerWalk(budget: 2_000_000, while: heartbeat.beat)
      _ = walk.run(from: container) { folder, entry in
        guard Self.mayBeReference(entry),
          let grant = Self.grant(ofReference: entry.name, in: folder, app: app, key), gone.contains(grant)
        else { return }
        try? folder.removeFile(entry.name)
      }
      return true
    } then: { (isDone: Bool?) in
      // Where the disk did not answer, the next broker tries again.
      if isDone != nil { try? self.grants.forgetReferences(Array(gone)) }
      self.removals.end(app)
      self.beginRemoving(app)
      for each in self.waits where each.isOver() { each.wait.finish(()) }
      self.waits.removeAll { $0.wait.isOver }
    }
  }

  var isIdle: Bool { removals.isIdle }

  /// Waits until the references of grants that have ended are removed.
  func settled(_ ids: Set<String>) async throws(CancellationError) {
    let isOver = { !self.removals.contains { ids.contains($0) } }
    if isOver() { return }
    let wait = Wait<Void>()
    waits.append((isOver, wait))
    try await wait.get()
  }
}
