internal import Audit
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

/// Thrown where a document is asked for while what belongs to it is still being put beside it. Nothing that cannot be done twice may
/// have happened before.
struct WaitingForSidecars: Error {}

/// What apps have left of databases, on its way to where these stand (`FSF-6`). It may be long, and its disk slow: so threads copy
/// it, and whoever wants to start the database meanwhile waits, since without it that is another database.
struct SidecarKeeping {
  /// Of one grant, in a folder that no app reaches.
  struct Piece {
    let grant: String
    let document: FoundDocument
    let area: Descriptor
    /// Keeps other programs out of the database until its log stands beside it.
    let hold: DatabaseHold?
    let answer: Followed?
  }

  /// By the folder that they lie in.
  var batches = Batches<Piece>()
  /// What is done with such a folder when everything in it has found its place.
  var cleaning: [String: () -> Void] = [:]
  /// Folders with something that could not be put where it belongs: they stay, for the next broker.
  var failed: Set<String> = []
  /// Those that want to start one of the documents.
  var requests: [Request] = []
  /// Answers that say, of one owner, that everything has found its place.
  var awaited: [String: [Followed]] = [:]
}

extension Broker {
  /// What belongs to a database is put beside it. The app's own folder may be removed from here on.
  func keepSidecars(
    of document: FoundDocument, _ grant: String, names: [String], from folder: Descriptor, through area: Descriptor,
    owner: String, hold: DatabaseHold?
  ) {
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
    sidecars.batches.add(.init(grant: grant, document: document, area: area, hold: hold, answer: followed()), of: owner)
    beginKeeping(owner)
  }

  private func beginKeeping(_ owner: String) {
    guard let pieces = sidecars.batches.begin(owner) else { return }
    let work = pieces.map { (grant: $0.grant, area: $0.area, document: $0.document) }
    errands.add(owner: "sidecars of \(owner)", subject: "sidecars") { pulse in
      FaultPoint.sidecarsDue.hold()
      FaultPoint.sidecarsDue.pass()
      return work.map { piece in
        Result { () throws(KernelError) in
          try Sidecars.copies(of: piece.grant, in: piece.area, beside: piece.document, while: pulse.beat)
        }
      }
    } then: { copies in
      let late = KernelError("copy_file_range", "the file system does not answer", errno: .ioError)
      for (index, piece) in pieces.enumerated() {
        switch copies?[index] ?? .failure(late) {
        case .success(let copies): for copy in copies { self.put(copy, beside: piece, owner) }
        case .failure(let error): self.cannotKeep(piece, owner, nil, error)
        }
        if !self.sidecars.failed.contains(owner) {
          Sidecars.discard(piece.grant, in: piece.area)
          // Not before: the commits in the log would be missing.
          piece.hold?.release()
        }
      }
      self.sidecars.batches.end(owner)
      self.beginKeeping(owner)
      self.cleanWhereIdle(owner)
      if self.sidecars.batches.isIdle(owner) {
        for answer in self.sidecars.awaited.removeValue(forKey: owner) ?? [] { answer.isDone() }
      }
      for piece in pieces { piece.answer?.isDone() }
      let waiting = self.sidecars.requests
      self.sidecars.requests = []
      for request in waiting {
        // What was found out before it had to wait is not so any more.
        (request.results, request.outcomes) = ([:], [:])
        self.serve(request)
      }
    }
    beginErrands(now: Clock.monotonic())
  }

  /// Nothing that is there is touched.
  private func put(_ copy: Sidecars.Copy, beside piece: SidecarKeeping.Piece, _ owner: String) {
    if copy.isInTheWay { return }
    record(
      AuditEvent(
        .replaced, grant: piece.grant, document: .init(path: copy.path), how: "sidecar", rule: "FSF-6",
        reason: "the app left it beside its database"))
    FaultPoint.sidecarsCopied.pass()
    do throws(KernelError) { try copy.appear() } catch { return cannotKeep(piece, owner, copy.path, error) }
    FaultPoint.sidecarsKept.pass()
  }

  private func cannotKeep(
    _ piece: SidecarKeeping.Piece, _ owner: String, _ path: String?, _ error: KernelError
  ) {
    sidecars.failed.insert(owner)
    record(
      AuditEvent(
        .replaced, .failed, grant: piece.grant, document: .init(path: path ?? piece.document.path ?? ""),
        how: "sidecar", rule: "FSF-6",
        reason: "what the app left beside its database could not be put there: \(error)"))
  }

  /// Has a folder cleaned up when nothing in it is needed any more.
  func clean(_ owner: String, _ work: @escaping () -> Void) {
    sidecars.cleaning[owner] = work
    cleanWhereIdle(owner)
  }

  private func cleanWhereIdle(_ owner: String) {
    guard sidecars.batches.isIdle(owner), let work = sidecars.cleaning.removeValue(forKey: owner) else { return }
    // What is left the next broker tries again.
    if sidecars.failed.remove(owner) == nil { work() }
  }

  /// The answer to the request under way says that what an owner has left is where it belongs, also what was on its way before.
  func awaitSidecars(of owner: String) {
    guard !sidecars.batches.isIdle(owner) else { return }
    request?.awaitsWhatFollows = true
    if let answer = followed() { sidecars.awaited[owner, default: []].append(answer) }
  }

  /// Whoever starts a database waits for what belongs to it.
  func awaitSidecars(of document: FoundDocument) throws {
    guard !sidecars.batches.isIdle else { return }
    if sidecars.batches.contains(where: { $0.document.identity == document.identity }) { throw WaitingForSidecars() }
  }

  /// What instances of a broker that died have left is cleared away, but for what belongs to databases.
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
          keepSidecars(
            of: document, id, names: [grant.name] + Sidecars.databases(in: folder), from: folder, through: left.area,
            owner: left.name, hold: isTaken ? nil : hold)
        }
        if isTaken, !sidecars.batches.contains(where: { $0.grant == id }) {
          keepTaken(of: document, id, in: left.area, owner: left.name, hold: hold)
        }
      }
      clean(left.name, left.remove)
    }
  }

  /// The broker ends: what is being put beside databases gets there first.
  func finishSidecars() {
    sidecars.requests = []
    while !sidecars.batches.isIdle {
      var wakeup = [PollEntry(lookups.wakeup.descriptor, .read)]
      guard (try? Poll.wait(&wakeup, timeout: .seconds(1))) != nil else { return }
      if !wakeup[0].returned.isEmpty { lookups.wakeup.clear() }
      continueErrands(now: Clock.monotonic())
    }
  }
}
