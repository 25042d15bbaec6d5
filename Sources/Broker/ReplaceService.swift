internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Documents that another file comes in the place of: an app's, when it saves by writing anew and renaming
/// (`io.ambit.Launcher.Replace`), or the host's (``FileWatch``).
extension Broker {
  /// - Returns: what the app's rename answers; `nil` if that is told later: the file has to be copied first.
  func replace(
    _ request: LauncherInterface.ReplaceCall, _ instance: Instance, on connection: WireConnection
  ) throws -> LauncherInterface.ReplaceReply? {
    let sync: AuditLog.Sync = instance.app.rules.syncsFully ? .full : .group
    // One after the other: of the same document another save may be under way.
    if instance.saving.contains(request.grant) {
      instance.savesWaiting[request.grant, default: []].append { [weak self] in
        guard let self else { return }
        do {
          let reply = try self.replace(request, instance, on: connection)
          if let reply { self.send(Reply(reply.json), on: connection, sync) }
        } catch {
          self.send(Reply(LauncherInterface.Failure.failed("\(error)")), on: connection, sync)
        }
      }
      return nil
    }
    guard let (grant, staging) = try saved(request, instance) else {
      return .init(error: LauncherInterface.ReplaceReply.undecided)
    }
    // The host may have been faster.
    examine(grant.id)
    guard let document = instance.shown[grant.id], let place = DocumentPlace(of: document) else {
      record(event(.replaced, .failed, instance, grant: grant, reason: "the document is not in any folder any more"))
      return .init(error: Int(Errno.noSuchFileOrDirectory.rawValue))
    }
    if document.kind == .folder {
      return replacePackage(document, at: place, grant, request, instance, from: staging) {
        self.send(Reply($0.json), on: connection, sync)
      }
    }
    guard !request.exchanges else { return .init(error: Int(Errno.invalidArgument.rawValue)) }
    let replacement: Replacement
    do {
      replacement = try Replacement(
        of: document, at: place, by: request.temporary, from: staging, through: try instance.staging.area(),
        as: "\(grant.id).new")
    } catch { return failed(error, grant, document, instance) }
    do {
      if replacement.isNamed, let pending = replacement.pending { try grants.begin(pending) }
    } catch {
      replacement.giveBack(to: staging, as: request.temporary)
      return failed(error, grant, document, instance)
    }
    instance.saving.insert(grant.id)
    errands.add(
      owner: instance.app.bundleIdentifier, subject: grant.id,
      { pulse in
        FaultPoint.contentDue.hold()
        return Result { () throws(KernelError) in try replacement.fill(while: pulse.beat) }
      }
    ) { outcome in
      instance.saving.remove(grant.id)
      let late = KernelError("copy_file_range", "the file system does not answer", errno: .ioError)
      let reply: LauncherInterface.ReplaceReply
      switch outcome ?? .failure(late) {
      case .success: reply = self.carryOut(replacement, request, of: document, instance)
      case .failure(let error):
        replacement.giveBack(to: staging, as: request.temporary)
        if replacement.isNamed { try? self.grants.abandon(document.identity) }
        reply = self.failed(error, grant, document, instance)
      }
      self.send(Reply(reply.json), on: connection, sync)
      self.goOnSaving(grant.id, instance)
    }
    beginErrands(now: Clock.monotonic())
    return nil
  }

  /// Lets those go on that wait until a document is saved.
  func goOnSaving(_ grant: String, _ instance: Instance) {
    let next = instance.savesWaiting.removeValue(forKey: grant) ?? []
    for save in next { save() }
  }

  /// The grant and the app's folder of a rename that is a save; `nil` if it is none.
  func saved(
    _ request: LauncherInterface.ReplaceCall, _ instance: Instance
  ) throws -> (Grant, Descriptor)? {
    guard instances[instance.id] === instance, instance.owners.isActive(request.grant),
      let staging = instance.staging.folder(of: request.grant),
      let names = instance.exposed[request.grant]?.names, names.contains(where: { $0.isSamePath(as: request.name) }),
      !names.contains(where: { $0.isSamePath(as: request.temporary) }), !request.temporary.hasSlash,
      ![".", ".."].contains(request.temporary),
      let grant = try grants.grant(request.grant), grant.revoked == nil,
      rights(of: grant, for: instance) == .readWrite
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
      try decide([
        event(
          .replaced, .allowed, instance, grant: grant, document: document, how: "app",
          detail: Self.facts(document.identity, replacement.new))
      ])
      new = try replacement.carryOut()
    } catch {
      replacement.giveBack(to: staging, as: request.temporary)
      try? grants.abandon(document.identity)
      return failed(error, grant, document, instance, Self.facts(document.identity, replacement.new))
    }
    FaultPoint.filesExchanged.pass()
    do { try succeed(document.identity, by: new) } catch { return failed(error, grant, document, instance) }
    replacement.finish()
    return .init(error: 0)
  }

  func failed(
    _ error: any Error, _ grant: Grant, _ document: FoundDocument, _ instance: Instance, _ facts: [String: String] = [:]
  ) -> LauncherInterface.ReplaceReply {
    record(
      event(
        .replaced, .failed, instance, grant: grant, document: document, how: "app", reason: "\(error)", detail: facts))
    return .init(error: Int(((error as? KernelError)?.errno ?? .ioError).rawValue))
  }

  static func facts(_ old: FileIdentity, _ new: FileIdentity) -> [String: String] {
    var facts = [AuditEvent.Fact.oldInode: "\(old.inode)", AuditEvent.Fact.newInode: "\(new.inode)"]
    facts[AuditEvent.Fact.oldBirth] = date(old.birth).map { Timestamp($0).text }
    facts[AuditEvent.Fact.newBirth] = date(new.birth).map { Timestamp($0).text }
    return facts
  }

  /// Another file is the document from now on, for one app or for every one that has been granted it, and wherever it is shown
  /// to them (`SBX-14`).
  ///
  /// - Parameter isSettled: nothing is left of the replacement that would have to be removed.
  func succeed(_ old: FileIdentity, by new: FoundDocument, of app: String? = nil, isSettled: Bool = true) throws {
    try grants.replace(old, by: new.identity, of: app, isSettled: isSettled)
    FaultPoint.grantsReplaced.pass()
    for instance in instances.values where app == nil || instance.app.bundleIdentifier == app {
      for (id, shown) in instance.shown where shown.identity == old {
        guard let grant = try grants.grant(id), let exposure = instance.exposed[id] else { continue }
        do {
          try instance.mounts.replace(by: new, grant: id, name: exposure.name, rights: rights(of: grant, for: instance))
          instance.shown[id] = new
          for name in exposure.names { instance.staging.tell(id, name: name) }
        } catch {
          // It goes on seeing the old file, which is gone from the host: what it writes there would be lost.
          record(event(.replaced, .failed, instance, grant: grant, reason: "the new file cannot be shown: \(error)"))
        }
        pin(new, for: id)
        files.replaced(id, by: new)
      }
    }
  }

  /// Settles what a broker that died had begun.
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
        record(
          AuditEvent(
            .replaced, .allowed, document: Self.document(pending.new, at: "\(pending.folder)/\(pending.name)"),
            reason: "begun by a broker that died", detail: Self.facts(pending.old, pending.new)))
      } else {
        try grants.abandon(pending.old)
        record(
          AuditEvent(
            .replaced, .failed, document: Self.document(pending.old, at: "\(pending.folder)/\(pending.name)"),
            reason: "the broker died before the files had changed places; the document is what it was",
            detail: Self.facts(pending.old, pending.new)))
      }
    }
  }
}
