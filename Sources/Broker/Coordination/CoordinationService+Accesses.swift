internal import BrokerCore
internal import Coordination
internal import FileProviders
internal import Folders
internal import Kernel
internal import Paths
internal import Wire

/// Coordinated accesses: asked for, granted to a connection, ended.
extension CoordinationService {
  func access(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) throws -> Course {
    let wish = try wish(call, on: connection, for: instance)
    if mayBeElsewhere(wish.intents) {
      return .waits {
        try await self.bringContents(of: wish.intents, for: instance)
        // Meanwhile it may have been withdrawn or moved.
        return try await self.answer(self.begin(try self.wish(call, on: connection, for: instance)))
      }
    }
    let access = begin(wish)
    if let outcome = access.wait.present { return .done(try answer(access, outcome)) }
    return .waits { try await self.answer(access) }
  }

  /// An access that its client may have, as far as it does not collide with others.
  private struct Wish {
    let call: CheckedCall
    let connection: WireConnection
    let instance: Instance?
    let request: CoordinationInterface.AccessCall
    let party: Party
    var items: [NamedItem] = []
    var intents: [Intent] = []
    let room: Int
  }

  private func wish(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) throws -> Wish {
    let request = try CoordinationInterface.AccessCall(json: call.parameters)
    // A user's copy of many files is one access.
    let most = instance == nil ? 256 : 64
    guard (1...most).contains(request.intents.count) else {
      throw CoordinationInterface.Failure.crowded("an access has 1 to \(most) items")
    }
    var wish = Wish(
      call: call, connection: connection, instance: instance, request: request,
      party: party(call, instance, purpose: request.purpose, caller: request.caller),
      room: CoordinationRoom.bytes(of: request.intents.map(\.path)))
    try checkRoom(for: request.intents.count, wish.room, on: connection, of: instance)
    for intent in request.intents {
      let use = try Self.use(intent)
      let item: NamedItem
      do { item = try items.item(intent.path, for: instance) } catch {
        trail.refused(intent, wish.party, instance, grant: nil, rule: "SBX-2", "it has not been given this item")
        throw error
      }
      guard intent.use == .read || item.mayWrite else {
        trail.refused(
          intent, wish.party, instance, grant: item.grant, rule: "TOK-14", "it was given for reading only")
        throw CoordinationInterface.Failure.readOnly(path: intent.path)
      }
      wish.items.append(item)
      wish.intents.append(Intent(item.item, use))
    }
    try checkCapabilities(of: wish.intents)
    return wish
  }

  private func begin(_ wish: Wish) -> Access {
    let rules = wish.instance?.app.rules
    let asking = Coordination.Request(
      client: client(wish.call, wish.instance), party: wish.party, intents: wish.intents,
      parents: parents(wish.request, wish.instance), isPreparation: wish.request.prepares ?? false,
      patience: Self.patience(wish.request.patience, rules), silence: rules?.passesSilent == true ? .proceed : .refuse)
    let id = takeID()
    let access = Access(
      id, asking, wish.items, names: wish.request.intents.map(\.path), on: wish.connection, of: wish.instance,
      room: wish.room, arrived: clock.monotonic)
    table.add(access)
    apply(.request(id, asking))
    return access
  }

  private func answer(_ access: Access) async throws -> Answer { try answer(access, try await access.wait.get()) }

  private func answer(_ access: Access, _ outcome: Outcome) throws -> Answer {
    switch outcome {
    case .granted(let paths):
      let (items, intents) = (access.items, access.request.intents)
      let isAwaited = items.count == 1 && items[0].isLeased && intents[0].isWrite && leased.isAwaited(paths[0])
      // An item that the client does not see any more has the path that it asked for, and never that of a folder around it.
      var told: [String] = []
      for (index, path) in paths.enumerated() {
        told.append(items[index].mapping.client(path) ?? access.names[index])
      }
      return Answer(CoordinationInterface.AccessReply(access: access.id, paths: told, staged: isAwaited ? true : nil))
    case .refused(let refusal): throw failure(refusal)
    case .unrecorded(let reason): throw StateError(reason)
    }
  }

  /// What a provider does not let be done with its document is refused.
  private func checkCapabilities(of intents: [Intent]) throws {
    guard let contents else { return }
    for intent in intents {
      let path = intent.item.path.text
      guard contents.mayBeElsewhere(path) else { continue }
      let needed: [ProviderItem.Capabilities] =
        switch intent.use {
        case .read(let options): options.contains(.immediatelyAvailableMetadataOnly) ? [] : [.reading]
        case .write(let options):
          options.contains(.forDeleting)
            ? [.deleting]
            : options.contains(.forMoving) ? [.renaming, .reparenting] : [.writing]
        }
      guard !needed.isEmpty, needed.allSatisfy({ contents.lacks($0, path) }) else { continue }
      throw CoordinationInterface.Failure.notProvided(
        error: "notPermitted", "the provider of “\(path.lastPathName)” does not allow it (\(needed[0]))")
    }
  }

  private func mayBeElsewhere(_ intents: [Intent]) -> Bool {
    guard let contents else { return false }
    for intent in intents where contents.mayBeElsewhere(intent.item.path.text) { return true }
    return false
  }

  /// What is only replaced or deleted, and what is asked for as it is, is not brought.
  private func bringContents(of intents: [Intent], for instance: Instance?) async throws {
    guard let contents else { return }
    for intent in intents {
      switch intent.use {
      case .read(let options) where options.contains(.immediatelyAvailableMetadataOnly):
        try await contents.refreshPlaceholder(intent.item.path.text)
        continue
      case .write(let options) where options.contains(.forReplacing) || options.contains(.forDeleting): continue
      default: break
      }
      var tries = 0
      while true {
        do {
          try await contents.bring(intent.item.path.text)
          break
        } catch let fault as ProviderFault {
          // A missing sign-in is asked for in place (`PRV-14`).
          tries += 1
          if tries < 3, let instance, try await mend(fault, instance) { continue }
          throw CoordinationInterface.Failure.notProvided(error: fault.word, fault.description)
        }
      }
    }
  }

  func granted(_ id: Int, on connection: WireConnection) throws -> Access {
    guard let access = accesses[id], access.connection === connection, access.isGranted else {
      throw CoordinationInterface.Failure.notYours
    }
    return access
  }

  /// Only what is written in the access may have been moved: others' presenters follow it.
  func moved(_ request: CoordinationInterface.MovedCall, on connection: WireConnection, of instance: Instance?) throws {
    let access = try granted(request.access, on: connection)
    let from = try items.item(request.from, for: instance)
    let to = try items.item(request.to, for: instance)
    let intents = access.request.intents + (arbiter.entries[request.access]?.request.intents ?? [])
    guard intents.contains(where: { $0.isWrite && from.item.path.text.lies(within: $0.item.path.text) }) else {
      throw CoordinationInterface.Failure.notKnown(path: request.from)
    }
    guard to.mayWrite else { throw CoordinationInterface.Failure.readOnly(path: request.to) }
    guard access.moves.count < Self.mostMovesOfAccess else {
      throw CoordinationInterface.Failure.crowded("an access has \(Self.mostMovesOfAccess) moves at most")
    }
    access.moves.insert(.moved(from.item.path, to: to.item.path))
    noteMove(from.item.path, to.item.path, in: request.access)
    apply(.moved(from.item.path, to: to.item.path, by: request.access))
  }

  /// Ends an access, whether or not it was granted.
  func finish(_ id: Int) {
    guard let access = accesses[id] else { return }
    guard access.isGranted else { return apply(.cancel(id, by: .caller)) }
    // Changes until now are its own.
    if access.request.isWrite {
      files.drain()
      let written = access.request.intents.filter(\.isWrite)
      let places = written.map(\.item.path) + (arbiter.entries[id]?.request.intents.map(\.item.path) ?? [])
      for observe in writeObservers { observe(places) }
    }
    for path in remaining(id) { apply(.kept(id, path)) }
    apply(.done(id))
    for intent in access.request.intents { onEnded(intent.item.path.text) }
  }

  /// Whether an access has the item.
  func isUsed(_ path: String) -> Bool {
    accesses.values.contains { access in access.request.intents.contains { $0.item.path.text == path } }
  }

  /// Items that it was to delete, and did not: only those that a presenter has to hear of are looked for.
  private func remaining(_ id: Int) -> [PathKey] {
    guard !presenters.isEmpty, let entry = arbiter.entries[id] else { return [] }
    return entry.request.intents.compactMap { intent in
      guard case .write(let options) = intent.use, options.contains(.forDeleting),
        (try? Descriptor.open(intent.item.path.text, flags: .place, resolve: .noSymlinks)) != nil
      else { return nil }
      return intent.item.path
    }
  }

  // MARK: Bounds

  private static let mostMovesOfAccess = 1024
  /// Nanoseconds that the user's side waits for others, which no policy rules.
  nonisolated static let userPatience: Int64 = 30_000_000_000
  /// Nanoseconds of a year: a client's own word for the same.
  private nonisolated static let longestPatience: Int64 = 365 * 86_400 * 1_000_000_000

  /// - Parameters:
  ///   - count: of new items.
  ///   - bytes: that they take.
  func checkRoom(for count: Int, _ bytes: Int, on connection: WireConnection, of instance: Instance?) throws {
    guard table.room.has(count, bytes, on: connection, of: instance) else {
      throw CoordinationInterface.Failure.crowded("too many accesses and presenters at once")
    }
  }

  private nonisolated static func use(_ intent: CoordinationInterface.Intent) throws -> Intent.Use {
    switch intent.use {
    case .read:
      guard let options = ReadingOptions(names: intent.options, CoordinationInterface.readingOptions) else { break }
      return .read(options)
    case .write:
      guard let options = WritingOptions(names: intent.options, CoordinationInterface.writingOptions) else { break }
      return .write(options)
    }
    throw ErrorReply.invalidParameter("options")
  }

  /// - Parameter wanted: nanoseconds, by the client.
  private nonisolated static func patience(_ wanted: Int?, _ rules: LauncherInterface.GrantRules?) -> Int64? {
    // No number that a client sends may overflow when it is added to a time.
    let wanted = wanted.map { min(longestPatience, Int64(max(0, $0))) }
    guard let rules else { return wanted ?? userPatience }
    guard let wanted, let allowed = patience(rules) else { return wanted ?? patience(rules) }
    return min(wanted, allowed)
  }

  /// The policy's, in nanoseconds.
  nonisolated static func patience(_ rules: LauncherInterface.GrantRules) -> Int64? {
    rules.patience.map { min(longestPatience / 1_000_000_000, Int64(max(0, $0))) * 1_000_000_000 }
  }

  // MARK: The asking side

  /// Only accesses and questions of the same app count.
  private func parents(
    _ request: CoordinationInterface.AccessCall, _ instance: Instance?
  ) -> [Coordination.Request.Parent] {
    if request.within == nil, request.answering == nil { return [] }
    let within = (request.within ?? []).prefix(64).filter { accesses[$0]?.instance === instance && accesses[$0] != nil }
    let answering = (request.answering ?? []).prefix(64).filter { number in
      arbiter.questions[number].map { presenters[$0.presenter]?.instance === instance } ?? false
    }
    return within.map { .access($0) } + answering.map { .question($0) }
  }

  /// Two apps never share a purpose: otherwise one would not be kept out by the other.
  func party(_ call: CheckedCall, _ instance: Instance?, purpose: String, caller: String?) -> Party {
    let app = instance?.app.bundleIdentifier ?? (caller ?? "host").cut(toBytes: 200)
    return Party(
      app: app, process: call.call.sender?.pid ?? instance?.pid ?? 0,
      purpose: "\(instance?.app.bundleIdentifier ?? "")\n\(purpose.cut(toBytes: 200))")
  }

  func client(_ call: CheckedCall, _ instance: Instance?) -> Int {
    let (id, isNew) = table.client(.init(instance: instance?.id, pid: call.call.sender?.pid ?? 0))
    // It may have been suspended before it had a number (`COO-23`).
    if isNew, instance?.isSuspended == true { apply(.suspend(id)) }
    return id
  }

  func takeID() -> Int { table.takeID() }
}
