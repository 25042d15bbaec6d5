internal import BrokerCore
internal import Coordination
internal import Paths
internal import Wire

/// Notes the facts by which accesses are decided: for the log, so that `ambit coordination replay` can decide again, and for the user.
extension CoordinationService {
  nonisolated static func arbitration(
    _ request: Coordination.Request, arrived: Int64
  ) -> InspectorInterface.Arbitration {
    var (within, answering): ([Int], [Int]) = ([], [])
    for parent in request.parents {
      switch parent {
      case .access(let id): within.append(id)
      case .question(let number): answering.append(number)
      }
    }
    return .init(
      client: request.client, arrived: Int(arrived), patience: request.patience.map(Int.init),
      proceeds: request.silence == .proceed ? true : nil, within: within.isEmpty ? nil : within,
      answering: answering.isEmpty ? nil : answering, items: request.intents.map { .init($0) })
  }

  private func elapsed(_ access: Access) -> Int { Int(clock.monotonic - access.arrived) }

  /// Nothing stands in its way: these presenters count.
  func notePresenters(at id: Int) {
    guard let access = accesses[id], access.arbitration.first == nil else { return }
    access.arbitration.first = elapsed(access)
    if arbiter.presenters.isEmpty { return }
    let items = (arbiter.entries[id]?.request ?? access.request).intents.map(\.item)
    let near = arbiter.presenters.filter { _, presenter in
      !arbiter.suspended.contains(presenter.client) && items.contains { $0.isNear(presenter.item) }
    }
    if !near.isEmpty {
      access.arbitration.presenters = near.keys.sorted().compactMap { message(ofPresenter: $0) }
    }
  }

  func note(_ question: Question, _ number: Int, _ presenter: Int, for id: Int) {
    notePresenters(at: id)
    guard let access = accesses[id] else { return }
    var path: String?
    if case .accommodateSubitemDeletion(let item) = question { path = item.text }
    access.arbitration.questions =
      (access.arbitration.questions ?? []) + [
        .init(question: number, presenter: presenter, asks: question.message, path: path, asked: elapsed(access))
      ]
  }

  func noteEnd(of question: Int, _ outcome: InspectorInterface.PresenterQuestion.Outcome) {
    for id in accesses.keys { noteEnd(in: id, outcome) { $0.question == question } }
  }

  func noteSilence(of presenter: Int, for id: Int) { noteEnd(in: id, .silent) { $0.presenter == presenter } }

  /// Only the first end of a question counts.
  private func noteEnd(
    in id: Int, _ outcome: InspectorInterface.PresenterQuestion.Outcome,
    where isMeant: (InspectorInterface.PresenterQuestion) -> Bool
  ) {
    guard let access = accesses[id],
      let index = access.arbitration.questions?.firstIndex(where: { $0.ended == nil && isMeant($0) })
    else { return }
    access.arbitration.questions?[index].ended = elapsed(access)
    access.arbitration.questions?[index].outcome = outcome
  }

  /// - Parameter id: the access in which it happened; `nil`: in none, and it matters for all.
  func noteMove(_ from: PathKey, _ to: PathKey, in id: Int?) {
    for (number, access) in accesses where id == nil || id == number {
      // Of an app that moves files in a loop, the log has the first moves.
      guard access.toldMoves.count < Self.mostMoves else { continue }
      access.toldMoves.append(.init(from: from.text, to: to.text, after: elapsed(access)))
    }
  }

  private static let mostMoves = 32
}

extension Item {
  /// Whether one lies in the other, or both are one.
  fileprivate func isNear(_ other: Item) -> Bool {
    place.text.lies(within: other.place.text) || other.place.text.lies(within: place.text)
  }
}
