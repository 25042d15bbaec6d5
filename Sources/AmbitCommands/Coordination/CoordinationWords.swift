internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// Coordination in words for people.
enum CoordinationWords {
  static func name(_ party: InspectorInterface.Party) -> String { name(party.app, party.process) }
  static func name(_ party: CoordinationInterface.Party) -> String { name(party.app, party.process) }

  private static func name(_ app: String, _ process: Int) -> String {
    process == 0 ? printable(app) : "\(printable(app)) (process \(process))"
  }

  static func request(_ question: CoordinationInterface.Question) -> String {
    switch question {
    case .relinquishToReader: "let a reader in"
    case .relinquishToWriter: "let a writer in"
    case .saveChanges: "save its changes"
    case .accommodateDeletion: "prepare for the deletion"
    case .accommodateSubitemDeletion: "prepare for the deletion of an item in it"
    }
  }

  /// “write”, “read”, “delete”, “move”, “replace”.
  static func use(_ item: InspectorInterface.CoordinatedItem) -> String {
    guard item.use == .write else { return "read" }
    let words = ["forDeleting": "delete", "forMoving": "move", "forReplacing": "replace"]
    return item.options.compactMap { words[$0] }.first ?? "write"
  }

  /// Nanoseconds, in seconds.
  static func time(_ nanoseconds: Int) -> String {
    let tenths = (nanoseconds + 50_000_000) / 100_000_000
    if tenths >= 36000 { return "\(tenths / 36000) h \(tenths / 600 % 60) min" }
    if tenths >= 600 { return "\(tenths / 600) min \(tenths / 10 % 60) s" }
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
  }
}

/// The reasons why an access is not granted yet.
struct CoordinationWait {
  enum Reason: Equatable {
    /// A presenter has not answered.
    case presenter(InspectorInterface.Party, asks: CoordinationInterface.Question, for: Int)
    /// Another access is under way.
    case holder(Int, InspectorInterface.Party, use: String, for: Int)
    /// Another access came earlier, and is not granted either.
    case ahead(Int, InspectorInterface.Party)
  }

  let reasons: [Reason]

  init(_ access: InspectorInterface.CoordinatedAccess, in reply: InspectorInterface.CoordinationReply) {
    let accesses = Dictionary(reply.accesses.map { ($0.access, $0) }) { $1 }
    let presenters = Dictionary(
      ((access.arbitration.presenters ?? []) + reply.presenters).map { ($0.presenter, $0.party) }
    ) { $1 }
    guard access.phase != .granted else {
      reasons = []
      return
    }
    let open = (access.arbitration.questions ?? []).filter { $0.ended == nil }
    let asked = open.compactMap { question -> Reason? in
      presenters[question.presenter].map { .presenter($0, asks: question.asks, for: access.age - question.asked) }
    }
    let behind = access.behind.compactMap { number -> Reason? in
      guard let other = accesses[number] else { return nil }
      guard other.phase == .granted else { return .ahead(number, other.party) }
      let uses = Set(other.items.map(CoordinationWords.use)).sorted().joined(separator: ", ")
      return .holder(number, other.party, use: uses, for: other.held ?? 0)
    }
    reasons = asked + behind
  }
}

extension CoordinationWait.Reason {
  /// The end of “waits for …”.
  var sentence: String {
    switch self {
    case .presenter(let party, let question, let time):
      "\(CoordinationWords.name(party)), a presenter that was asked \(CoordinationWords.time(time)) ago to "
        + CoordinationWords.request(question)
    case .holder(_, let party, let use, let time):
      "\(CoordinationWords.name(party)), which has had it for \(CoordinationWords.time(time)) (\(use))"
    case .ahead(_, let party): "\(CoordinationWords.name(party)), which is ahead in the queue"
    }
  }
}

/// Says who an access of this process waits for.
enum WaitSentence {
  /// `nil`: nobody, or it cannot be asked.
  static func ofThisProcess() -> String? {
    let found = try? BrokerConnection.askRunning(UserSide.folders) {
      try $0.call(InspectorInterface.coordination, answer: InspectorInterface.CoordinationReply.self)
    }
    guard let reply = found ?? nil else { return nil }
    let reasons = reply.accesses.filter { $0.party.process == ThisProcess.number && $0.party.instance == nil }
      .flatMap { CoordinationWait($0, in: reply).reasons }
    guard !reasons.isEmpty else { return nil }
    return "Waiting for " + reasons.map(\.sentence).joined(separator: "; ") + "."
  }
}

/// The broker's refusals, as sentences.
enum CoordinationRefusal {
  static func sentence(_ name: String, _ parameters: JSONObject) -> String {
    typealias Failure = CoordinationInterface.Failure
    let reason = (try? parameters.string("reason")).map(printable) ?? ""
    let path = (try? parameters.string("path")).map(printable) ?? ""
    let time = CoordinationWords.time((try? parameters.int("after")) ?? 0)
    let objects = ((try? parameters.object("party")).map { [$0] } ?? []) + ((try? parameters.objects("holders")) ?? [])
    let names = objects.compactMap { (try? CoordinationInterface.Party(json: $0)).map(CoordinationWords.name) }
      .joined(separator: " and ")
    switch name {
    case Failure.notKnownName: return "\(path) cannot be coordinated: it is no absolute path of a file."
    case Failure.readOnlyName: return "\(path) is there for reading only."
    case Failure.cancelledName:
      return (try? parameters.string("by")) == CoordinationInterface.Canceller.user.rawValue
        ? "the access was cancelled by “ambit coordination cancel”." : "the access was cancelled."
    case Failure.presenterFailedName: return "\(names) could not let go: \(reason)"
    case Failure.presenterSilentName:
      let question: CoordinationInterface.Question? = try? parameters.choice("asks")
      let asked = question.map { " It was asked to \(CoordinationWords.request($0))." } ?? ""
      return "\(names) presents the file, and has not answered for \(time).\(asked)"
    case Failure.heldName: return "the file has been held for \(time) by \(names)."
    case Failure.deadlockName:
      let cycle = ((try? parameters.strings("cycle")) ?? []).map(printable)
      return "each waits for the next: \(cycle.joined(separator: "; "))."
    case Failure.crowdedName: return "the access cannot be coordinated: \(reason)."
    default: return reason.isEmpty ? name : reason
    }
  }
}
