internal import BrokerCore
internal import Coordination
internal import Kernel
internal import Paths
internal import Wire

/// Coordination as the user sees it (`io.ambit.Inspector`): the accesses and presenters of all apps, and the user's hand.
extension CoordinationService {
  func coordination() -> InspectorInterface.CoordinationReply {
    .init(
      accesses: accesses.keys.sorted().compactMap { message(of: $0) },
      presenters: presenters.keys.sorted().compactMap { id in
        guard var message = message(ofPresenter: id), let item = presenters[id]?.item.item else { return nil }
        let (kind, reason) = leased.lease(on: item.path)
        message.lease = kind.map { $0 == .write ? .write : .read }
        message.unleased = reason
        return message
      })
  }

  /// Ends the wait of an access. One that is under way ends by its client alone: it may be writing.
  ///
  /// - Throws: `NoAccess`, `NotWaiting`.
  func cancel(_ id: Int) throws(ErrorReply) {
    guard let access = accesses[id] else { throw InspectorInterface.Failure.noAccess(access: id) }
    guard !access.isGranted else {
      throw InspectorInterface.Failure.notWaiting(access: id, party: access.party.inspected(access.instance))
    }
    apply(.cancel(id, by: .user))
  }

  private func message(of id: Int) -> InspectorInterface.CoordinatedAccess? {
    guard let access = accesses[id], let entry = arbiter.entries[id] else { return nil }
    let now = clock.monotonic
    return .init(
      access: id, party: access.party.inspected(access.instance),
      items: entry.request.intents.map { .init($0) },
      phase: .init(entry.phase), age: Int(now - access.arrived), held: access.granted.map { Int(now - $0) },
      behind: arbiter.blockers(of: id).sorted(), prepares: access.request.isPreparation,
      arbitration: access.arbitration,
      moves: access.toldMoves.isEmpty ? nil : access.toldMoves)
  }

  func message(ofPresenter id: Int) -> InspectorInterface.FilePresenter? {
    guard let presented = presenters[id], let presenter = arbiter.presenters[id] else { return nil }
    return .init(
      presenter: id, client: presenter.client, party: presented.party.inspected(presented.instance),
      path: presenter.item.path.text, package: presenter.item.package?.text,
      unsaved: presented.hasUnsavedChanges, since: Int(presented.since))
  }
}

extension Party {
  fileprivate func inspected(_ instance: Instance?) -> InspectorInterface.Party {
    .init(app: app, process: Int(process), instance: instance?.id, purpose: plainPurpose)
  }
}

extension InspectorInterface.CoordinatedItem {
  init(_ intent: Intent) {
    self.init(
      path: intent.item.path.text, package: intent.item.package?.text, use: intent.isWrite ? .write : .read,
      options: intent.use.words)
  }
}

extension Intent.Use {
  /// Its options, in the words of the wire.
  var words: [String] {
    switch self {
    case .read(let options): options.names(CoordinationInterface.readingOptions)
    case .write(let options): options.names(CoordinationInterface.writingOptions)
    }
  }
}

extension InspectorInterface.CoordinatedAccess.Phase {
  fileprivate init(_ phase: Arbiter.Phase) {
    switch phase {
    case .waiting: self = .waiting
    case .asking: self = .asking
    case .granted: self = .granted
    }
  }
}
