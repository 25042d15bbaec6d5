internal import BrokerCore
internal import Coordination
internal import Kernel
internal import Paths
internal import Wire

/// Presenters, which live as long as their connection; and the ends of connections and launches.
extension CoordinationService {
  func present(_ call: CheckedCall, on connection: WireConnection, for instance: Instance?) throws {
    let request = try CoordinationInterface.PresentCall(json: call.parameters)
    let room = CoordinationRoom.bytes(of: [request.path])
    try checkRoom(for: 1, room, on: connection, of: instance)
    let id = takeID()
    if let primary = request.primary, let instance {
      try related.show(request.path, beside: primary, to: id, of: instance)
    }
    let item: NamedItem
    do { item = try items.item(request.path, for: instance) } catch {
      related.leave(id)
      throw error
    }
    let party = party(call, instance, purpose: request.purpose, caller: nil)
    let lost = CoordinationInterface.PresentReply(message: .init(kind: .lost))
    let presented = Presented(
      connection: connection, instance: instance, party: party, item: item,
      messages: Subscription(connection, lost: lost), hasUnsavedChanges: request.unsaved ?? false,
      since: clock.monotonic, room: room)
    table.add(presented, as: id)
    apply(
      .addPresenter(id, Presenter(client: client(call, instance), party: party, item: item.item)))
    files.add(id, item.item.path)
    lease(id, isOpening: request.opens ?? false)
    // From here on it misses nothing (`COO-21`).
    let conflicts = item.isLeased ? leased.conflicts(at: item.item.path) { try items.created(item.grant) } : nil
    presented.messages.send(.init(message: .init(kind: .presenting, presenter: id, conflicts: conflicts)))
    if let progress = contents?.transfers.progress(of: item.item.path.text) { tell(id, progress) }
  }

  /// A presenter leaves, and its connection stays.
  func leave(_ request: CoordinationInterface.LeaveCall, of instance: Instance?) throws {
    guard let presenter = presenters[request.presenter], presenter.instance === instance else {
      throw CoordinationInterface.Failure.notYours
    }
    leave(request.presenter)
    presenter.messages.end(.init(message: .init(kind: .left)))
  }

  func answer(_ request: CoordinationInterface.AnswerCall, from instance: Instance?) throws {
    guard let asked = arbiter.questions[request.question],
      presenters[asked.presenter]?.instance === instance
    else { throw CoordinationInterface.Failure.notYours }
    noteEnd(of: request.question, request.error == nil ? .answered : .failed)
    apply(.answer(request.question, error: request.error?.cut(toBytes: 400)))
  }

  func setUnsaved(_ request: CoordinationInterface.UnsavedCall, from instance: Instance?) throws {
    guard let presenter = presenters[request.presenter], presenter.instance === instance else {
      throw CoordinationInterface.Failure.notYours
    }
    table.setUnsaved(request.unsaved, of: request.presenter)
    lease(request.presenter)
  }

  /// What lies in a container is saved there, and not by the broker. An app that may only read has nothing to save, and keeps no
  /// reader waiting.
  private func lease(_ id: Int, isOpening: Bool = false) {
    guard let presenter = presenters[id], presenter.item.isLeased else { return }
    leased.present(
      id, presenter.item.item.path, unsaved: presenter.hasUnsavedChanges && presenter.item.mayWrite,
      isOpening: isOpening)
  }

  // MARK: Ends

  /// A connection has closed: its process has let go, or died.
  func left(_ connection: WireConnection) {
    for (id, access) in accesses where access.connection === connection {
      finish(id)
    }
    let time = SearchTime()
    for (id, presenter) in presenters where presenter.connection === connection { leave(id, within: time) }
    table.forgetPrograms(except: arbiter.entries.values.map(\.request.client) + arbiter.presenters.values.map(\.client))
  }

  /// A launch is over.
  func ended(_ instance: Instance) {
    let time = SearchTime()
    for (id, presenter) in presenters where presenter.instance === instance { leave(id, within: time) }
    for (id, access) in accesses where access.instance === instance {
      finish(id)
    }
    table.forget(instance)
  }

  /// A launch is suspended: its presenters hold nobody up, and its waiting accesses are cancelled (`COO-22`, `COO-23`).
  func suspended(_ instance: Instance) {
    for (client, id) in table.clients where client.instance == instance.id { apply(.suspend(id)) }
  }

  func resumed(_ instance: Instance) {
    for (client, id) in table.clients where client.instance == instance.id { apply(.resume(id)) }
  }

  func leave(_ id: Int, within time: SearchTime = SearchTime()) {
    for (number, asked) in arbiter.questions where asked.presenter == id { noteEnd(of: number, .left) }
    table.removePresenter(id)
    files.remove(id)
    leased.leave(id)
    related.leave(id, within: time)
    apply(.removePresenter(id))
  }
}
