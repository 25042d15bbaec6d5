internal import Audit
internal import Kernel
internal import ScopedAccess

/// A reference that goes with its grant.
struct RemovedReference {
  /// That it was for.
  let grant: String
  let answer: Followed?
}

/// References and the grants behind them end together: with the grant its references go, and with the last reference the grant
/// that nothing else needs (`REF-7`).
extension Broker {
  /// Removes the references to grants that have ended. One that the app has renamed is recognised by its file, one that it has copied
  /// by its name; any other is of no use any more, and stays. An app decides how much there is to look through, so a thread does.
  func removeReferences(to ended: [Grant]) {
    for grant in ended {
      references.add(.init(grant: grant.id, answer: followed()), of: grant.bundleIdentifier)
    }
    for app in Set(ended.map(\.bundleIdentifier)) { beginRemoving(app) }
  }

  /// The same for what a broker that died has left.
  func removeReferencesLeft() {
    removeReferences(to: (try? grants.endedWithReferences()) ?? [])
  }

  private func beginRemoving(_ app: String) {
    guard let pieces = references.begin(app) else { return }
    let gone = Set(pieces.map(\.grant))
    let container = try? Descriptor.open(app, below: containers(), flags: [.read, .directory, .noFollow])
    let key = key
    errands.add(owner: "references of \(app)", subject: "references") { pulse in
      FaultPoint.referencesDue.hold()
      FaultPoint.referencesDue.pass()
      guard let container else { return true }
      var walk = ContainerWalk(budget: 2_000_000, while: pulse.beat)
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
      self.references.end(app)
      self.beginRemoving(app)
      for piece in pieces { piece.answer?.isDone() }
    }
    beginErrands(now: Clock.monotonic())
  }

  /// Ends the grants of an app whose last reference it has deleted, unless a bookmark or another grant was made of them. Looked at
  /// when nothing of the app runs: while it does, it may be moving one.
  func endForsaken(of app: String) {
    guard !isPresent(app), let held = try? grants.heldByReferences(of: app), !held.isEmpty,
      let container = try? Descriptor.open(app, below: containers(), flags: [.read, .directory, .noFollow])
    else { return }
    let inodes = Set(held.values.joined())
    let key = key
    // An app decides how much there is to look through.
    errands.add(owner: app, subject: "references") { pulse -> Set<String>? in
      var missing = Set(held.keys)
      var walk = ContainerWalk(while: pulse.beat)
      let isComplete = walk.run(from: container) { folder, entry in
        // By its file as well: an app may give a reference any name.
        guard Self.mayBeReference(entry) || inodes.contains(entry.inode),
          let grant = Self.grant(ofReference: entry.name, in: folder, app: app, key)
        else { return }
        missing.remove(grant)
      }
      // What was not looked at may hold one.
      return isComplete ? missing : nil
    } then: { found in
      guard let missing = found ?? nil, !missing.isEmpty, !self.isPresent(app) else { return }
      let forsaken = missing.sorted().compactMap { try? self.grants.grant($0) ?? nil }.filter { $0.revoked == nil }
      _ = try? self.end(
        forsaken,
        GrantEnding(how: "reference", rule: "REF-7", reason: "the app deleted its last reference to the document"))
    }
    beginErrands(now: Clock.monotonic())
  }

  private func isPresent(_ app: String) -> Bool {
    instances.values.contains { $0.app.bundleIdentifier == app }
      || prepared.values.contains { $0.bundleIdentifier == app }
  }
}
