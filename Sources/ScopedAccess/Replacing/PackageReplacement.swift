package import Kernel
internal import SystemPackage

/// One package replaced by a folder that an app has made (`FSF-1`): on the host, in one step for every observer.
///
/// The new package is always a copy: in the app's own folder there may be anything, with other names, open, and the app's. The
/// package that it takes out, where it lets the two change places, is a copy as well.
package struct PackageReplacement: Sendable {
  private let document: FoundDocument
  private let place: DocumentPlace
  /// The app's folder, and the name in it.
  private let folder: Descriptor
  private let name: String
  private let source: Descriptor
  /// Out of every app's reach.
  private let area: Descriptor
  /// Where the copy is made: there, or beside the document where that lies on another file system.
  private let workplace: Descriptor
  private let made: String
  private let copy: Descriptor
  private let isBeside: Bool
  /// The old package's copy for the app, in the area; `nil`: it wants none.
  private let taken: (name: String, folder: Descriptor)?
  package let new: FileIdentity

  /// Makes room for the copies; nothing else is changed.
  ///
  /// - Throws: `EISDIR` if it is no folder.
  package init(
    of document: FoundDocument, at place: DocumentPlace, by name: String, from folder: Descriptor,
    through area: Descriptor, exchanging: Bool
  ) throws(KernelError) {
    (self.document, self.place, self.folder, self.name, self.area) = (document, place, folder, name, area)
    let source = try Descriptor.open(name, below: folder, flags: [.path, .noFollow])
    guard try source.status().kind == .directory else { throw KernelError("rename", name, errno: .isDirectory) }
    guard source.mount == folder.mount else { throw KernelError("rename", name, errno: .resourceBusy) }
    self.source = source
    let isSameVolume = try area.status().device == place.folder.status().device
    isBeside = area.mount != place.folder.mount || !isSameVolume
    workplace = isBeside ? place.folder : area
    let id = Grant.makeID()
    made = isBeside ? ".ambit-\(id)" : "package-\(id)"
    (copy, new) = try Self.make(made, in: workplace)
    do throws(KernelError) {
      taken = exchanging ? ("taken-\(id)", try Self.make("taken-\(id)", in: area).folder) : nil
    } catch {
      try? workplace.removeDirectory(made)
      throw error
    }
  }

  private static func make(
    _ name: String, in folder: Descriptor
  ) throws(KernelError) -> (folder: Descriptor, identity: FileIdentity) {
    try folder.makeDirectory(name, mode: 0o700)
    let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    return (made, try FileIdentity(of: made))
  }

  /// The names that have to be written down before ``fill(while:)``; `nil` if the folder has no path.
  package var pending: PendingReplacement? {
    place.folder.currentPath.map {
      PendingReplacement(
        old: document.identity, new: new, folder: $0, name: place.name, temporary: isBeside ? made : nil)
    }
  }

  /// Makes the copies, which may take long; from any thread.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Throws: `ENOTEMPTY`, as everywhere, if the package is to give way by a mere rename and is not empty.
  package func fill(while isWanted: @escaping () -> Bool) throws(KernelError) {
    if taken == nil, try !DirectoryReader.entries(of: document.descriptor).isEmpty {
      throw KernelError("rename", name, errno: .directoryNotEmpty)
    }
    var incoming = PackageCopy(owner: document.descriptor, while: isWanted)
    try incoming.fill(copy, from: source, like: document.descriptor)
    try document.descriptor.copyAttributes(to: copy)
    guard let taken else { return }
    var outgoing = PackageCopy(owner: folder, while: isWanted)
    try outgoing.fill(taken.folder, from: document.descriptor, like: nil)
    try document.descriptor.adopt(taken.folder, as: folder)
  }

  /// Replaces the document. When this has failed, the document is as it was.
  ///
  /// - Returns: the new document at its place.
  package func carryOut() throws(KernelError) -> FoundDocument {
    try workplace.exchange(made, with: place.name, in: place.folder)
    guard DocumentPlace.document(made, in: workplace)?.identity == document.identity else {
      try? workplace.exchange(made, with: place.name, in: place.folder)
      throw KernelError("rename", "the document is not where it was any more", errno: .resourceBusy)
    }
    guard let present = place.present, present.identity == new else {
      throw KernelError(
        "rename", "another folder came into the document's place at the same moment", errno: .resourceBusy)
    }
    return present
  }

  /// Gives the app's folder the result of the rename there: the old package, or nothing.
  package func settle() {
    if let taken {
      try? area.exchange(taken.name, with: name, in: folder)
    } else {
      try? folder.moveAside(name, to: area, as: "\(made).old")
    }
  }

  /// Removes the rest of it, whether it was carried out or not, which may take long; from any thread.
  ///
  /// - Returns: `false`: the document's folder could not be synced. Then the old package stays whole, as a crash may still bring it back.
  package func clear() -> Bool {
    guard place.folder.namesAreOnDisk else { return false }
    try? workplace.removeTree(made)
    for name in [taken?.name, "\(made).old"].compactMap({ $0 }) { try? area.removeTree(name) }
    return true
  }
}

extension Descriptor {
  /// Waits for a folder's names to be on the disk. A folder that may not be read cannot be waited for, and does not count.
  var namesAreOnDisk: Bool {
    guard let folder = try? Descriptor.open(".", below: self, flags: [.read, .directory]) else { return true }
    return (try? folder.synchronizeFully()) != nil
  }
}
