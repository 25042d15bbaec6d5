internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

/// Saves in place, for programs that wait to open a document (``LeaseKeeper``). Content is copied by threads, each time behind a
/// recovery copy (``InPlaceSave``).
@BrokerLoop
final class InPlaceSaver {
  enum Outcome {
    case saved
    /// No opener waits any more, or the kernel lets it go on too soon. Nothing was written; a save by rename is as good.
    case notAwaited
    /// The document is what it was, as far as the error does not say otherwise.
    case failed(any Error)
  }

  private let host: BrokerHost
  private let leases: LeaseKeeper
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let jobs: Jobs
  private var running: Set<FileIdentity> = []

  init(_ host: BrokerHost, _ leases: LeaseKeeper, _ trail: AuditTrail, _ sessions: SessionTable, _ jobs: Jobs) {
    (self.host, self.leases, self.trail, self.sessions, self.jobs) = (host, leases, trail, sessions, jobs)
  }

  /// Whether a save of a document has to go in place.
  func isNeeded(for document: FoundDocument) -> Bool { leases.awaited(document.identity) != nil }

  /// Why a document cannot be saved now: another program is about to write into its very file.
  func obstacle(for document: FoundDocument) -> KernelError? {
    guard leases.awaitsWriter(document.identity) else { return nil }
    return KernelError("rename", "a file that another program waits to write to", errno: .resourceBusy)
  }

  /// Puts content into a document that an opener waits for. The opener goes on when the lease is given back, which the caller does.
  ///
  /// - Parameters:
  ///   - content: a regular file, open for reading. The caller has checked that it may be read.
  ///   - mayGoOn: asked between the copy of the old content and the first byte of the new one.
  ///   - finish: told once, also when the request that began it was cancelled.
  func save(
    _ content: Descriptor, to document: FoundDocument, of grant: Grant, for instance: Instance,
    mayGoOn: @escaping () -> Bool, then finish: @escaping (Outcome) -> Void
  ) {
    let identity = document.identity
    guard let file = leases.awaited(identity), let path = document.descriptor.currentPath else {
      return finish(.notAwaited)
    }
    guard running.insert(identity).inserted else {
      return finish(.failed(KernelError("write", "a document that is being saved", errno: .resourceBusy)))
    }
    let began = host.clock.monotonic
    let recovery = host.folders.recovery
    let end = { (outcome: Outcome) in
      self.running.remove(identity)
      if case .failed(let error) = outcome { self.recordFailure(error, document, grant, instance) }
      finish(outcome)
    }
    run(grant, instance) { heartbeat throws(KernelError) in
      FaultPoint.contentDue.hold()
      let folder = try Descriptor.open(recovery, flags: [.read, .directory, .noFollow])
      let save = try InPlaceSave(
        of: file, identity, at: path, by: content, keepingIn: folder, while: heartbeat.beat)
      guard heartbeat.beat() else {
        // It was given up: no later broker may put this content back.
        save.discard()
        throw KernelError("write", path, errno: .canceled)
      }
      return save
    } then: { prepared in
      switch prepared {
      case .failure(let error): end(.failed(error))
      case .success(let save):
        // To write takes as long as to keep did, and the opener must not see a half.
        let spent = self.host.clock.monotonic - began
        guard self.leases.awaited(identity) === file, mayGoOn(),
          self.leases.timeLeft(identity).map({ $0 > 3 * spent }) ?? true
        else {
          self.discard(save, grant, instance) { end(.notAwaited) }
          return
        }
        do {
          try self.trail.decide([
            AuditEvent(
              .replaced, .allowed, instance, grant: grant, document: document, how: "app",
              detail: [AuditEvent.Fact.inPlace: "true"])
          ])
        } catch { return self.discard(save, grant, instance) { end(.failed(error)) } }
        self.carryOut(save, identity, grant, instance, end)
      }
    }
  }

  private func carryOut(
    _ save: InPlaceSave, _ identity: FileIdentity, _ grant: Grant, _ instance: Instance,
    _ end: @escaping (Outcome) -> Void
  ) {
    run(grant, instance) { heartbeat throws(InPlaceSave.Failure) in
      try save.carryOut(while: heartbeat.beat, beforeDisk: heartbeat.waitForDisk)
    } then: { result in
      switch result {
      case .success:
        self.tellWatchers(of: identity)
        end(.saved)
      case .failure(let error): end(.failed(error))
      }
    }
  }

  private func discard(_ save: InPlaceSave, _ grant: Grant, _ instance: Instance, then: @escaping () -> Void) {
    run(grant, instance) { _ in
      save.discard()
    } then: { _ in
      then()
    }
  }

  /// Runs work in a thread; where nothing comes back in time it has failed.
  private func run<Value: Sendable, Failure: Error>(
    _ grant: Grant, _ instance: Instance, _ work: @escaping @Sendable (Jobs.Heartbeat) throws(Failure) -> Value,
    then: @escaping (Result<Value, any Error>) -> Void
  ) {
    jobs.start(owner: instance.app.bundleIdentifier, subject: grant.id) { heartbeat -> Result<Value, any Error> in
      do { return .success(try work(heartbeat)) } catch { return .failure(error) }
    } then: { outcome in
      then(outcome ?? .failure(KernelError("write", "the file system does not answer", errno: .ioError)))
    }
  }

  /// As after a save by rename: watchers of the document's folder see that it has changed.
  private func tellWatchers(of identity: FileIdentity) {
    for instance in sessions.instances.values {
      for (id, shown) in instance.scopes.shown where shown.identity == identity {
        for name in instance.scopes.exposed[id]?.names ?? [] { instance.sandbox.staging.tell(id, name: name) }
      }
    }
  }

  private func recordFailure(_ error: any Error, _ document: FoundDocument, _ grant: Grant, _ instance: Instance) {
    trail.record(
      AuditEvent(
        .replaced, .failed, instance, grant: grant, document: document, how: "app", reason: "\(error)",
        detail: [AuditEvent.Fact.inPlace: "true"]))
  }

  // MARK: After a broker that died

  /// Entries that may be looked at to find a document that has moved: the broker serves only after that.
  private static let searchBudget = 20_000

  /// Ends the saves in place that a dead broker has left unfinished.
  func settleInterrupted() throws {
    let folder = try Descriptor.open(host.folders.recovery, flags: [.read, .directory, .noFollow])
    for outcome in try InterruptedSaves.settle(in: folder, finder: DocumentFinder(searchBudget: Self.searchBudget)) {
      let (result, reason): (AuditEvent.Result, String) =
        switch outcome.result {
        case .wholeNew: (.allowed, "begun by a broker that died")
        case .wholeOld: (.failed, "the broker died before anything was written; the document is what it was")
        case .restored(let found):
          (
            .failed,
            "the broker died while it wrote; the document has its old content again, and the content that was found is kept as \(host.folders.recovery)/\(found)"
          )
        case .failed(let error):
          (.failed, "the broker died while it wrote, and the old content cannot be put back yet: \(error)")
        }
      trail.record(
        AuditEvent(
          .replaced, result, document: AuditEvent.Document(outcome.identity, at: outcome.path), reason: reason,
          detail: [AuditEvent.Fact.inPlace: "true"]))
    }
  }
}
