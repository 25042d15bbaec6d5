internal import Folders
internal import Kernel
internal import ScopedAccess

/// A document that the user has just chosen, with what only a look at it tells.
struct Chosen: Sendable {
  let document: FoundDocument
  let place: Place?
  /// A file beside it that says that another program has it open (``Sidecars``).
  let sidecar: String?

  init(_ descriptor: Descriptor) throws(KernelError) {
    document = try FoundDocument(descriptor)
    place = Place(of: document)
    sidecar = document.kind == .file ? Sidecars.inUse(beside: document) : nil
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
    let isBrief = documents.count <= Chosen.few && !documents.contains { mayWait($0.currentPath ?? "") }
    if isBrief { return try documents.map { try Chosen($0) } }
    let looked = try outcome(of: subject, owner: subject) { pulse in
      FaultPoint.picksDue.hold()
      return Result { () throws(KernelError) in
        var chosen: [Chosen] = []
        for document in documents where pulse.beat() { chosen.append(try Chosen(document)) }
        return chosen
      }
    }
    guard let looked else { throw StateError("a document is on a file system that does not answer") }
    return try looked.get()
  }
}
