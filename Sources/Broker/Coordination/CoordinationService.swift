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
  let items: CoordinatedItems
  let trail: CoordinationTrail
  let files: PresentedFiles
  let leased: LeasedDocuments
  let related: RelatedItems
  let clock: any LoopClock
  var table = CoordinationTable()
  /// Inputs that came while effects were carried out.
  private var inputs: [Input] = []
  private var isApplying = false
  /// Told of the items that a coordinated access has written, before it ends (`MDQ-7`).
  var writeObservers: [([PathKey]) -> Void] = []

  /// Told of each item of an access that has ended.
  var onEnded: (_ path: String) -> Void = { _ in }
  /// Asks the user of an app to fill in a provider's form.
  var mend: (ProviderFault, Instance) async throws -> Bool = { _, _ in false }

  /// Contents that are not here; they come before they are read (`COO-26`).
  var contents: ProvidedContents?

  struct Presented {
    let connection: WireConnection
    let instance: Instance?
    let party: Party
    var item: NamedItem
    let messages: Subscription<CoordinationInterface.PresentReply>
    var hasUnsavedChanges: Bool
    let since: Int64
    /// Bytes that its path takes.
    let room: Int
  }

  init(
    _ items: CoordinatedItems, _ trail: CoordinationTrail, _ files: PresentedFiles, _ leased: LeasedDocuments,
    _ related: RelatedItems, _ clock: any LoopClock
  ) {
    (self.items, self.trail, self.files, self.leased) = (items, trail, files, leased)
    (self.related, self.clock) = (related, clock)
    files.onEvent = { self.noticed($0) }
    leased.onOpen = { self.opened($0, writes: $1) }
    leased.isFree = { path in
      let presenter = self.presenters.values.first { $0.item.item.path == path }
      return self.arbiter.isFree(toRead: presenter?.item.item ?? Item(path.text))
    }
    leased.onHeld = { self.closed($0) }
  }

  /// - Parameter instance: `nil`: the user's side.
  func serve(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) throws -> Course {
    switch call.member {
    case "Access": return try access(call, on: connection, for: instance)
    case "Done":
      let id = try CoordinationInterface.DoneCall(json: call.parameters).access
      _ = try granted(id, on: connection)
      finish(id)
    case "Moved":
      try moved(CoordinationInterface.MovedCall(json: call.parameters), on: connection, of: instance)
    case "Present":
      try present(call, on: connection, for: instance)
      return .done(nil)
    case "Answer":
      try answer(CoordinationInterface.AnswerCall(json: call.parameters), from: instance)
    case "Leave":
      try leave(CoordinationInterface.LeaveCall(json: call.parameters), of: instance)
    default:
      try setUnsaved(CoordinationInterface.UnsavedCall(json: call.parameters), from: instance)
    }
    return .done(Answer([:]))
  }

  var accesses: [Int: Access] { table.accesses }
  var presenters: [Int: Presented] { table.presenters }

  // MARK: Effects

  /// Has the arbiter decide, and carries that out. What follows from it is decided afterwards.
  func apply(_ input: Input) {
    if isApplying { return inputs.append(input) }
    isApplying = true
    defer { isApplying = false }
    decide(input)
    while !inputs.isEmpty { decide(inputs.removeFirst()) }
  }

  private func decide(_ input: Input) {
    // In the log, one access ends before the next one that waited for it begins.
    if case .done(let id) = input, let access = table.removeAccess(id), access.isGranted {
      let now = clock.monotonic
      trail.ended(id, access, held: now - (access.granted ?? now))
      leases(id, of: access, begin: false)
    }
    for effect in arbiter.apply(input, at: clock.monotonic) { carryOut(effect) }
    if case .moved = input { followMoves() }
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
      guard let access = table.removeAccess(id) else { return }
      if access.connection == nil { for path in access.paths { leased.letGo(path) } }
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
    guard access.connection != nil else {
      // Nothing is decided here: the kernel lets that program go on in any case, and Ambit only sooner. So it need not wait for the log.
      access.isGranted = true
      access.granted = now
      leases(id, of: access, begin: true)
      trail.passed(id, access, waited: now - access.arrived)
      return
    }
    do {
      try trail.granted(id, access, waited: now - access.arrived)
      access.isGranted = true
      access.granted = now
      leases(id, of: access, begin: true)
      access.wait.finish(.granted(paths))
    } catch {
      // A change that cannot be written down does not take effect.
      apply(.done(id))
      access.wait.finish(.unrecorded("\(error)"))
    }
  }

  private func notify(_ presenter: Int, _ notice: Notice) {
    if case .moved(let path) = notice { relocate(presenter, to: path) }
    guard let mapping = presenters[presenter]?.item.mapping else { return }
    send(notice.message { mapping.client($0) }, to: presenter)
  }

  /// A presented item is somewhere else: so are its watch and its lease.
  private func relocate(_ presenter: Int, to path: PathKey) {
    guard var item = presenters[presenter]?.item, item.item.path != path else { return }
    // A document of its own keeps the path by which the app knows it.
    if item.item.path == item.mapping.outside { item.mapping.outside = path }
    item.item.path = path
    table.setItem(item, of: presenter)
    files.moved(presenter, to: path)
    leased.moved(presenter, to: path)
  }

  /// Accesses keep the leases away where their items are by now. Presenters of the mover's own purpose are not told of its move, and
  /// follow it all the same.
  private func followMoves() {
    for (id, access) in accesses {
      let former = access.paths
      guard let paths = arbiter.entries[id]?.request.intents.map(\.item.path), paths != former else { continue }
      access.paths = paths
      guard access.isGranted, access.connection != nil else { continue }
      for path in paths { leased.begin(path, isAnswer: false) }
      for path in former { leased.end(path) }
    }
    for id in presenters.keys {
      if let path = arbiter.presenters[id]?.item.path { relocate(id, to: path) }
    }
  }

  private func send(_ message: CoordinationInterface.Message, to presenter: Int) {
    presenters[presenter]?.messages.send(.init(message: message))
  }

  /// Presenters of a document hear that it has another version, one less, or a conflict less.
  func versionsChanged(_ document: String, _ version: String, _ kind: CoordinationInterface.Message.Kind) {
    for presenter in presenters.values where presenter.item.item.path.text.isSamePath(as: document) {
      presenter.messages.send(.init(message: .init(kind: kind, path: presenter.item.mapping.inside, version: version)))
    }
  }

  /// A document's content comes or goes (`DOC-10`); `nil`: that is over.
  func transferred(_ document: String, _ progress: ContentTransfers.Progress?) {
    for (id, presenter) in presenters where presenter.item.item.path.text.isSamePath(as: document) {
      tell(id, progress)
    }
  }

  func tell(_ presenter: Int, _ progress: ContentTransfers.Progress?) {
    guard let path = presenters[presenter]?.item.mapping.inside else { return }
    send(
      .init(
        kind: progress == nil ? .transferred : .transferring, path: path, completed: progress?.completed,
        total: progress?.total),
      to: presenter)
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? { arbiter.nextDue }

  func finishTurn(now: Int64) {
    if let due = arbiter.nextDue, due <= now { apply(.time) }
    let time = SearchTime()
    for (id, presenter) in presenters {
      if presenter.messages.isOver { leave(id, within: time) } else { presenter.messages.flush() }
    }
  }
}
