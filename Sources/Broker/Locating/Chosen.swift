internal import Folders
internal import Kernel
internal import ScopedAccess

/// A document that the user has just chosen, with the facts that only a look at it tells.
struct Chosen: Sendable {
  let document: FoundDocument
  let place: Place?
  /// The user's own rights to it. No app is given more.
  private(set) var access: UserAccess
  /// A file beside it that says that another program has it open (``Sidecars``).
  let sidecar: String?

  /// - Parameter path: the descriptor's, as it was a moment ago.
  init(_ descriptor: Descriptor, at path: String?) throws(KernelError) {
    document = try FoundDocument(descriptor, at: path)
    access = descriptor.userAccess(ofFolder: document.kind.isFolder)
    let standing = DocumentPlace(of: document, at: path)
    place = standing.flatMap(Place.init)
    sidecar = Sidecars.inUse(beside: document, at: standing)
  }

  /// The same, not to be changed.
  var readOnly: Chosen {
    var same = self
    if access == .readWrite { same.access = .readOnly }
    return same
  }

  /// The part of its request that an app gets.
  #if AMBIT_MUTANTS
    func rights(of asked: AccessRights) -> AccessRights {
      if Mutant.pickWrites.isActive { return .readWrite }
      return access == .readWrite ? asked : .readOnly
    }
  #else
    func rights(of asked: AccessRights) -> AccessRights { access == .readWrite ? asked : .readOnly }
  #endif

  /// Why it gets less, for the log; `nil` if it gets that.
  func lessening(of asked: AccessRights) -> String? {
    rights(of: asked) == asked ? nil : "for reading only: the user cannot write it"
  }

  /// Why no app can be given it, as the end of a sentence.
  var unreadable: String? { access == .none ? "it cannot be read by its user" : nil }

  /// Beyond these, looking takes long enough for others to notice.
  static let few = 16
}
