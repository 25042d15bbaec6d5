internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Documents that are opened with an app without its asking: given with its launch, or while it runs (`io.ambit.Opening`).
@BrokerLoop
final class OpeningService {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let locator: DocumentLocator
  private let places: OfferedPlaces
  private let handover: DocumentHandover
  private let scopes: ScopeService
  private let jobs: Jobs
  private let clock: any LoopClock
  /// Brings the content of a document that is elsewhere, before it is copied.
  var bring: (String) async throws -> Void = { _ in }

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ locator: DocumentLocator,
    _ places: OfferedPlaces, _ handover: DocumentHandover, _ scopes: ScopeService, _ jobs: Jobs,
    _ clock: any LoopClock
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.locator, self.places, self.handover, self.scopes) = (locator, places, handover, scopes)
    (self.jobs, self.clock) = (jobs, clock)
  }

  // MARK: With a launch

  /// Looks at the documents of a launch, before anything is made.
  func prepare(
    _ entries: [LauncherInterface.Given], _ documents: [Descriptor], for target: OpeningTarget
  ) async throws -> [PreparedOpening] {
    guard !entries.isEmpty else { return [] }
    guard entries.count == documents.count else { throw ErrorReply.invalidParameter("given") }
    let chosen = try await reachable(try await locator.examine(documents, "documents for a launch of \(target.app)"))
    for (index, (entry, each)) in zip(entries, chosen).enumerated() {
      try check(each, isFolder: entry.folder, target.rights(entry.access), for: target, index)
    }
    var copied = try await copies(
      zip(entries, chosen).filter { isCopied($0.0.how, target) }.map(\.1), for: target)
    struct Promise: Hashable {
      let document: FileIdentity
      let rights: AccessRights
    }
    var promised: [Promise: String] = [:]
    return try zip(entries, chosen).map { entry, each in
      if isCopied(entry.how, target) { return PreparedOpening(how: entry.how, outcome: .copy(copied.removeFirst())) }
      let rights = target.rights(entry.access)
      let promise = Promise(document: each.document.identity, rights: each.rights(of: rights))
      let id =
        try promised[promise]
        ?? grants.grant(for: promise.document, of: target.app, rights: promise.rights)?.id ?? Grant.makeID()
      promised[promise] = id
      return PreparedOpening(how: entry.how, outcome: .original(each, grant: id, rights: rights))
    }
  }

  /// The same documents, opened by this process. A launcher that prepares a launch has opened them in the user's mount namespace, and
  /// where the broker has one of its own, it can show no files of another.
  private func reachable(_ chosen: [Chosen]) async throws -> [Chosen] {
    guard !host.namespaces.isEmpty else { return chosen }
    let found = try await jobs.run(owner: "documents for a launch", subject: Grant.makeID()) { heartbeat in
      chosen.map { each -> Chosen? in
        guard heartbeat.beat(), let path = each.document.path, let own = try? Descriptor.open(path, flags: .path),
          let again = try? Chosen(own, at: path), again.document.identity == each.document.identity
        else { return nil }
        return again
      }
    }
    return try chosen.indices.map { index in
      guard let again = found?[index] else {
        throw LauncherInterface.Failure.notGiven(
          index: index,
          "the broker cannot reach it; stop the broker (ambit broker stop) if a volume was mounted since it began")
      }
      return again
    }
  }

  /// A launch begins: its documents are granted, and those that were given to it are started.
  func begin(_ prepared: [PreparedOpening], _ instance: Instance) throws {
    for each in prepared {
      switch each.outcome {
      case .copy(let path): offer(.init(copy: path, started: false), to: instance)
      case .original(let chosen, let id, let rights):
        let isGiven = each.how == .give
        var term = instance.term(at: clock.realtime)
        if isGiven { term.launch = instance.id }
        let handed = try handover.hand(
          [chosen], to: instance, .init(origin: .user, asked: rights, term: term, promised: [id]))[0]
        if isGiven {
          _ = try scopes.startNow(
            .init(scope: handed.message.scope, caller: "the user, for this launch"), by: .sandbox, for: instance,
            Location(handed.chosen, of: handed.grant))
        }
        offer(.init(document: handed.message, started: isGiven), to: instance)
      }
    }
  }

  // MARK: While it runs

  func open(
    _ request: LauncherInterface.OpenCall, _ documents: [Descriptor]
  ) async throws -> LauncherInterface.OpenReply {
    guard !documents.isEmpty else { throw ErrorReply.invalidParameter("app") }
    let instance = try running(request.app)
    let app = instance.app
    let target = OpeningTarget(app: app.bundleIdentifier, place: app.path, rules: app.rules)
    let chosen = try await locator.examine(documents, "documents for \(app.bundleIdentifier)")
    for (index, each) in chosen.enumerated() {
      try check(
        each, isFolder: target.packages.kind(of: each.document) == .folder, target.rights(request.access), for: target,
        index)
    }
    let isCopied = isCopied(.open, target)
    let copied = isCopied ? try await copies(chosen, for: target) : []
    guard sessions.isRunning(instance) else { throw LauncherInterface.Failure.notRunning("\(app.name) has just ended") }
    guard !isCopied else {
      for path in copied { offer(.init(copy: path, started: false), to: instance) }
      return .init(instance: instance.id, inPlace: false, paths: copied)
    }
    let handed = try handover.hand(
      chosen, to: instance,
      .init(origin: .user, asked: target.rights(request.access), term: instance.term(at: clock.realtime)))
    for each in handed { offer(.init(document: each.message, started: false), to: instance) }
    return .init(instance: instance.id, inPlace: true, paths: handed.map(\.message.path))
  }

  /// The newest launch of an app. Its name is its own choice, so it counts only where no launch and no app has it as identifier.
  private func running(_ app: String) throws -> Instance {
    let running = Array(sessions.instances.values)
    var named = running.filter { $0.id == app }
    if named.isEmpty { named = running.filter { $0.app.bundleIdentifier == app } }
    if named.isEmpty { named = running.filter { $0.app.name == app } }
    guard Set(named.map(\.app.bundleIdentifier)).count < 2 else {
      throw LauncherInterface.Failure.notRunning("several apps that run are called \(app)")
    }
    guard let newest = named.max(by: { $0.started < $1.started }) else {
      throw LauncherInterface.Failure.notRunning("no app called \(app) runs")
    }
    return newest
  }

  // MARK: The app's side

  func serve(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    if call.member == "Next" { return Answer(OpeningInterface.NextReply(opening: try await next(for: instance)).json) }
    try await discard(try OpeningInterface.DiscardCall(json: call.parameters).path, instance)
    return Answer([:])
  }

  /// The next document to open. Each is answered once.
  private func next(for instance: Instance) async throws -> OpeningInterface.Opening {
    guard instance.opening.waiting.isEmpty else { return instance.opening.waiting.removeFirst() }
    let wait = Wait<OpeningInterface.Opening>()
    instance.opening.asking.append(wait)
    defer { instance.opening.asking.removeAll { $0 === wait } }
    return try await wait.get()
  }

  private func offer(_ opening: OpeningInterface.Opening, to instance: Instance) {
    while let asking = instance.opening.asking.first {
      instance.opening.asking.removeFirst()
      if !asking.isOver { return asking.finish(opening) }
    }
    // The oldest are no news to an app that does not ask.
    instance.opening.waiting = instance.opening.waiting.suffix(Self.mostWaiting - 1) + [opening]
  }

  private static let mostWaiting = 256

  private func discard(_ path: String, _ instance: Instance) async throws {
    guard let name = path.path(within: Self.inbox), !name.isEmpty, !name.hasSlash, name != ".", name != ".." else {
      throw OpeningInterface.Failure.notInInbox("only something directly in \(Self.inbox) can be discarded")
    }
    let inbox = try Self.openInbox(host.openContainer(instance.app.bundleIdentifier))
    let done = try await jobs.run(owner: "inbox of \(instance.app.bundleIdentifier)", subject: name) { _ in
      Result { () throws(KernelError) in
        do throws(KernelError) { try inbox.removeFile(name) } catch {
          guard error.errno == .isDirectory || error.errno == .notPermitted else { throw error }
          try inbox.removeTree(name)
        }
      }
    }
    do { try (done ?? .failure(KernelError("unlinkat", name, errno: .timedOut))).get() } catch {
      throw OpeningInterface.Failure.notInInbox("\(name) cannot be discarded: \(error.errno.symbol)")
    }
  }

  // MARK: Copies

  /// Inside. Documents that the app gets as copies lie there, and it cannot write them (`OIP-2`).
  static let inbox = ScopeMounts.home.path(of: "Documents/Inbox")

  /// A plain program, which declares nothing, gets the original.
  private func isCopied(_ how: LauncherInterface.Given.How, _ target: OpeningTarget) -> Bool {
    how == .open && !target.opensInPlace
  }

  private static func openInbox(_ container: Descriptor?) throws(KernelError) -> Descriptor {
    guard let container else { throw KernelError("open", "container", errno: .noSuchFileOrDirectory) }
    let inbox = try Descriptor.open(
      "Documents/Inbox", below: container, flags: [.read, .directory, .noFollow], resolve: [.beneath, .noSymlinks])
    guard inbox.mount == container.mount else { throw KernelError("open", "Inbox", errno: .improperLink) }
    return inbox
  }

  /// Copies documents into the app's Inbox, all or none.
  ///
  /// - Returns: their paths in the app's container.
  private func copies(_ chosen: [Chosen], for target: OpeningTarget) async throws -> [String] {
    guard !chosen.isEmpty else { return [] }
    guard target.rules.inbox, let container = host.openContainer(target.app) else {
      throw LauncherInterface.Failure.notGiven(
        index: 0, "the app declares no document types in its Info.plist (CFBundleDocumentTypes)")
    }
    for (index, each) in chosen.enumerated() {
      do { try await bring(each.document.path ?? "") } catch let fault as ProviderFault {
        throw LauncherInterface.Failure.notGiven(index: index, fault.description)
      }
    }
    let inbox = try Self.openInbox(container)
    let items = chosen.map { ($0.document.descriptor, Grant.name(inside: $0.document.path ?? "document")) }
    let made = try await jobs.run(owner: "inbox of \(target.app)", subject: Grant.makeID()) { heartbeat in
      ItemCopy.all(
        items, into: inbox, owner: container, while: heartbeat.beat, beforeDisk: heartbeat.waitForDisk
      ).map { copies in
        copies.map { copy in (copy, try? InboxDocument.lastChange(of: copy.item)) }
      }
    }
    switch made {
    case .success(let copies):
      // Without such a note the app has to ask its user before it makes a document of it.
      for case (let copy, let changed?) in copies {
        guard let document = try? FoundDocument(copy.item) else { continue }
        try? grants.noteInInbox(document.identity, changed: changed, of: target.app)
      }
      try trail.decide(
        chosen.map { each in
          AuditEvent(
            .pick, .allowed, app: target.app, document: AuditEvent.Document(each.document),
            how: Grant.Origin.user.rawValue, rule: "OIP-1",
            detail: [
              AuditEvent.Fact.mode: PickerInterface.Mode.import.rawValue,
              AuditEvent.Fact.documentKind: target.packages.kind(of: each.document).rawValue,
            ])
        })
      return copies.map { Self.inbox.path(of: $0.0.name) }
    case .failure(let error): throw LauncherInterface.Failure.notGiven(index: 0, "it cannot be copied: \(error)")
    case nil: throw LauncherInterface.Failure.notGiven(index: 0, "copying it made no progress")
    }
  }

  // MARK: -

  private func check(
    _ chosen: Chosen, isFolder: Bool, _ rights: AccessRights, for target: OpeningTarget, _ index: Int
  ) throws {
    let document = chosen.document
    let kind = target.packages.kind(of: document)
    var refusal: Refusal?
    if (kind == .folder) != isFolder {
      refusal = Refusal(
        rule: "PCK-26",
        reason: isFolder ? "it is no folder; use --give or --give-read" : "it is a folder; use --give-folder")
    } else if let reason = places.refusal(of: kind, at: document.path, for: target.app) ?? chosen.unreadable {
      refusal = Refusal(rule: "SBX-15", reason: reason)
    } else if rights == .readWrite,
      let reason = OwnFiles.refusal(ofWriting: document.descriptor, at: document.path, own: target.place)
    {
      refusal = Refusal(rule: "SBX-15", reason: reason)
    } else {
      refusal = DocumentRules(target.rules).refusal(
        ofFolder: kind == .folder, named: (document.path ?? "").lastPathName)
    }
    guard let refusal else { return }
    try trail.decide([
      AuditEvent(
        .grant, .refused, app: target.app, document: AuditEvent.Document(document), how: Grant.Origin.user.rawValue,
        rule: refusal.rule, reason: refusal.reason)
    ])
    throw LauncherInterface.Failure.notGiven(index: index, refusal.reason)
  }
}

/// Documents that were opened with an instance.
struct InstanceOpenings {
  /// Those that it has not asked for yet.
  var waiting: [OpeningInterface.Opening] = []
  /// The app's calls that wait for one.
  var asking: [Wait<OpeningInterface.Opening>] = []
}
