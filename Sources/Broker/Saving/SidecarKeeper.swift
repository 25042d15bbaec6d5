internal import Audit
internal import BrokerCore
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

/// Puts the files of databases that apps have left where the databases stand (`FSF-6`). They may be long, and their disk slow: so
/// threads copy them. A start of the database meanwhile waits, since without them that is another database.
@BrokerLoop
final class SidecarKeeper {
  /// Of one grant, in a folder that no app reaches.
  private struct Piece {
    let grant: String
    let document: FoundDocument
    let area: Descriptor
    /// Keeps other programs out of the database until its log stands beside it.
    let hold: DatabaseHold?
  }

  private let jobs: Jobs
  private let trail: AuditTrail
  private let grants: GrantStore
  /// The folder of all instances' staging folders.
  private let staging: Descriptor
  /// By the folder that they lie in.
  private var batches = Batches<Piece>()
  /// The next step for such a folder when everything in it has found its place.
  private var cleaning: [String: () -> Void] = [:]
  /// Folders with something that could not be put where it belongs: they stay, for the next broker.
  private var failed: Set<String> = []
  private var waits: [(isOver: () -> Bool, wait: Wait<Void>)] = []

  init(_ jobs: Jobs, _ trail: AuditTrail, _ grants: GrantStore, staging: Descriptor) {
    (self.jobs, self.trail, self.grants, self.staging) = (jobs, trail, grants, staging)
  }

  var isIdle: Bool { batches.isIdle }

  // MARK: Waiting

  /// Whether the files that belong to a document are beside it.
  func isSettled(_ document: FoundDocument) -> Bool {
    !batches.contains { $0.document.identity == document.identity }
  }

  /// Whether nothing of some grants is on its way.
  func isSettled(grants ids: Set<String>) -> Bool { !batches.contains { ids.contains($0.grant) } }

  /// Waits for that.
  func settled(_ document: FoundDocument) async throws(CancellationError) {
    try await wait { self.isSettled(document) }
  }

  /// Waits for that.
  func settled(grants ids: Set<String>) async throws(CancellationError) {
    try await wait { self.isSettled(grants: ids) }
  }

  /// Waits until everything that one launch has left is where it belongs.
  func settled(owner: String) async throws(CancellationError) { try await wait { self.batches.isIdle(owner) } }

  private func wait(until isOver: @escaping () -> Bool) async throws(CancellationError) {
    if isOver() { return }
    let wait = Wait<Void>()
    waits.append((isOver, wait))
    try await wait.get()
  }

  private func resume() {
    for each in waits where each.isOver() { each.wait.finish(()) }
    waits.removeAll { $0.wait.isOver }
  }

  // MARK: Keeping

  /// The files that belong to a database are put beside it. The app's own folder may be removed from here on.
  func keep(
    of document: FoundDocument, _ grant: String, names: [String], from folder: Descriptor, through area: Descriptor,
    owner: String, hold: DatabaseHold?
  ) {
    #if AMBIT_MUTANTS
      if Mutant.sidecarsLost.isActive {
        hold?.release()
        return
      }
    #endif
    // Of several names, those beside the one that has any: an app opens its database under one.
    guard names.contains(where: { Sidecars.take($0, of: grant, from: folder, to: area) }) else {
      hold?.release()
      return
    }
    FaultPoint.sidecarsTaken.pass()
    keepTaken(of: document, grant, in: area, owner: owner, hold: hold)
  }

  private func keepTaken(
    of document: FoundDocument, _ grant: String, in area: Descriptor, owner: String, hold: DatabaseHold?
  ) {
    batches.add(Piece(grant: grant, document: document, area: area, hold: hold), of: owner)
    beginKeeping(owner)
  }

  private func beginKeeping(_ owner: String) {
    guard let pieces = batches.begin(owner) else { return }
    let work = pieces.map { (grant: $0.grant, area: $0.area, document: $0.document) }
    jobs.start(owner: "sidecars of \(owner)", subject: "sidecars") { heartbeat in
      FaultPoint.sidecarsDue.hold()
      FaultPoint.sidecarsDue.pass()
      return work.map { piece in
        Result { () throws(KernelError) in
          try Sidecars.copies(of: piece.grant, in: piece.area, beside: piece.document, while: heartbeat.beat)
        }
      }
    } then: { copies in
      self.finish(pieces, copies, owner)
    }
  }

  private func finish(_ pieces: [Piece], _ copies: [Result<[Sidecars.Copy], KernelError>]?, _ owner: String) {
    let late = KernelError("copy_file_range", "the file system does not answer", errno: .ioError)
    for (index, piece) in pieces.enumerated() {
      switch copies?[index] ?? .failure(late) {
      case .success(let copies): for copy in copies { put(copy, beside: piece, owner) }
      case .failure(let error): cannotKeep(piece, owner, nil, error)
      }
      if !failed.contains(owner) {
        Sidecars.discard(piece.grant, in: piece.area)
        // Not before: the commits in the log would be missing.
        piece.hold?.release()
      }
    }
    batches.end(owner)
    beginKeeping(owner)
    cleanWhereIdle(owner)
    resume()
  }

  /// Nothing that is there is touched.
  private func put(_ copy: Sidecars.Copy, beside piece: Piece, _ owner: String) {
    if copy.isInTheWay { return }
    trail.record(
      AuditEvent(
        .replaced, grant: piece.grant, document: .init(path: copy.path), how: "sidecar", rule: "FSF-6",
        reason: "the app left it beside its database"))
    FaultPoint.sidecarsCopied.pass()
    do throws(KernelError) { try copy.appear() } catch { return cannotKeep(piece, owner, copy.path, error) }
    FaultPoint.sidecarsKept.pass()
  }

  private func cannotKeep(
    _ piece: Piece, _ owner: String, _ path: String?, _ error: KernelError
  ) {
    failed.insert(owner)
    trail.record(
      AuditEvent(
        .replaced, .failed, grant: piece.grant, document: .init(path: path ?? piece.document.path ?? ""),
        how: "sidecar", rule: "FSF-6",
        reason: "what the app left beside its database could not be put there: \(error)"))
  }

  /// Has a folder cleaned up when nothing in it is needed any more.
  func clean(_ owner: String, _ work: @escaping () -> Void) {
    cleaning[owner] = work
    cleanWhereIdle(owner)
  }

  private func cleanWhereIdle(_ owner: String) {
    guard batches.isIdle(owner), let work = cleaning.removeValue(forKey: owner) else { return }
    // The next broker tries the rest again.
    if failed.remove(owner) == nil { work() }
  }

  /// The remains of a dead broker's instances are cleared away, but for files that belong to databases.
  func clearStaging() {
    for left in Staging.left(in: staging) {
      let entries = (try? DirectoryReader.entries(of: left.area)) ?? []
      let taken = Sidecars.grants(in: entries.map(\.name))
      for id in taken.union(entries.filter { $0.kind == .directory }.map(\.name)).sorted() {
        guard let grant = try? grants.grant(id), grant.rights == .readWrite,
          let opened = try? Descriptor.open(grant.path, flags: [.path, .noFollow], resolve: .noSymlinks),
          let document = try? FoundDocument(opened), document.identity == grant.identity
        else { continue }
        let hold = DatabaseHold.left(beside: document) { left.isOf($0) }
        let isTaken = taken.contains(id)
        if let folder = try? Descriptor.open(id, below: left.area, flags: [.read, .directory, .noFollow]) {
          keep(
            of: document, id, names: [grant.name] + Sidecars.databases(in: folder), from: folder, through: left.area,
            owner: left.name, hold: isTaken ? nil : hold)
        }
        if isTaken, !batches.contains(where: { $0.grant == id }) {
          keepTaken(of: document, id, in: left.area, owner: left.name, hold: hold)
        }
      }
      clean(left.name, left.remove)
    }
  }
}
