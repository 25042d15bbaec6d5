internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Handles of a document that apps still have after its scope has ended (`TOK-16`).
@BrokerLoop
final class LeakDetector {
  private let sessions: SessionTable
  private let trail: AuditTrail

  init(_ sessions: SessionTable, _ trail: AuditTrail) {
    (self.sessions, self.trail) = (sessions, trail)
  }

  /// The findings about one document.
  private struct Outlived {
    var holds: [Hold] = []
    /// There was more than could be looked at.
    var isComplete = true
    /// Launches with sockets that have descriptors in them, which may be of it.
    var sends: [Instance] = []
    /// Launches that have something of it, or may.
    var suspects: [Instance] = []
  }

  /// The uses of a document that stay open after it was taken away, and its watchers, are written down with the access that they
  /// give, and ended with the app where its policy says so.
  ///
  /// - Parameters:
  ///   - held: as ``ActiveScopes/hide(_:_:atOnce:)`` answers it.
  ///   - instance: the launch whose scope has ended; it may be over itself.
  ///   - time: for the searches of all documents that end together. Without any left the findings are incomplete.
  func outlived(
    _ held: Held, _ document: FoundDocument?, _ grant: Grant?, _ instance: Instance, within time: SearchTime
  ) -> (holds: [Hold], killed: Bool) {
    let watched = sessions.watchingApps.contains(instance.app.bundleIdentifier)
    guard held.mount != nil || held.isElsewhere || watched, let document else { return ([], false) }
    let found = search(held, document, instance, watched: watched, within: time)
    if found.holds.isEmpty, found.isComplete, found.sends.isEmpty {
      // A mount in a folder keeps it in use as well, and the kernel does not tell one from the other.
      guard let mount = held.mount, mount.inner.isEmpty else { return ([], false) }
    }
    #if AMBIT_MUTANTS
      let ends = instance.app.rules.endsOutlived && !Mutant.strictSpares.isActive
    #else
      let ends = instance.app.rules.endsOutlived
    #endif
    #if AMBIT_MUTANTS
      if Mutant.leakUnnamed.isActive { return (found.holds, false) }
    #endif
    var holders = found.holds.map(\.description)
    holders += found.sends.filter { $0 !== instance }.map { "descriptors on their way in launch \($0.id)" }
    if holders.isEmpty { holders = ["a descriptor on its way"] }
    var detail = [AuditEvent.Fact.holders: holders.joined(separator: "; ")]
    if !found.isComplete { detail["more"] = "true" }
    trail.record(
      AuditEvent(
        .outlived, ends ? .refused : .allowed, instance, grant: grant, document: document, rule: "TOK-16",
        reason: ends ? "the app is ended" : "what is open stays so until it is closed", detail: detail))
    let name = grant?.name ?? "a document"
    var killed = ends
    // Not only the processes that were found: each may have sent its descriptors to another a moment ago.
    if ends { end(instance, because: "it still had \(name) open after its scope had ended") }
    for other in found.suspects where ends || other.app.rules.endsOutlived {
      killed = true
      end(other, because: "it still had \(name) open after the scope of another launch of the app had ended")
    }
    return (found.holds, killed)
  }

  private func end(_ instance: Instance, because reason: String) {
    guard !instance.process.processHasEnded else { return }
    instance.ending.reason = reason
    try? instance.process.signalProcess(SIGKILL)
  }

  /// Looks through the launch whose scope has ended, and through all others where something of the document is in use: descriptors can
  /// be sent through a socket in a container, which all launches of an app share.
  private func search(
    _ held: Held, _ document: FoundDocument, _ instance: Instance, watched: Bool, within time: SearchTime
  ) -> Outlived {
    var all = Outlived()
    if let table = instance.sandbox.table.folder, !instance.process.processHasEnded {
      let watches = watched && !reaches(document, instance)
      // A mapped file keeps its mount in use.
      let question = HeldFiles.Question(
        mount: held.mount, anyMount: held.isElsewhere, mappings: held.mount != nil || held.isElsewhere,
        watches: watches,
        sends: watches)
      let found = HeldFiles(table, within: time).holds(question, of: document.descriptor)
      all.holds = found.holds
      all.isComplete = found.isComplete
      if found.sends { all.sends.append(instance) }
    }
    guard held.mount != nil || watched else { return all }
    let others = sessions.instances.values.filter { $0 !== instance }.sorted { $0.id < $1.id }
    for other in others where other.app.bundleIdentifier == instance.app.bundleIdentifier {
      let reaches = reaches(document, other)
      // A mapping tells its file and not its mount. Where it may be of a mount of its own, it is looked for when that one goes.
      if reaches, held.mount != nil { other.scopes.elsewhere.insert(document.identity) }
      let question = HeldFiles.Question(
        mount: held.mount, mappings: held.mount != nil && !reaches, watches: watched && !reaches, sends: true)
      look(question, document, in: other, &all, within: time)
    }
    // Another app has no way to it but one that its user makes, as by a socket for a standard stream.
    guard held.mount != nil, all.holds.isEmpty, all.sends.isEmpty else { return all }
    for other in others where other.app.bundleIdentifier != instance.app.bundleIdentifier {
      look(.init(mount: held.mount, mappings: false), document, in: other, &all, within: time)
    }
    return all
  }

  private func look(
    _ question: HeldFiles.Question, _ document: FoundDocument, in other: Instance, _ all: inout Outlived,
    within time: SearchTime
  ) {
    guard let table = other.sandbox.table.folder, question.mount != nil || question.watches else { return }
    let found = HeldFiles(table, within: time).holds(question, of: document.descriptor)
    for var hold in found.holds {
      hold.instance = other.id
      all.holds.append(hold)
    }
    // For an app that has no way to it only the findings count.
    let mayHave = question.sends && (found.sends || !found.isComplete)
    if question.sends, found.sends { all.sends.append(other) }
    if question.sends, !found.isComplete { all.isComplete = false }
    if !found.holds.isEmpty || mayHave { all.suspects.append(other) }
  }

  /// Whether a launch has the document by a scope that is still active: the same file, or a folder that it lies in.
  private func reaches(_ document: FoundDocument, _ instance: Instance) -> Bool {
    if instance.scopes.shown.isEmpty { return false }
    let path = document.descriptor.currentPath
    return instance.scopes.shown.values.contains { other in
      if other.identity == document.identity { return true }
      guard other.kind == .folder, let path, let place = other.descriptor.currentPath else { return false }
      return path.lies(within: place)
    }
  }
}

extension Hold: CustomStringConvertible {
  /// “process 7 can read and write, mapped”, “process 7 of launch 4f2… watches it”.
  public var description: String {
    var rights: [String] = []
    if reads { rights.append("read") }
    if writes { rights.append("write") }
    if folder { rights.append("open what is in the folder\(changesFolder ? " and change it" : " for reading")") }
    let subject = "process \(process)" + (instance.map { " of launch \($0)" } ?? "")
    if rights.isEmpty, watches { return "\(subject) watches it" }
    return "\(subject) can \(rights.joined(separator: " and "))\(mapped ? ", mapped" : "")"
      + (watches ? ", and watches it" : "")
  }
}
