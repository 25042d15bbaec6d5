internal import Folders
internal import Kernel
internal import ScopedAccess

/// A document that the user has just chosen, with what only a look at it tells.
struct Chosen: Sendable {
  let document: FoundDocument
  let place: Place?
  /// A file beside it that says that another program has it open (``Sidecars``).
  let sidecar: String?

  /// - Parameter path: the descriptor's, as it was a moment ago.
  init(_ descriptor: Descriptor, at path: String?) throws(KernelError) {
    document = try FoundDocument(descriptor, at: path)
    let standing = DocumentPlace(of: document, at: path)
    place = standing.flatMap(Place.init)
    sidecar = Sidecars.inUse(beside: document, at: standing)
  }

  /// Beyond these, looking takes long enough for others to notice.
  static let few = 16
}

extension Broker {
  /// Looks at documents that the user has chosen: at a few of the machine's own at once, at others in a thread.
  ///
  /// - Parameter subject: the choice, among all that wait.
  /// - Throws: ``WaitingForErrand``; `KernelError` if one is neither a file nor a folder; `StateError` where the file system does
  ///   not answer.
  func look(at documents: [Descriptor], _ subject: String) throws -> [Chosen] {
    mounts.refresh()
    if documents.count <= Chosen.few {
      let all = documents.map { (descriptor: $0, path: $0.currentPath) }
      if !all.contains(where: { mayWait($0.path ?? "") }) {
        return try all.map { try Chosen($0.descriptor, at: $0.path) }
      }
    }
    let looked = try outcome(of: subject, owner: subject) { pulse in
      FaultPoint.picksDue.hold()
      return Result { () throws(KernelError) in
        var chosen: [Chosen] = []
        for document in documents where pulse.beat() { chosen.append(try Chosen(document, at: document.currentPath)) }
        return chosen
      }
    }
    guard let looked else { throw StateError("a document is on a file system that does not answer") }
    return try looked.get()
  }
}
