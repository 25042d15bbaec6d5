internal import Audit
internal import BrokerCore
internal import Coordination
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// File coordination (`io.ambit.Coordination`): carries out the arbiter's decisions. One arbiter serves all apps and the user's side.
///
/// An access and a presenter live as long as their connection; that of a process that died closes at once.
@BrokerLoop
final class CoordinationService: LoopMember {
  private(set) var arbiter = Arbiter()
  private let items: CoordinatedItems
  private let trail: CoordinationTrail
  private let files: PresentedFiles
  private let leased: LeasedDocuments
  let clock: any LoopClock
  var accesses: [Int: Access] = [:]
  private(set) var presenters: [Int: Presented] = [:]
  private var clients: [Client: Int] = [:]
  private var nextID = 1
  /// Inputs that came while effects were carried out.
  private var inputs: [Input] = []
  private var isApplying = false
  /// Told of the items that a coordinated access has written, before it ends (`MDQ-7`).
  var onWritten: ([PathKey]) -> Void = { _ in }

  private static let mostOfConnection = 64
  private static let mostOfInstance = 1024
  /// Nanoseconds that the user's side waits for others, which no policy rules.
  private static let userPatience: Int64 = 30_000_000_000
  /// Nanoseconds of a year: a client's own word for the same.
  private static let longestPatience: Int64 = 365 * 86_400 * 1_000_000_000

  /// A process of an instance, or of the user's.
  private struct Client: Hashable {
    let instance: String?
    let pid: Int32
  }

  /// An access that is not over.
  struct Access {
    /// `nil`: a program that coordinates nothing waits in `open(2)`.
    let connection: WireConnection?
    let instance: Instance?
    let party: Party
    let request: Coordination.Request
    let items: [NamedItem]
    let wait: Wait<Outcome>
    var isGranted = false
    /// The presenters that were asked, as the log has them.
    var asked: [String] = []
    /// Earlier accesses that it went before.
    var overtaken: [String] = []
    /// Moves that its own side has told of.
    var moves: Set<PresentedFiles.Event> = []
    /// Nanoseconds of CLOCK_MONOTONIC.
    let arrived: Int64
    var granted: Int64?
    /// The facts by which it is decided, for the log and for the user.
    var arbitration: InspectorInterface.Arbitration
    var toldMoves: [InspectorInterface.ItemMove] = []
  }

  enum Outcome {
    case granted([PathKey])
    case refused(Refusal)
    /// It could not be written down.
    case unrecorded(String)
  }

  struct Presented {
    let connection: WireConnection
    let instance: Instance?
    let party: Party
    var item: NamedItem
    let messages: Subscription<CoordinationInterface.PresentReply>
    var hasUnsavedChanges: Bool
    let since: Int64
  }

  init(
    _ items: CoordinatedItems, _ trail: CoordinationTrail, _ files: PresentedFiles, _ leased: LeasedDocuments,
    _ clock: any LoopClock
  ) {
    (self.items, self.trail, self.files, self.leased, self.clock) = (items, trail, files, leased, clock)
    files.onEvent = { self.noticed($0) }
    leased.onOpen = { self.opened($0, writes: $1) }
    leased.onHeld = { self.closed($0) }
  }

  /// - Parameter instance: `nil`: the user's side.
  /// - Returns: `nil`: further answers are messages.
  func serve(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) async throws -> Answer? {
    switch call.member {
    case "Access": return Answer(try await access(call, on: connection, for: instance))
    case "Done":
      let id = try CoordinationInterface.DoneCall(json: call.parameters).access
      _ = try granted(id, on: connection)
      finish(id)
    case "Moved":
      let request = try CoordinationInterface.MovedCall(json: call.parameters)
      _ = try granted(request.access, on: connection)
      let from = try items.item(request.from, for: instance)
      let to = try items.item(request.to, for: instance)
      accesses[request.access]?.moves.insert(.moved(from.item.path, to: to.item.path))
      noteMove(from.item.path, to.item.path, in: request.access)
      apply(.moved(from.item.path, to: to.item.path, by: request.access))
    case "Present":
      try present(call, on: connection, for: instance)
      return nil
    case "Answer":
      let request = try CoordinationInterface.AnswerCall(json: call.parameters)
      guard let asked = arbiter.questions[request.question],
        presenters[asked.presenter]?.instance === instance
      else { throw CoordinationInterface.Failure.notYours }
      noteEnd(of: request.question, request.error == nil ? .answered : .failed)
      apply(.answer(request.question, error: request.error.map { String($0.prefix(400)) }))
    default:
      let request = try CoordinationInterface.UnsavedCall(json: call.parameters)
      guard let presenter = presenters[request.presenter], presenter.instance === instance else {
        throw CoordinationInterface.Failure.notYours
      }
      presenters[request.presenter]?.hasUnsavedChanges = request.unsaved
      if presenter.item.grant != nil {
        leased.present(request.presenter, presenter.item.item.path, unsaved: request.unsaved && presenter.item.mayWrite)
      }
    }
    return Answer([:])
  }

  private func granted(_ id: Int, on connection: WireConnection) throws -> Access {
    guard let access = accesses[id], access.connection === connection, access.isGranted else {
      throw CoordinationInterface.Failure.notYours
    }
    return access
  }

  // MARK: Accesses

  private func access(
    _ call: CheckedCall, on connection: WireConnection, for instance: Instance?
  ) async throws -> CoordinationInterface.AccessReply {
    let request = try CoordinationInterface.AccessCall(json: call.parameters)
    // A user's copy of many files is one access.
    let most = instance == nil ? 256 : 64
    guard (1...most).contains(request.intents.count) else {
      throw CoordinationInterface.Failure.crowded("an access has 1 to \(most) items")
    }
    try checkRoom(on: connection, for: instance)
    var named: [NamedItem] = []
    var intents: [Intent] = []
    let party = party(call, instance, purpose: request.purpose, caller: request.caller)
    for intent in request.intents {
      let use = try Self.use(intent)
      let item: NamedItem
      do { item = try items.item(intent.path, for: instance) } catch {
        trail.refused(intent, party, instance, grant: nil, rule: "SBX-2", "it has not been given this item")
        throw error
      }
      guard intent.use == .read || item.mayWrite else {
        trail.refused(intent, party, instance, grant: item.grant, rule: "TOK-14", "it was given for reading only")
        throw CoordinationInterface.Failure.readOnly(path: intent.path)
      }
      named.append(item)
      intents.append(Intent(item.item, use))
    }
    let rules = instance?.app.rules
    let asking = Coordination.Request(
      client: client(call, instance), party: party, intents: intents, parents: parents(request, instance),
      isPreparation: request.prepares ?? false,
      patience: Self.patience(request.patience, rules), silence: rules?.passesSilent == true ? .proceed : .refuse)
    let id = takeID()
    let access = Access(
      connection: connection, instance: instance, party: party, request: asking, items: named, wait: Wait(),
      arrived: clock.monotonic, arbitration: Self.arbitration(asking, arrived: clock.monotonic))
    accesses[id] = access
    apply(.request(id, asking))
    switch try await access.wait.get() {
    case .granted(let paths):
      let isAwaited = named.count == 1 && named[0].grant != nil && intents[0].isWrite && leased.isAwaited(paths[0])
      return .init(
        access: id, paths: zip(paths, named).map { path, item in item.mapping.client(path) ?? item.mapping.inside },
        staged: isAwaited ? true : nil)
    case .refused(let refusal): throw failure(refusal)
    case .unrecorded(let reason): throw StateError(reason)
    }
  }

  private func checkRoom(on connection: WireConnection, for instance: Instance?) throws {
    var (ofConnection, ofInstance) = (0, 0)
    for access in accesses.values {
      if access.connection === connection { ofConnection += 1 }
      if access.instance === instance { ofInstance += 1 }
    }
    for presenter in presenters.values where presenter.instance === instance { ofInstance += 1 }
    guard ofConnection < Self.mostOfConnection, ofInstance < Self.mostOfInstance else {
      throw CoordinationInterface.Failure.crowded("too many accesses and presenters at once")
    }
  }

  private static func use(_ intent: CoordinationInterface.Intent) throws -> Intent.Use {
    switch intent.use {
    case .read:
      guard let options = ReadingOptions(names: intent.options, ReadingOptions.words) else { break }
      return .read(options)
    case .write:
      guard let options = WritingOptions(names: intent.options, WritingOptions.words) else { break }
      return .write(options)
    }
    throw ErrorReply.invalidParameter("options")
  }

  /// - Parameter wanted: nanoseconds, by the client.
  private static func patience(_ wanted: Int?, _ rules: LauncherInterface.GrantRules?) -> Int64? {
    // No number that a client sends may overflow when it is added to a time.
    let wanted = wanted.map { min(longestPatience, Int64(max(0, $0))) }
    guard let rules else { return wanted ?? userPatience }
    let most = rules.patience.map { Int64($0) * 1_000_000_000 }
    return [wanted, most].compactMap(\.self).min()
  }

  /// Only accesses and questions of the same app count.
  private func parents(
    _ request: CoordinationInterface.AccessCall, _ instance: Instance?
  ) -> [Coordination.Request.Parent] {
    let within = (request.within ?? []).prefix(64).filter { accesses[$0]?.instance === instance && accesses[$0] != nil }
    let answering = (request.answering ?? []).prefix(64).filter { number in
      arbiter.questions[number].map { presenters[$0.presenter]?.instance === instance } ?? false
    }
    return within.map { .access($0) } + answering.map { .question($0) }
  }

  /// Two apps never share a purpose: otherwise one would not be kept out by the other.
  private func party(_ call: CheckedCall, _ instance: Instance?, purpose: String, caller: String?) -> Party {
    let app = instance?.app.bundleIdentifier ?? String((caller ?? "host").prefix(200))
    return Party(
      app: app, process: call.call.sender?.pid ?? instance?.pid ?? 0,
      purpose: "\(instance?.app.bundleIdentifier ?? "")\n\(purpose.prefix(200))")
  }

  private func client(_ call: CheckedCall, _ instance: Instance?) -> Int {
    let key = Client(instance: instance?.id, pid: call.call.sender?.pid ?? 0)
    if let id = clients[key] { return id }
    let id = takeID()
    clients[key] = id
    return id
  }

  private func takeID() -> Int {
    defer { nextID += 1 }
    return nextID
  }

  // MARK: Presenters

  private func present(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) throws {
    let request = try CoordinationInterface.PresentCall(json: call.parameters)
    try checkRoom(on: connection, for: instance)
    let item = try items.item(request.path, for: instance)
    let party = party(call, instance, purpose: request.purpose, caller: nil)
    let id = takeID()
    let lost = CoordinationInterface.PresentReply(message: .init(kind: .lost))
    let presented = Presented(
      connection: connection, instance: instance, party: party, item: item,
      messages: Subscription(connection, lost: lost), hasUnsavedChanges: request.unsaved ?? false,
      since: clock.monotonic)
    presenters[id] = presented
    apply(
      .addPresenter(id, Presenter(client: client(call, instance), party: party, item: item.item)))
    files.add(id, item.item.path)
    // What lies in a container is saved there, and not by the broker.
    // An app that may only read has nothing to save, and keeps no reader waiting.
    if item.grant != nil { leased.present(id, item.item.path, unsaved: item.mayWrite && request.unsaved == true) }
    // From here on it misses nothing (`COO-21`).
    presented.messages.send(.init(message: .init(kind: .presenting, presenter: id)))
  }

  // MARK: Ends

  /// A connection has closed: its process has let go, or died.
  func left(_ connection: WireConnection) {
    for (id, access) in accesses where access.connection === connection {
      finish(id)
    }
    for (id, presenter) in presenters where presenter.connection === connection { leave(id) }
  }

  /// A launch is over.
  func ended(_ instance: Instance) {
    for (id, presenter) in presenters where presenter.instance === instance { leave(id) }
    for (id, access) in accesses where access.instance === instance {
      finish(id)
    }
    clients = clients.filter { $0.key.instance != instance.id }
  }

  /// A launch is suspended: its presenters hold nobody up, and its waiting accesses are cancelled (`COO-22`, `COO-23`).
  func suspended(_ instance: Instance) {
    for (client, id) in clients where client.instance == instance.id { apply(.suspend(id)) }
  }

  func resumed(_ instance: Instance) {
    for (client, id) in clients where client.instance == instance.id { apply(.resume(id)) }
  }

  /// Ends an access, whether or not it was granted.
  private func finish(_ id: Int) {
    guard let access = accesses[id] else { return }
    guard access.isGranted else { return apply(.cancel(id, by: .caller)) }
    // Changes until now are its own.
    let written = access.request.intents.filter(\.isWrite)
    if !written.isEmpty {
      files.drain()
      onWritten(written.map(\.item.path) + (arbiter.entries[id]?.request.intents.map(\.item.path) ?? []))
    }
    apply(.done(id))
  }

  private func leave(_ id: Int) {
    for (number, asked) in arbiter.questions where asked.presenter == id { noteEnd(of: number, .left) }
    presenters[id] = nil
    files.remove(id)
    leased.leave(id)
    apply(.removePresenter(id))
  }

  // MARK: Changes without coordination

  /// A file was changed. Within a coordinated access for writing it is that access's doing, and told at its end.
  private func noticed(_ event: PresentedFiles.Event) {
    switch event {
    case .changed(let path, let change):
      if writer(of: path) == nil { apply(.changed(path, change)) }
      leased.changed(path)
    case .moved(let from, let to):
      let writer = writer(of: from) ?? writer(of: to)
      if let writer, accesses[writer]?.moves.contains(event) == true { return }
      noteMove(from, to, in: writer)
      apply(.moved(from, to: to, by: writer))
    }
  }

  /// The access under which a path is written now.
  private func writer(of path: PathKey) -> Int? {
    accesses.first { id, access in
      access.isGranted && access.connection != nil
        && (access.request.intents + (arbiter.entries[id]?.request.intents ?? []))
          .contains { $0.isWrite && path.text.lies(within: $0.item.path.text) }
    }?.key
  }

  // MARK: Programs that coordinate nothing

  /// Another program waits in `open(2)`: its wait is a request like any other (`COO-27`, `COO-28`).
  private func opened(_ path: PathKey, writes: Bool) {
    let presenter = presenters.values.first { $0.item.item.path == path }
    let id = takeID()
    let rules = presenter?.instance?.app.rules
    let patience = rules.map { $0.patience.map { Int64($0) * 1_000_000_000 } } ?? Self.userPatience
    let party = Party(app: "another program", process: 0, purpose: "\n\(id)")
    let request = Coordination.Request(
      client: id, party: party,
      intents: [Intent(presenter?.item.item ?? Item(path.text), writes ? .write([]) : .read([]))],
      patience: [patience, leased.longestWait].compactMap(\.self).min(), silence: .proceed)
    accesses[id] = Access(
      connection: nil, instance: nil, party: party, request: request,
      items: [NamedItem(item: Item(path.text), mapping: .host)], wait: Wait(), arrived: clock.monotonic,
      arbitration: Self.arbitration(request, arrived: clock.monotonic))
    apply(.request(id, request))
  }

  /// No program that has written has it open any more.
  private func closed(_ path: PathKey) {
    for (id, access) in accesses where access.connection == nil && access.isGranted {
      if access.items.contains(where: { $0.item.path == path }) { apply(.done(id)) }
    }
  }

  /// Keeps the leases out of an accessor's way, and has an opener go on whose turn has come.
  private func leases(_ id: Int, of access: Access, begin: Bool) {
    for intent in access.request.intents {
      let path = intent.item.path
      guard access.connection != nil else {
        if begin {
          leased.letGo(path)
          // A reader has what it came for; of a writer it is seen when it has closed the file.
          if !intent.isWrite { apply(.done(id)) }
        }
        continue
      }
      guard begin else {
        leased.end(path)
        continue
      }
      let isAnswer = presenters.values.contains { $0.party.purpose == access.party.purpose }
      leased.begin(path, isAnswer: isAnswer)
    }
  }

  // MARK: Effects

  /// Has the arbiter decide, and carries that out. What follows from it is decided afterwards.
  func apply(_ input: Input) {
    inputs.append(input)
    guard !isApplying else { return }
    isApplying = true
    defer { isApplying = false }
    while !inputs.isEmpty {
      let input = inputs.removeFirst()
      // In the log, one access ends before the next one that waited for it begins.
      if case .done(let id) = input, let access = accesses.removeValue(forKey: id), access.isGranted {
        let now = clock.monotonic
        trail.ended(id, access, held: now - (access.granted ?? now))
        leases(id, of: access, begin: false)
      }
      for effect in arbiter.apply(input, at: clock.monotonic) { carryOut(effect) }
    }
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .ask(let number, let presenter, let question, let id):
      guard let asker = accesses[id] else { return }
      accesses[id]?.asked.append(trail.words(presenters[presenter]?.party, question))
      note(question, number, presenter, for: id)
      var path: String?
      if case .accommodateSubitemDeletion(let item) = question {
        path = presenters[presenter]?.item.mapping.client(item)
      }
      send(
        .init(
          kind: .question, question: number, asks: question.message, access: id, party: asker.party.message, path: path),
        to: presenter)
    case .withdraw(let number, let presenter):
      noteEnd(of: number, .withdrawn)
      send(.init(kind: .withdrawn, question: number), to: presenter)
    case .silent(let presenter, let question, let id, let after):
      noteSilence(of: presenter, for: id)
      trail.silent(presenters[presenter], question, accesses[id], after: after)
    case .grant(let id, let paths): grant(id, paths)
    case .refuse(let id, let refusal):
      guard let access = accesses.removeValue(forKey: id) else { return }
      if access.connection == nil { for item in access.items { leased.letGo(item.item.path) } }
      trail.refused(
        id, access, refusal, rule: refusal.rule, reason: reason(refusal), waited: clock.monotonic - access.arrived)
      access.wait.finish(.refused(refusal))
    case .reacquire(let presenter, let id): send(.init(kind: .reacquire, access: id), to: presenter)
    case .notify(let presenter, let notice): notify(presenter, notice)
    case .reordered(let id, let other):
      // First the words, which look into the accesses themselves.
      let earlier = words(.request(other))
      accesses[id]?.overtaken.append(earlier)
    }
  }

  private func grant(_ id: Int, _ paths: [PathKey]) {
    notePresenters(at: id)
    guard let access = accesses[id] else { return }
    let now = clock.monotonic
    do {
      try trail.granted(id, access, paths, waited: now - access.arrived)
      accesses[id]?.isGranted = true
      accesses[id]?.granted = now
      leases(id, of: access, begin: true)
      access.wait.finish(.granted(paths))
    } catch {
      // What cannot be written down does not take effect.
      apply(.done(id))
      access.wait.finish(.unrecorded("\(error)"))
    }
  }

  private func notify(_ presenter: Int, _ notice: Notice) {
    guard var item = presenters[presenter]?.item else { return }
    if case .moved(let path) = notice {
      // A document of its own keeps the path by which the app knows it.
      if item.item.path == item.mapping.outside { item.mapping.outside = path }
      item.item.path = path
      presenters[presenter]?.item = item
      files.moved(presenter, to: path)
      leased.moved(presenter, to: path)
    }
    send(notice.message { item.mapping.client($0) }, to: presenter)
  }

  private func send(_ message: CoordinationInterface.Message, to presenter: Int) {
    presenters[presenter]?.messages.send(.init(message: message))
  }

  // MARK: Words

  private func failure(_ refusal: Refusal) -> ErrorReply {
    switch refusal {
    case .cancelled(let canceller): return CoordinationInterface.Failure.cancelled(by: canceller.message)
    case .presenterFailed(let presenter, let words):
      return CoordinationInterface.Failure.presenterFailed(party: party(presenter).message, words)
    case .presenterSilent(let presenter, let question, let after):
      return CoordinationInterface.Failure.presenterSilent(
        party: party(presenter).message, asks: question.message, after: Int(after))
    case .held(let ids, let time):
      return CoordinationInterface.Failure.held(
        holders: ids.compactMap { accesses[$0]?.party.message }, after: Int(time))
    case .cycle(let links): return CoordinationInterface.Failure.deadlock(cycle: links.map { words($0) })
    }
  }

  private func party(_ presenter: Int) -> Party {
    presenters[presenter]?.party ?? Party(app: "a presenter that has left", process: 0, purpose: "\n")
  }

  private func words(_ link: Refusal.Link) -> String {
    switch link {
    case .request(let id):
      guard let access = accesses[id] else { return "access \(id)" }
      let uses = access.request.intents.map { "\($0.isWrite ? "writes" : "reads") \($0.item.path.text)" }
      return "\(access.party.words) \(uses.joined(separator: ", "))"
    case .question(let number):
      guard let asked = arbiter.questions[number] else { return "question \(number)" }
      return "\(party(asked.presenter).words) is asked: \(asked.question.words)"
    }
  }

  /// A sentence for the log.
  private func reason(_ refusal: Refusal) -> String {
    switch refusal {
    case .cancelled(.caller): "it was cancelled by its own side"
    case .cancelled(.user): "the user has cancelled it"
    case .cancelled(.suspension): "the app was suspended"
    case .presenterFailed(let presenter, let words): "\(party(presenter).words) could not let go: \(words)"
    case .presenterSilent(let presenter, let question, let after):
      "\(party(presenter).words) has not answered for \(after.seconds): \(question.words)"
    case .held(let ids, let time):
      "held for \(time.seconds) by \(ids.map { words(.request($0)) }.joined(separator: "; "))"
    case .cycle(let links): "each waits for the next: \(links.map { words($0) }.joined(separator: "; "))"
    }
  }

  /// Presenters of a document hear that it has another version, one less, or a conflict less.
  func versionsChanged(_ document: String, _ version: String, _ kind: CoordinationInterface.Message.Kind) {
    for presenter in presenters.values where presenter.item.item.path.text.isSamePath(as: document) {
      presenter.messages.send(.init(message: .init(kind: kind, path: presenter.item.mapping.inside, version: version)))
    }
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? { arbiter.nextDue }

  func finishTurn(now: Int64) {
    if let due = arbiter.nextDue, due <= now { apply(.time) }
    for (id, presenter) in presenters {
      if presenter.messages.isOver { leave(id) } else { presenter.messages.flush() }
    }
  }
}
