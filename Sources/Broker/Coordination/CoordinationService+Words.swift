internal import BrokerCore
internal import Coordination
internal import Paths
internal import Wire

/// Refusals, as answers and as sentences of the log.
extension CoordinationService {
  func failure(_ refusal: Refusal) -> ErrorReply {
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

  func party(_ presenter: Int) -> Party {
    presenters[presenter]?.party ?? Party(app: "a presenter that has left", process: 0, purpose: "\n")
  }

  func words(_ link: Refusal.Link) -> String {
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
  func reason(_ refusal: Refusal) -> String {
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
}
