internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Documents that an app saves by writing anew and renaming (`io.ambit.Launcher.Replace`). The content of a file, or of a package,
/// is copied by a thread; the rest is done whether or not the launcher is still there.
@BrokerLoop
final class SaveService {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let succession: Succession
  private let inPlace: InPlaceSaver
  private let versions: VersionKeeper
  private let jobs: Jobs

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ succession: Succession,
    _ inPlace: InPlaceSaver, _ versions: VersionKeeper, _ jobs: Jobs
  ) {
    (self.grants, self.trail, self.sessions, self.succession) = (grants, trail, sessions, succession)
    (self.inPlace, self.versions, self.jobs) = (inPlace, versions, jobs)
  }

  /// - Parameter mayGoInPlace: where an opener waits for the document.
  /// - Returns: the answer of the app's rename.
  func replace(
    _ request: LauncherInterface.ReplaceCall, _ instance: Instance, mayGoInPlace: Bool = true
  ) async throws -> LauncherInterface.ReplaceReply {
    // One after the other: of the same document another save may be under way.
    while instance.scopes.saves.running.contains(request.grant) {
      let turn = Wait<Void>()
      instance.scopes.saves.waiting[request.grant, default: []].append(turn)
      try await turn.get()
    }
    guard let (grant, staging) = try saved(request, instance) else {
      return .init(error: LauncherInterface.ReplaceReply.undecided)
    }
    // The host may have been faster.
    succession.examine(grant.id)
    guard let document = instance.scopes.shown[grant.id], let place = DocumentPlace(of: document) else {
      trail.record(
        AuditEvent(.replaced, .failed, instance, grant: grant, reason: "the document is not in any folder any more"))
      return .init(error: Int(Errno.noSuchFileOrDirectory.rawValue))
    }
    if document.kind == .folder {
      return try await replacePackage(document, at: place, grant, request, instance, from: staging)
    }
    guard !request.exchanges else { return .init(error: Int(Errno.invalidArgument.rawValue)) }
    if let obstacle = inPlace.obstacle(for: document) { return failed(obstacle, grant, document, instance) }
    if mayGoInPlace, inPlace.isNeeded(for: document) {
      let reply = try await saveInPlace(document, grant, request, instance, from: staging)
      if let reply { return reply }
      return try await replace(request, instance, mayGoInPlace: false)
    }
    let replacement: Replacement
    do {
      replacement = try Replacement(
        of: document, at: place, by: request.temporary, from: staging, through: try instance.sandbox.staging.area(),
        as: "\(grant.id).new")
    } catch { return failed(error, grant, document, instance) }
    do {
      if replacement.isNamed, let pending = replacement.pending { try grants.begin(pending) }
    } catch {
      replacement.giveBack(to: staging, as: request.temporary)
      return failed(error, grant, document, instance)
    }
    let former = versions.prepare(document, .saved, by: instance.app.bundleIdentifier)
    let reply = try await copy(grant, instance) { heartbeat throws(KernelError) in
      former?.fill(while: heartbeat.beat)
      try replacement.fill(while: heartbeat.beat)
    } then: { error -> LauncherInterface.ReplaceReply? in
      var isReplaced = false
      defer { self.versions.settle(former, of: isReplaced ? replacement.new : nil, instance, grant) }
      if error == nil, mayGoInPlace, self.inPlace.isNeeded(for: document) {
        // The opener came meanwhile.
        replacement.giveBack(to: staging, as: request.temporary)
        if replacement.isNamed { try? self.grants.abandon(document.identity) }
        return nil
      }
      guard let error else {
        let reply = self.carryOut(replacement, request, of: document, instance)
        isReplaced = reply.error == 0
        return reply
      }
      replacement.giveBack(to: staging, as: request.temporary)
      if replacement.isNamed { try? self.grants.abandon(document.identity) }
      return self.failed(error, grant, document, instance)
    }
    if let reply { return try await onDisk(reply, place.folder, grant, instance) }
    return try await replace(request, instance)
  }

  /// Waits until the document's new name is on the disk, and the version of its former content: the app is answered when a crash
  /// can take neither back.
  ///
  /// A folder that may be changed and not read cannot be waited for.
  private func onDisk(
    _ reply: LauncherInterface.ReplaceReply, _ folder: Descriptor, _ grant: Grant, _ instance: Instance
  ) async throws -> LauncherInterface.ReplaceReply {
    guard reply.error == 0 else { return reply }
    let table = versions.store.table
    _ = try await jobs.run(owner: instance.app.bundleIdentifier, subject: grant.id) { _ in
      try? table.synchronize()
      return (try? Descriptor.open(".", below: folder, flags: [.read, .directory]).synchronizeFully()) != nil
    }
    return reply
  }

  /// - Returns: `nil` if no opener waits any more; the app's file is where it was then.
  private func saveInPlace(
    _ document: FoundDocument, _ grant: Grant, _ request: LauncherInterface.ReplaceCall, _ instance: Instance,
    from staging: Descriptor
  ) async throws -> LauncherInterface.ReplaceReply? {
    let (taken, content): (TakenFile, Descriptor)
    do {
      taken = try TakenFile(
        request.temporary, from: staging, through: try instance.sandbox.staging.area(), as: "\(grant.id).new")
      do { content = try taken.open() } catch {
        taken.giveBack(to: staging, as: request.temporary)
        throw error
      }
    } catch { return failed(error, grant, document, instance) }
    let reply = Wait<LauncherInterface.ReplaceReply?>()
    instance.scopes.saves.running.insert(grant.id)
    versions.copyFormer(of: document, by: instance.app.bundleIdentifier) { former in
      self.inPlace.save(content, to: document, of: grant, for: instance) {
        ((try? self.saved(request, instance)) ?? nil) != nil
      } then: { outcome in
        switch outcome {
        case .saved: taken.remove(reading: content)
        case .notAwaited, .failed: taken.giveBack(to: staging, as: request.temporary)
        }
        self.versions.settleLater(former, of: outcome.reply?.error == 0 ? document.identity : nil, instance, grant)
        self.end(grant, instance)
        reply.finish(outcome.reply)
      }
    }
    return try await reply.get()
  }

  private func replacePackage(
    _ document: FoundDocument, at place: DocumentPlace, _ grant: Grant, _ request: LauncherInterface.ReplaceCall,
    _ instance: Instance, from staging: Descriptor
  ) async throws -> LauncherInterface.ReplaceReply {
    let replacement: PackageReplacement
    do {
      replacement = try PackageReplacement(
        of: document, at: place, by: request.temporary, from: staging, through: try instance.sandbox.staging.area(),
        exchanging: request.exchanges)
    } catch { return failed(error, grant, document, instance) }
    do { if let pending = replacement.pending { try grants.begin(pending) } } catch {
      clear(replacement, document, instance)
      return failed(error, grant, document, instance)
    }
    let former = versions.prepare(document, .saved, by: instance.app.bundleIdentifier)
    let reply = try await copy(grant, instance) { heartbeat throws(KernelError) in
      former?.fill { heartbeat.beat() }
      try replacement.fill { heartbeat.beat() }
    } then: { error in
      defer { self.clear(replacement, document, instance) }
      let reply =
        error.map { self.failed($0, grant, document, instance) }
        ?? self.carryOut(replacement, request, of: document, instance)
      self.versions.settle(former, of: reply.error == 0 ? replacement.new : nil, instance, grant)
      return reply
    }
    return try await onDisk(reply, place.folder, grant, instance)
  }

  /// Has content copied by a thread.
  ///
  /// - Parameter finish: is told how that went, and carries the save out or takes it back.
  private func copy<Reply: Sendable>(
    _ grant: Grant, _ instance: Instance,
    _ work: @escaping @Sendable (Jobs.Heartbeat) throws(KernelError) -> Void,
    then finish: @escaping (KernelError?) -> Reply
  ) async throws -> Reply {
    let reply = Wait<Reply>()
    instance.scopes.saves.running.insert(grant.id)
    jobs.start(owner: instance.app.bundleIdentifier, subject: grant.id) { heartbeat in
      FaultPoint.contentDue.hold()
      return Result { () throws(KernelError) in try work(heartbeat) }
    } then: { outcome in
      instance.scopes.saves.running.remove(grant.id)
      let late = KernelError("copy_file_range", "the file system does not answer", errno: .ioError)
      switch outcome ?? .failure(late) {
      case .success: reply.finish(finish(nil))
      case .failure(let error): reply.finish(finish(error))
      }
      self.end(grant, instance)
    }
    return try await reply.get()
  }

  /// Lets the next save of a document begin.
  private func end(_ grant: Grant, _ instance: Instance) {
    instance.scopes.saves.running.remove(grant.id)
    for turn in instance.scopes.saves.waiting.removeValue(forKey: grant.id) ?? [] { turn.finish(()) }
  }

  /// The grant and the app's folder of a rename that is a save; `nil` if it is none.
  private func saved(
    _ request: LauncherInterface.ReplaceCall, _ instance: Instance
  ) throws -> (Grant, Descriptor)? {
    guard sessions.instances[instance.id] === instance, instance.scopes.owners.isActive(request.grant),
      let staging = instance.sandbox.staging.folder(of: request.grant),
      let names = instance.scopes.exposed[request.grant]?.names,
      names.contains(where: { $0.isSamePath(as: request.name) }),
      !names.contains(where: { $0.isSamePath(as: request.temporary) }), !request.temporary.hasSlash,
      ![".", ".."].contains(request.temporary),
      let grant = try grants.grant(request.grant), grant.revoked == nil,
      instance.rights(of: grant) == .readWrite
    else { return nil }
    return (grant, staging)
  }

  /// Everything is decided again: while a file was copied, its scope may have ended.
  private func carryOut(
    _ replacement: Replacement, _ request: LauncherInterface.ReplaceCall, of document: FoundDocument,
    _ instance: Instance
  ) -> LauncherInterface.ReplaceReply {
    guard let (grant, staging) = (try? saved(request, instance)) ?? nil else {
      replacement.finish()
      if replacement.isNamed { try? grants.abandon(document.identity) }
      return .init(error: Int(Errno.resourceBusy.rawValue))
    }
    let new: FoundDocument
    do {
      if !replacement.isNamed, let pending = replacement.pending { try grants.begin(pending) }
      FaultPoint.replacementBegun.pass()
      try trail.decide([
        AuditEvent(
          .replaced, .allowed, instance, grant: grant, document: document, how: "app",
          detail: AuditEvent.facts(document.identity, replacement.new))
      ])
      new = try replacement.carryOut()
    } catch {
      replacement.giveBack(to: staging, as: request.temporary)
      try? grants.abandon(document.identity)
      return failed(error, grant, document, instance, AuditEvent.facts(document.identity, replacement.new))
    }
    FaultPoint.filesExchanged.pass()
    do { try succession.succeed(document.identity, by: new) } catch { return failed(error, grant, document, instance) }
    replacement.finish()
    return .init(error: 0)
  }

  private func failed(
    _ error: any Error, _ grant: Grant, _ document: FoundDocument, _ instance: Instance, _ facts: [String: String] = [:]
  ) -> LauncherInterface.ReplaceReply {
    trail.record(
      AuditEvent(
        .replaced, .failed, instance, grant: grant, document: document, how: "app", reason: "\(error)", detail: facts))
    return .init(error: Int(((error as? KernelError)?.errno ?? .ioError).rawValue))
  }

  // MARK: Packages

  /// Everything is decided again: meanwhile its scope may have ended.
  private func carryOut(
    _ replacement: PackageReplacement, _ request: LauncherInterface.ReplaceCall, of document: FoundDocument,
    _ instance: Instance
  ) -> LauncherInterface.ReplaceReply {
    guard let (grant, _) = (try? saved(request, instance)) ?? nil else {
      return .init(error: Int(Errno.resourceBusy.rawValue))
    }
    let facts = AuditEvent.facts(document.identity, replacement.new)
    do {
      FaultPoint.replacementBegun.pass()
      try trail.decide([
        AuditEvent(.replaced, .allowed, instance, grant: grant, document: document, how: "app", detail: facts)
      ])
      let new = try replacement.carryOut()
      FaultPoint.filesExchanged.pass()
      replacement.settle()
      // Until the old one is removed it stays written down.
      try succession.succeed(document.identity, by: new, isSettled: false)
      if let path = new.path { succession.carryOver(from: document, at: path, to: new) }
      return .init(error: 0)
    } catch { return failed(error, grant, document, instance, facts) }
  }

  private func clear(_ replacement: PackageReplacement, _ document: FoundDocument, _ instance: Instance) {
    jobs.start(owner: "leftovers of packages", subject: "\(replacement.new.inode)") { _ in
      replacement.clear()
    } then: { (isDone: Bool?) in
      // Otherwise the next broker does.
      if isDone == true { try? self.grants.abandon(document.identity) }
    }
  }
}

extension InPlaceSaver.Outcome {
  /// `nil`: another kind of save has to follow.
  fileprivate var reply: LauncherInterface.ReplaceReply? {
    switch self {
    case .saved: .init(error: 0)
    case .notAwaited: nil
    case .failed(let error as KernelError): .init(error: Int(error.errno.rawValue))
    case .failed(let error as InPlaceSave.Failure): .init(error: Int(error.errno.rawValue))
    case .failed: .init(error: Int(Errno.ioError.rawValue))
    }
  }
}
