internal import Audit
internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Documents that another file comes in the place of: an app's, when it saves by writing anew and renaming
/// (`io.ambit.Launcher.Replace`), or the host's (``FileWatch``).
extension Broker {
  /// - Returns: what the app's rename answers.
  func replace(_ request: LauncherInterface.ReplaceCall, _ instance: Instance) throws -> LauncherInterface.ReplaceReply
  {
    guard instance.owners.isActive(request.grant), let staging = instance.staging.folder(of: request.grant),
      let exposure = instance.exposed[request.grant], exposure.name == request.name,
      request.temporary != request.name, !request.temporary.contains("/"), ![".", ".."].contains(request.temporary),
      let grant = try grants.grant(request.grant), grant.revoked == nil,
      rights(of: grant, for: instance) == .readWrite
    else { return .init(error: LauncherInterface.ReplaceReply.undecided) }
    // The host may have been faster.
    examine(grant.id)
    guard let document = instance.shown[grant.id], let place = DocumentPlace(of: document) else {
      record(event(.replaced, .failed, instance, grant: grant, reason: "the document is not in any folder any more"))
      return .init(error: Int(Errno.noSuchFileOrDirectory.rawValue))
    }
    var begun: Replacement?
    do {
      let replacement = try Replacement(
        of: document, at: place, by: request.temporary, from: staging, through: try instance.staging.area(),
        as: "\(grant.id).new", copying: instance.app.rules.endsOutlived)
      begun = replacement
      if let pending = replacement.pending { try grants.begin(pending) }
      FaultPoint.replacementBegun.pass()
      try decide([
        event(
          .replaced, .allowed, instance, grant: grant, document: document, how: "app",
          detail: Self.facts(document.identity, replacement.new))
      ])
      let new = try replacement.carryOut()
      FaultPoint.filesExchanged.pass()
      begun = nil
      if !replacement.isCopy { instance.made.insert(replacement.new) }
      try succeed(document.identity, by: new)
      replacement.finish()
      return .init(error: 0)
    } catch {
      if let begun {
        begun.giveBack(to: staging, as: request.temporary)
        try? grants.abandon(document.identity)
      }
      record(event(.replaced, .failed, instance, grant: grant, document: document, how: "app", reason: "\(error)"))
      return .init(error: Int(((error as? KernelError)?.errno ?? .ioError).rawValue))
    }
  }

  static func facts(_ old: FileIdentity, _ new: FileIdentity) -> [String: String] {
    [AuditEvent.Fact.oldInode: "\(old.inode)", AuditEvent.Fact.newInode: "\(new.inode)"]
  }

  /// Another file is the document from now on, for one app or for every one that has been granted it, and wherever it is shown
  /// to them (`SBX-14`).
  func succeed(_ old: FileIdentity, by new: FoundDocument, of app: String? = nil) throws {
    try grants.replace(old, by: new.identity, of: app)
    FaultPoint.grantsReplaced.pass()
    for instance in instances.values where app == nil || instance.app.bundleIdentifier == app {
      instance.made.remove(old)
      for (id, shown) in instance.shown where shown.identity == old {
        guard let grant = try grants.grant(id), let exposure = instance.exposed[id] else { continue }
        do {
          try instance.mounts.replace(by: new, grant: id, name: exposure.name, rights: rights(of: grant, for: instance))
          instance.shown[id] = new
          instance.staging.tell(id, name: exposure.name)
        } catch {
          // It goes on seeing the old file, which is gone from the host: what it writes there would be lost.
          record(event(.replaced, .failed, instance, grant: grant, reason: "the new file cannot be shown: \(error)"))
        }
        pin(new, for: id)
        files.replaced(id, by: new)
      }
    }
  }

  /// What belongs to a database goes with it when the app's own folder beside it is removed.
  func keepSidecars(
    of document: FoundDocument, _ grant: String, name: String, from folder: Descriptor, through area: Descriptor
  ) {
    for path in Sidecars.keep(document, name: name, from: folder, through: area) {
      record(
        AuditEvent(
          .replaced, grant: grant, document: .init(path: path), how: "sidecar", rule: "FSF-6",
          reason: "the app left it beside its database"))
    }
  }

  /// What instances of a broker that died have left is cleared away, but for what belongs to databases.
  func clearStaging() {
    for instance in (try? DirectoryReader.entries(of: staging)) ?? [] {
      guard let area = try? Descriptor.open(instance.name, below: staging, flags: [.read, .directory, .noFollow]) else {
        continue
      }
      for entry in (try? DirectoryReader.entries(of: area)) ?? [] {
        guard let folder = try? Descriptor.open(entry.name, below: area, flags: [.read, .directory, .noFollow]),
          let grant = try? grants.grant(entry.name), grant.rights == .readWrite,
          let opened = try? Descriptor.open(grant.path, flags: [.path, .noFollow], resolve: .noSymlinks),
          let document = try? FoundDocument(opened), document.identity == grant.identity
        else { continue }
        keepSidecars(of: document, grant.id, name: grant.name, from: folder, through: area)
      }
    }
    Staging.clear(staging)
  }

  /// Settles what a broker that died had begun.
  func settleReplacements() throws {
    for pending in try grants.pendingReplacements() {
      if Replacement.settle(pending) {
        try grants.replace(pending.old, by: pending.new)
        record(
          AuditEvent(
            .replaced, .allowed, document: .init(path: "\(pending.folder)/\(pending.name)", inode: pending.new.inode),
            reason: "begun by a broker that died", detail: Self.facts(pending.old, pending.new)))
      } else {
        try grants.abandon(pending.old)
        record(
          AuditEvent(
            .replaced, .failed, document: .init(path: "\(pending.folder)/\(pending.name)", inode: pending.old.inode),
            reason: "the broker died before the files had changed places; the document is what it was",
            detail: Self.facts(pending.old, pending.new)))
      }
    }
  }
}
