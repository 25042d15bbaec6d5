internal import Coordination
internal import Paths
internal import Wire

extension Party {
  /// Without the app that a purpose belongs to.
  var plainPurpose: String {
    let bytes = purpose.utf8
    return bytes.firstIndex(of: UInt8(ascii: "\n")).map { String(purpose[bytes.index(after: $0)...]) } ?? ""
  }
  var message: CoordinationInterface.Party { .init(app: app, process: Int(process), purpose: plainPurpose) }
  /// For people.
  var words: String { process == 0 ? app : "\(app) (process \(process))" }
}

extension Int64 {
  /// Nanoseconds in seconds, for people.
  var seconds: String { "\((Double(self) / 1e9 * 10).rounded() / 10) s" }
}

extension Question {
  var message: CoordinationInterface.Question {
    switch self {
    case .relinquishToReader: .relinquishToReader
    case .relinquishToWriter: .relinquishToWriter
    case .saveChanges: .saveChanges
    case .accommodateDeletion: .accommodateDeletion
    case .accommodateSubitemDeletion: .accommodateSubitemDeletion
    }
  }

  /// For people.
  var words: String {
    switch self {
    case .relinquishToReader: "let a reader in"
    case .relinquishToWriter: "let a writer in"
    case .saveChanges: "save its changes"
    case .accommodateDeletion: "prepare for the deletion"
    case .accommodateSubitemDeletion(let path): "prepare for the deletion of \(path.text)"
    }
  }
}

extension Refusal.Canceller {
  var message: CoordinationInterface.Canceller {
    switch self {
    case .caller: .caller
    case .user: .user
    case .suspension: .suspension
    }
  }
}

extension Notice {
  /// - Parameter path: the client's path of a place on the host; `nil`: it sees nothing of it.
  func message(_ path: (PathKey) -> String?) -> CoordinationInterface.Message {
    switch self {
    case .changed(let way): .init(kind: .changed, coordinated: way)
    case .attributesChanged: .init(kind: .attributesChanged, coordinated: true)
    case .moved(let to): .init(kind: .moved, to: path(to), coordinated: true)
    case .deleted(let way): .init(kind: .deleted, coordinated: way)
    case .subitemChanged(let item, let way): .init(kind: .subitemChanged, path: path(item), coordinated: way)
    case .subitemAppeared(let item, let way): .init(kind: .subitemAppeared, path: path(item), coordinated: way)
    case .subitemMoved(let from, let to):
      .init(kind: .subitemMoved, path: path(from), to: path(to), coordinated: true)
    case .subitemDeleted(let item, let way): .init(kind: .subitemDeleted, path: path(item), coordinated: way)
    }
  }
}
