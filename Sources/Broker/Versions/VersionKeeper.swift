internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Synchronization
internal import SystemPackage
internal import Wire

/// Keeps the contents of documents that something else takes the place of (`NSFileVersion`).
@BrokerLoop
final class VersionKeeper {
  let store: VersionStore
  private let trail: AuditTrail
  private let jobs: Jobs
  private let leases: LeaseKeeper
  private let clock: any LoopClock
  private let device: String
  /// The content of documents that was kept last before a program outside wrote over it, and the version of it.
  private var overwritten: [FileIdentity: (stamp: ContentStamp, version: String)] = [:]
  /// Presenters hear that a document has another version, or one less.
  var onChange: (_ path: String, _ version: String, CoordinationInterface.Message.Kind) -> Void = { _, _, _ in }

  init(_ store: VersionStore, _ trail: AuditTrail, _ jobs: Jobs, _ leases: LeaseKeeper, _ clock: any LoopClock) {
    (self.store, self.trail, self.jobs, self.leases, self.clock) = (store, trail, jobs, leases, clock)
    device = ProcessInfo.processInfo.hostName
  }

  /// Whether a document has conflicts that are not resolved; `nil`: the table cannot be read.
  func hasConflicts(_ document: FileIdentity, since: () throws -> Int64) -> Bool? {
    try? store.hasConflicts(document, since: since)
  }

  /// The content that a save is about to replace; `nil`: the rules want no version of it. The save does not depend on it.
  func prepare(_ document: FoundDocument, _ cause: KeptVersion.Cause, by app: String?) -> FormerContent? {
    guard let path = document.descriptor.currentPath ?? document.path,
      let versions = try? store.versions(of: document.identity),
      store.rules.isWanted(cause, by: app, after: versions.first, now: clock.realtime),
      !Self.isKept(document, among: versions)
    else { return nil }
    return FormerContent(draft: draft(of: document), path: path, cause: cause, app: app)
  }

  /// Whether a version has this very content: a save with a conflict has kept it first. An app can set a modification time. So a version
  /// counts only if it was made after the file's last change (`st_ctime`).
  private static func isKept(_ document: FoundDocument, among versions: [KeptVersion]) -> Bool {
    guard document.kind == .file, let status = try? document.descriptor.status() else { return false }
    return versions.contains { $0.kept > status.changed && $0.isSame(as: status) }
  }

  /// The same for a save into the document itself: copies the content first. An opener waits meanwhile, so the disk is waited for later
  /// (``settleLater(_:of:_:_:)``).
  ///
  /// - Parameter then: told once.
  func copyFormer(of document: FoundDocument, by app: String, then: @escaping @BrokerLoop (FormerContent?) -> Void) {
    guard let former = prepare(document, .saved, by: app) else { return then(nil) }
    jobs.start(owner: app, subject: "version \(document.identity.inode)") {
      former.copy(while: $0.beat)
    } then: { (isDone: Void?) in
      if isDone != nil { return then(former) }
      self.store.discard(former.draft)
      then(nil)
    }
  }

  /// Makes a version of it when its content is on the disk.
  ///
  /// - Parameter document: `nil`: it was not replaced.
  func settleLater(_ former: FormerContent?, of document: FileIdentity?, _ instance: Instance, _ grant: Grant) {
    guard let former else { return }
    guard let document, case .success = former.filled else {
      settle(former, of: document, instance, grant)
      return
    }
    jobs.start(owner: "versions", subject: "\(document.inode)") { _ in
      former.synchronize()
    } then: { (isDone: Void?) in
      guard isDone != nil else { return self.store.discard(former.draft) }
      if self.settle(former, of: document, instance, grant) != nil { self.synchronizeLater() }
    }
  }

  private func draft(of document: FoundDocument) -> VersionDraft {
    store.draft(of: document, open: leases.leased(document.identity))
  }

  /// Makes a version of it, or forgets it.
  ///
  /// - Parameter document: the file that is the document by now; `nil`: the document was not replaced.
  /// - Returns: the version's identifier.
  @discardableResult
  func settle(
    _ former: FormerContent?, of document: FileIdentity?, _ instance: Instance? = nil, _ grant: Grant? = nil
  ) -> String? {
    guard let former else { return nil }
    switch (document, former.filled) {
    case (let document?, .success(let filled)):
      do { return try commit(former, filled, of: document, instance, grant).id } catch { notKept(former, error) }
    case (_?, .failure(let error)): notKept(former, error)
    case (nil, _): store.discard(former.draft)
    }
    return nil
  }

  private func commit(
    _ former: FormerContent, _ filled: FormerContent.Facts, of document: FileIdentity, _ instance: Instance?,
    _ grant: Grant?, writer: String? = nil
  ) throws -> KeptVersion {
    let version = KeptVersion(
      id: former.draft.id, name: former.path.lastPathName, place: former.path, modified: filled.modified,
      kept: clock.realtime, app: former.app, device: writer ?? device, size: filled.size,
      isPackage: former.draft.isPackage, cause: former.cause, isUnresolved: former.cause == .conflict)
    do { try trail.decide([event("kept", version, at: former.path, instance, grant: grant)]) } catch {
      store.discard(former.draft)
      throw error
    }
    try store.add(former.draft, of: document, as: version)
    onChange(former.path, version.id, .versionGained)
    return version
  }

  /// Keeps the content that a document has now.
  ///
  /// - Parameter writer: the device that wrote it; `nil`: this machine.
  /// - Throws: `KernelError`, `StateError`: it is not kept, and why.
  func keep(
    _ document: FoundDocument, at path: String, _ cause: KeptVersion.Cause, by instance: Instance?, grant: Grant?,
    of writer: String? = nil
  ) async throws -> KeptVersion {
    let app = instance?.app.bundleIdentifier
    let former = FormerContent(draft: draft(of: document), path: path, cause: cause, app: app)
    let isDone: Void? = try await jobs.run(owner: app ?? "versions", subject: "version \(document.identity.inode)") {
      former.fill(while: $0.beat)
    }
    guard isDone != nil else {
      store.discard(former.draft)
      throw KernelError("copy", "the file system does not answer", errno: .ioError)
    }
    let version = try commit(former, try former.filled.get(), of: document.identity, instance, grant, writer: writer)
    try await synchronize(for: app)
    return version
  }

  /// Waits until the table's last changes are on the disk: before that none of them is promised.
  func synchronize(for app: String?) async throws {
    let table = store.table
    let outcome = try await jobs.run(owner: "table of versions for \(app ?? "the user")", subject: "") { _ in
      Result { () throws(KernelError) in try table.synchronize() }
    }
    guard let outcome else { throw KernelError("fdatasync", "the table of versions", errno: .ioError) }
    try outcome.get()
  }

  /// The same where no client waits for it.
  private func synchronizeLater() {
    let table = store.table
    jobs.start(owner: "versions", subject: "table") { _ in
      try? table.synchronize()
      return ()
    } then: { (_: Void?) in
    }
  }

  /// The files in a version of a package, by their paths in it.
  func paths(in version: KeptVersion, for app: String?) async throws -> [String] {
    let folder = try store.open(version)
    let listed = try await jobs.run(owner: "contents for \(app ?? "the user")", subject: version.id) { heartbeat in
      Result { () throws(KernelError) in try PackageListing.paths(in: folder, while: heartbeat.beat) }
    }
    guard let listed else { throw KernelError("getdents64", "a version", errno: .ioError) }
    return try listed.get()
  }

  /// The host has replaced a document: its former content is there for as long as its file is open.
  func keepFormer(_ former: FoundDocument, of document: FileIdentity, at path: String) {
    guard let versions = try? store.versions(of: document),
      store.rules.isWanted(.overwritten, by: nil, after: versions.first, now: clock.realtime)
    else { return }
    // Whoever replaced it may have kept it first.
    if let status = try? former.descriptor.status(), versions.first?.isSame(as: status) == true { return }
    // To read it would break a lease of the broker's own; nobody else can open it any more.
    leases.release(former.identity)
    let content = FormerContent(draft: store.draft(of: former), path: path, cause: .overwritten, app: nil)
    jobs.start(owner: "versions", subject: "\(former.identity.inode)") {
      content.fill(while: $0.beat)
    } then: {
      (isDone: Void?) in
      guard isDone != nil else { return self.store.discard(content.draft) }
      if self.settle(content, of: document) != nil { self.synchronizeLater() }
    }
  }

  /// A program outside is about to write over a document, and waits until its content is copied, or is not to be. It does not wait for
  /// the disk: a version counts only when its content is there.
  func keepBeforeOverwriting(_ document: FoundDocument, at path: PathKey, then: @escaping @BrokerLoop () -> Void) {
    guard let versions = try? store.versions(of: document.identity),
      store.rules.isWanted(.overwritten, by: nil, after: versions.first, now: clock.realtime)
    else { return then() }
    let stamp = (try? document.descriptor.status()).flatMap { ContentStamp($0, now: clock.realtime) }
    if let stamp, let last = overwritten[document.identity], last.stamp == stamp, versions.first?.id == last.version {
      return then()
    }
    let content = FormerContent(draft: draft(of: document), path: path.text, cause: .overwritten, app: nil)
    let subject = "\(document.identity.inode)"
    func bringToDisk() {
      then()
      guard case .success = content.filled else {
        settle(content, of: document.identity)
        return
      }
      jobs.start(owner: "versions", subject: subject) { _ in
        content.synchronize()
      } then: { (isDone: Void?) in
        guard isDone != nil else { return self.store.discard(content.draft) }
        guard let version = self.settle(content, of: document.identity) else { return }
        self.synchronizeLater()
        guard let stamp else { return }
        if self.overwritten.count >= Self.mostStamps { self.overwritten = [:] }
        self.overwritten[document.identity] = (stamp, version)
      }
    }
    // A thread takes longer to begin than such a copy takes. To open the document here could keep the loop waiting; its lease is an open
    // file, on a file system that answers.
    if document.kind == .file, document.size <= Self.little, leases.leased(document.identity) != nil {
      content.copy { true }
      return bringToDisk()
    }
    jobs.start(owner: "versions", subject: subject) {
      content.copy(while: $0.beat)
    } then: { (isDone: Void?) in
      guard isDone == nil else { return bringToDisk() }
      self.store.discard(content.draft)
      then()
    }
  }

  /// Bytes of a document that is copied on the loop.
  private static let little: UInt64 = 64 << 10
  private static let mostStamps = 1024

  /// The document is as it is meant to be all the same.
  private func notKept(_ former: FormerContent, _ error: any Error) {
    trail.record(
      AuditEvent(
        .version, .failed, app: former.app, document: AuditEvent.Document(path: former.path), how: "kept",
        reason: "\(error)"))
  }

  func event(
    _ act: String, _ version: KeptVersion, at path: String?, _ instance: Instance?, grant: Grant? = nil
  ) -> AuditEvent {
    var detail = [AuditEvent.Fact.version: version.id, AuditEvent.Fact.cause: version.cause.rawValue]
    detail["writer"] = version.app
    guard let instance else {
      return AuditEvent(
        .version, .allowed, app: version.app, document: AuditEvent.Document(path: path ?? version.name), how: act,
        detail: detail)
    }
    return AuditEvent(
      .version, .allowed, app: instance.app.bundleIdentifier, instance: instance.id, pid: instance.pid,
      grant: grant?.id, document: AuditEvent.Document(path: path ?? version.name), how: act, detail: detail)
  }
}

/// A content that has not changed as long as this is the same. A file that was changed a moment ago has none: a further change could
/// have the same time.
private struct ContentStamp: Equatable {
  private let size: UInt64
  private let modified: Int64
  private let changed: Int64

  /// Nanoseconds; the kernel's clock for files ticks 100 times a second at least.
  private static let tick: Int64 = 20_000_000

  init?(_ status: FileStatus, now: Int64) {
    guard status.changed < now - Self.tick else { return nil }
    (size, modified, changed) = (status.size, status.modified, status.changed)
  }
}

/// A content that is being kept; filled by a thread.
final class FormerContent: Sendable {
  typealias Facts = (size: UInt64, modified: Int64)

  let draft: VersionDraft
  let path: String
  let cause: KeptVersion.Cause
  let app: String?
  private let outcome = Mutex<Result<Facts, KernelError>>(.failure(KernelError("copy", errno: .canceled)))

  init(draft: VersionDraft, path: String, cause: KeptVersion.Cause, app: String?) {
    (self.draft, self.path, self.cause, self.app) = (draft, path, cause, app)
  }

  /// Copies it, and waits for the disk.
  func fill(while isWanted: @escaping () -> Bool) {
    let result = Result { () throws(KernelError) in try draft.fill(while: isWanted) }
    outcome.withLock { $0 = result }
  }

  /// Copies it. ``synchronize()`` has to follow.
  func copy(while isWanted: @escaping () -> Bool) {
    let result = Result { () throws(KernelError) in try draft.copy(while: isWanted) }
    outcome.withLock { $0 = result }
  }

  func synchronize() {
    let result = Result { () throws(KernelError) in try draft.synchronize() }
    if case .failure(let error) = result { outcome.withLock { $0 = .failure(error) } }
  }

  var filled: Result<Facts, KernelError> { outcome.withLock { $0 } }
}

extension VersionStore {
  convenience init(_ folders: AmbitFolders) throws {
    try self.init(path: "\(folders.versions).sqlite", contents: folders.versions)
  }
}

extension KeptVersion {
  /// Whether it is of a file with this size and modification time.
  fileprivate func isSame(as status: FileStatus) -> Bool {
    !isPackage && modified == status.modified && size == status.size
  }
}
