package import Kernel
internal import SystemPackage

/// One document replaced by a file that an app has made (`FSF-1`): on the host, in one step, whoever looks.
///
/// The app can change names in its own folder at any moment, and who else may change the document's folder is not known. So the
/// new file is first taken out of the app's reach and only then looked at; and the two files change places
/// (`RENAME_EXCHANGE`), after which what came out can be held against what should have.
package struct Replacement: Sendable {
  private let document: FoundDocument
  private let place: DocumentPlace
  /// Out of every app's reach, on the file system of its folder.
  private let area: Descriptor
  private let taken: String
  /// The new file, if it is a copy: on another file system it cannot be moved from, or it has other names.
  private let copy: Descriptor?
  package let new: FileIdentity
  private let file: Descriptor
  /// A name beside the document, for a copy that stands there for a moment.
  private let temporary: String?

  /// Takes a file out of an app's folder. If that fails the file is where it was.
  ///
  /// - Parameters:
  ///   - taken: a name in the area that is free, or has something of a replacement that failed.
  ///   - copying: also where it could be moved, so that nothing that is open of it is open of the document (`TOK-16`).
  /// - Throws: `EPERM` if it is no regular file.
  package init(
    of document: FoundDocument, at place: DocumentPlace, by name: String, from folder: Descriptor,
    through area: Descriptor, as taken: String, copying: Bool
  ) throws(KernelError) {
    self.document = document
    self.place = place
    self.area = area
    self.taken = taken
    try? area.removeFile(taken)
    try folder.move(name, to: area, as: taken)
    do throws(KernelError) {
      let file = try Descriptor.open(taken, below: area, flags: [.path, .noFollow])
      let status = try file.status()
      guard status.kind == .regular else { throw KernelError("rename", "no regular file", errno: .notPermitted) }
      let isSameVolume = try status.device == place.folder.status().device
      self.file = file
      if !copying, status.links == 1, isSameVolume, file.mount == place.folder.mount {
        copy = nil
        temporary = nil
        new = try FileIdentity(of: file)
      } else {
        let made = try place.folder.makeUnnamedFile()
        copy = made
        temporary = ".ambit-\(Grant.makeID())"
        new = try FileIdentity(of: made)
      }
    } catch {
      try? area.moveAside(taken, to: folder, as: name)
      throw error
    }
  }

  /// Whether ``fill(while:)`` has to come before ``carryOut()``.
  package var isCopy: Bool { copy != nil }

  /// Copies the content, which may take long; from any thread.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  package func fill(while isWanted: () -> Bool) throws(KernelError) {
    guard let copy else { return }
    try file.reopened(.read).copyContent(to: copy, while: isWanted)
    try copy.synchronize()
  }

  /// What has to be written down before ``carryOut()``; `nil` if the folder has no path.
  package var pending: PendingReplacement? {
    place.folder.currentPath.map {
      PendingReplacement(old: document.identity, new: new, folder: $0, name: place.name, temporary: temporary)
    }
  }

  /// Replaces the document. When this has failed, the document is what it was.
  ///
  /// - Returns: the new document at its place.
  package func carryOut() throws(KernelError) -> FoundDocument {
    let incoming = copy ?? file
    try document.descriptor.copyAttributes(to: incoming)
    // What is there after a power failure is one or the other as well. The app's own file its launcher has written out; then
    // this is over at once.
    try incoming.reopened(.read).synchronize()
    if let copy, let temporary { try place.folder.name(copy, temporary) }
    let (folder, name) = temporary.map { (place.folder, $0) } ?? (area, taken)
    do throws(KernelError) {
      try exchange(name, in: folder)
    } catch {
      if temporary != nil { try? folder.removeFile(name) }
      throw error
    }
    guard let present = place.present, present.identity == new else {
      throw KernelError(
        "rename", "another file came into the document's place at the same moment", errno: .resourceBusy)
    }
    return present
  }

  private func exchange(_ name: String, in folder: Descriptor) throws(KernelError) {
    do throws(KernelError) {
      try folder.exchange(name, with: place.name, in: place.folder)
    } catch {
      // Not every file system can let names change places.
      guard error.errno == .invalidArgument || error.errno == .noFunction else { throw error }
      guard place.present?.identity == document.identity else { throw Self.moved }
      return try folder.move(name, to: place.folder, as: place.name)
    }
    guard DocumentPlace.document(name, in: folder)?.identity == document.identity else {
      try? folder.exchange(name, with: place.name, in: place.folder)
      throw Self.moved
    }
    // Beside the document nothing stays. Out of every app's reach what came out stays until ``finish()``.
    if temporary != nil { try? folder.removeFile(name) }
  }

  private static let moved = KernelError("rename", "the document is not where it was any more", errno: .resourceBusy)

  /// Removes what is left of it: the old document, or the file that was copied.
  package func finish() { try? area.removeFile(taken) }

  /// Gives the app its file back, when the document was not replaced.
  package func giveBack(to folder: Descriptor, as name: String) {
    if (try? area.moveAside(taken, to: folder, as: name)) == nil { finish() }
  }

  /// Ends what a broker that died had begun.
  ///
  /// - Returns: whether the new file is the document.
  package static func settle(_ pending: PendingReplacement) -> Bool {
    guard let folder = try? Descriptor.open(pending.folder, flags: [.path, .directory], resolve: .noSymlinks) else {
      return false
    }
    let isReplaced = DocumentPlace.document(pending.name, in: folder)?.identity == pending.new
    if let temporary = pending.temporary, let left = DocumentPlace.document(temporary, in: folder)?.identity,
      left == pending.new || (isReplaced && left == pending.old)
    {
      if (try? folder.removeFile(temporary)) == nil { try? folder.removeTree(temporary) }
    }
    return isReplaced
  }
}
