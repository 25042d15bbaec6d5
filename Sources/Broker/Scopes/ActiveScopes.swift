internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The access that an app may still have to a document that was taken away.
struct Held {
  /// Of which it has something, or in which others lie.
  var mount: BusyMount?
  /// It may have something of the very file by the mount of another launch.
  var isElsewhere = false
}

/// The documents that are shown in sandboxes now. Every end of a scope goes through here: the document is taken away, and
/// leaked handles are looked for.
@BrokerLoop
final class ActiveScopes: LoopMember {
  private let sessions: SessionTable
  private let grants: GrantStore
  private let trail: AuditTrail
  private let locator: DocumentLocator
  private let files: FolderMonitor
  private let sidecars: SidecarKeeper
  private let leaks: LeakDetector
  private let related: RelatedItems
  private let clock: any LoopClock
  private let events: AppEvents

  init(
    _ sessions: SessionTable, _ grants: GrantStore, _ trail: AuditTrail, _ locator: DocumentLocator,
    _ files: FolderMonitor, _ sidecars: SidecarKeeper, _ leaks: LeakDetector, _ related: RelatedItems,
    _ clock: any LoopClock, _ events: AppEvents
  ) {
    (self.sessions, self.grants, self.trail, self.locator) = (sessions, grants, trail, locator)
    (self.files, self.sidecars, self.leaks, self.clock) = (files, sidecars, leaks, clock)
    (self.related, self.events) = (related, events)
  }

  /// Told of each document that an app does not have any more.
  var onHidden: (_ path: String) -> Void = { _ in }

  // MARK: Showing

  func show(
    _ document: FoundDocument, of grant: Grant, as exposure: Exposure, to instance: Instance
  ) throws(KernelError) {
    #if AMBIT_MUTANTS
      if Mutant.nothingShown.isActive { return }
    #endif
    let name = exposure.name
    // A folder has room for the files that an app makes before it renames them; a document that it may
    // not change is not saved.
    let isSaved = grant.kind != .folder && grant.rights == .readWrite
    let staging =
      isSaved
      ? try instance.sandbox.staging.make(grant.id, name: name, also: exposure.earlier, kind: document.kind) : nil
    let misplaced: BusyMount?
    do throws(KernelError) {
      misplaced = try instance.sandbox.mounts.show(
        document, grant: grant.id, name: name, also: exposure.earlier, rights: grant.rights, in: staging)
    } catch {
      instance.sandbox.staging.discard(grant.id)
      throw error
    }
    if let misplaced {
      instance.sandbox.staging.discard(grant.id)
      _ = leaks.outlived(Held(mount: misplaced), document, grant, instance, within: SearchTime())
      throw KernelError("move_mount", "the app has renamed the place of \(name)", errno: .resourceBusy)
    }
    instance.scopes.shown[grant.id] = document
    // A file system that may keep a caller waiting does not tell of changes from elsewhere.
    if grant.kind != .folder, !locator.mayWait(document.path ?? "") {
      files.add(grant.id, document, recorded: grant.place)
    }
  }

  /// Keeps other programs out of a database while the app has it (``DatabaseHold``).
  func hold(_ document: FoundDocument, of grant: Grant, for instance: Instance) throws {
    do {
      instance.scopes.holds[grant.id] = try DatabaseHold.take(
        document, for: instance.id, of: instance.app.bundleIdentifier
      ) {
        sessions.instances[$0] != nil
      }
    } catch let refusal as DatabaseHold.Refusal {
      switch refusal {
      case .held(let other):
        let app = sessions.instances[other]?.app.name ?? "another app"
        throw StateError(
          "\(app) has started this database in write-ahead mode, and two apps would lose commits; stop it there first")
      case .open(let path):
        throw StateError("another program has the database \(path) open in write-ahead mode; close it there first")
      }
    }
  }

  // MARK: Taking away

  /// Takes a document away.
  ///
  /// - Parameter atOnce: it has to be unmounted when this returns, even if no process has or reaches anything of it.
  /// - Returns: the uses of it that the app may still have open.
  @discardableResult
  func hide(_ grant: String, _ instance: Instance, atOnce: Bool = false) throws(KernelError) -> Held {
    let document = instance.scopes.shown.removeValue(forKey: grant)
    defer { if let path = document?.path { onHidden(path) } }
    instance.scopes.ends[grant] = nil
    if document != nil { files.remove(grant) }
    let hold = instance.scopes.holds.removeValue(forKey: grant)
    guard let exposure = instance.scopes.exposed[grant] else {
      hold?.release()
      return Held()
    }
    defer {
      var isKept = false
      if instance.sandbox.staging.holdsAnything(grant, names: exposure.names) {
        if let document, document.kind == .file, let folder = instance.sandbox.staging.folder(of: grant),
          let area = try? instance.sandbox.staging.area()
        {
          sidecars.keep(
            of: document, grant, names: exposure.names, from: folder, through: area, owner: instance.id, hold: hold)
          isKept = true
        }
        instance.sandbox.staging.discard(grant)
      }
      if !isKept { hold?.release() }
    }
    // The document goes, also where the app keeps a file beside it from being taken away.
    let hidden = Result { () throws(KernelError) in try related.hideAll(of: grant, instance) }
    let mount = try instance.sandbox.mounts.hide(grant: grant, name: exposure.name, atOnce: atOnce)
    let beside = try hidden.get()
    FaultPoint.documentHidden.pass()
    return Held(
      mount: mount?.joined(with: beside) ?? beside,
      isElsewhere: document.map { instance.scopes.elsewhere.contains($0.identity) } ?? false)
  }

  /// The app would go on using a document that it no longer has by the books. Nothing weaker than ending it is safe.
  func cannotHide(_ grant: Grant?, _ instance: Instance, _ kind: AuditEvent.Kind, _ error: any Error) {
    trail.record(AuditEvent(kind, .failed, instance, grant: grant, rule: "TOK-3", reason: "\(error); the app is ended"))
    instance.ending.reason = "the document \(grant?.name ?? "") could not be taken away from it"
    try? instance.process.signalProcess(9)
  }

  // MARK: Ends

  /// - Parameters:
  ///   - some: running apps; those of them that have started it lose it.
  ///   - time: for the searches of all grants that end together.
  func endScopes(
    of grant: Grant, _ ending: GrantEnding, in some: [Instance], _ result: inout EndedGrant, within time: SearchTime
  ) {
    #if AMBIT_MUTANTS
      if Mutant.revokeLeavesMount.isActive { return }
      if Mutant.revokeOneLaunch.isActive, some.count > 1 {
        return endScopes(of: grant, ending, in: Array(some.prefix(1)), &result, within: time)
      }
    #endif
    for instance in some where instance.scopes.owners.isActive(grant.id) {
      let document = instance.scopes.shown[grant.id]
      do {
        let held = try hide(grant.id, instance, atOnce: true)
        for owned in instance.scopes.owners.end(grant.id) {
          result.scopes += 1
          trail.keep([
            AuditEvent(
              .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.withdrawn, rule: ending.rule,
              reason: ending.reason,
              detail: AuditEvent.facts(owned.holder, instance.number(of: owned.process)))
          ])
        }
        events.tell(instance, .scopeEnded, grant.id, cause: ending.how)
        let left = leaks.outlived(held, document, grant, instance, within: time)
        result.outlived += left.holds
        if left.killed { result.killed = true }
      } catch {
        cannotHide(grant, instance, .scopeEnded, error)
        result.killed = true
      }
    }
  }

  func endScopes(
    of instance: Instance, how: String, reason: String
  ) -> (events: [AuditEvent], held: [(Held, FoundDocument?, Grant?)]) {
    var left: [(Held, FoundDocument?, Grant?)] = []
    let events = instance.scopes.owners.all.map { owned in
      let grant = (try? grants.grant(owned.holder.grant)) ?? nil
      let document = instance.scopes.shown[owned.holder.grant]
      // The app's mount namespace may be gone already, and with it all mounts there.
      if instance.scopes.owners.end(owned.holder.grant, of: owned.process),
        let held = try? hide(owned.holder.grant, instance)
      {
        left.append((held, document, grant))
      }
      let process = instance.number(of: owned.process)
      return AuditEvent(
        .scopeEnded, .allowed, instance, grant: grant, how: how,
        // The sandbox's init holds what the user gave for the whole launch.
        reason: process == 1 && how == AuditEvent.ScopeEnd.app ? "the launch that it was given for is over" : reason,
        detail: AuditEvent.facts(owned.holder, process))
    }
    return (events, left)
  }

  /// A process has ended, and others of its sandbox go on: its scopes end, and its slots come back (`TOK-11`).
  ///
  /// - Parameter time: for the searches of all processes that end together.
  func ended(_ pid: Int32, of instance: Instance, within time: SearchTime) {
    guard let process = instance.scopes.processes.removeValue(forKey: pid) else { return }
    #if AMBIT_MUTANTS
      if Mutant.endUnnoticed.isActive { return }
    #endif
    for holder in instance.scopes.owners.holders(of: pid) {
      let document = instance.scopes.shown[holder.grant]
      let grant = (try? grants.grant(holder.grant)) ?? nil
      instance.leave(describe(holder, process.inside, instance))
      var held = Held()
      var failure: KernelError?
      if instance.scopes.owners.end(holder.grant, of: pid) {
        grants.noteUse(holder.grant, at: clock.realtime)
        do throws(KernelError) { held = try hide(holder.grant, instance) } catch { failure = error }
      }
      trail.record(
        AuditEvent(
          .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.process, rule: "TOK-11",
          reason: "process \(process.inside) ended without stopping it",
          detail: AuditEvent.facts(holder, process.inside)))
      // With the sandbox its mounts go, and cannot be taken away any more.
      if let failure, !instance.process.processHasEnded { cannotHide(grant, instance, .scopeEnded, failure) }
      _ = leaks.outlived(held, document, grant, instance, within: time)
    }
  }

  func describe(
    _ holder: ScopeLedger.Holder, _ inside: Int32, _ instance: Instance
  ) -> LauncherInterface.Scope {
    let name = instance.scopes.exposed[holder.grant]?.name ?? ""
    return LauncherInterface.Scope(
      grant: holder.grant, path: ScopeMounts.path(grant: holder.grant, name: name),
      host: instance.scopes.shown[holder.grant]?.descriptor.currentPath ?? "", process: Int(inside),
      count: holder.count,
      since: Instance.rfc3339(holder.since), caller: holder.caller)
  }

  /// The started scopes of a launch, for its user.
  func describe(_ instance: Instance) -> [LauncherInterface.Scope] {
    instance.scopes.owners.all.map { describe($0.holder, instance.number(of: $0.process), instance) }
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? { sessions.instances.values.compactMap(\.sandbox.mounts.exitDue).min() }

  /// Unmounts the mounts that ended scopes have left: when some have gathered, or the first has waited long enough.
  func finishTurn(now: Int64) {
    for instance in sessions.instances.values {
      guard let due = instance.sandbox.mounts.exitDue, due <= now else { continue }
      do throws(KernelError) { try instance.sandbox.mounts.beginEmptying() } catch {
        trail.record(
          AuditEvent(.stop, .failed, instance, reason: "an idle mount could not be unmounted: \(error)"))
      }
    }
  }
}
