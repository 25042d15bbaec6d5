package import Kernel
internal import SystemPackage

/// One document replaced by a file that an app has made (`FSF-1`): on the host, in one step for every observer.
///
/// The app can change names in its own folder at any moment, and it is unknown which other processes may change the document's
/// folder. So the new file is first taken out of the app's reach and only then looked at; and the two files change places
/// (`RENAME_EXCHANGE`), after which the file that came out can be held against the expected one.
///
/// The document is always a copy. An app can keep its own file open and give it more names at any time (linkat(2) of
/// `/proc/self/fd`), and each of these would reach the document after its scope has ended (`TOK-16`).
package struct Replacement: Sendable {
  private let document: FoundDocument
  private let place: DocumentPlace
  private let taken: TakenFile
  /// The new document.
  private let copy: Descriptor
  package let new: FileIdentity
  /// The copy's name beside the document, for a moment.
  private let temporary: String
  /// The copy has its name from the start: not every file system has files without one. A file with a name is written down
  /// (``pending``) before it is filled.
  package let isNamed: Bool

  /// Takes a file out of an app's folder. If that fails the file is where it was.
  ///
  /// - Parameter taken: a name in the area that is free, or has something of a replacement that failed.
  /// - Throws: `EPERM` if it is no regular file.
  package init(
    of document: FoundDocument, at place: DocumentPlace, by name: String, from folder: Descriptor,
    through area: Descriptor, as taken: String
  ) throws(KernelError) {
    self.document = document
    self.place = place
    self.taken = try TakenFile(name, from: folder, through: area, as: taken)
    do throws(KernelError) {
      temporary = ".ambit-\(Grant.makeID())"
      (copy, isNamed) = try Self.makeFile(temporary, in: place.folder)
      new = try FileIdentity(of: copy)
    } catch {
      self.taken.giveBack(to: folder, as: name)
      throw error
    }
  }

  /// A new file in a folder, and whether it has its name already.
  private static func makeFile(
    _ name: String, in folder: Descriptor
  ) throws(KernelError) -> (Descriptor, isNamed: Bool) {
    do throws(KernelError) { return (try folder.makeUnnamedFile(), false) } catch {
      // open(2) of a file system without `O_TMPFILE`.
      guard [.notSupported, .isDirectory, .invalidArgument].contains(error.errno) else { throw error }
      let flags: OpenFlags = [.readWrite, .create, .exclusive, .noFollow]
      return (try Descriptor.open(name, below: folder, flags: flags, mode: 0o600), true)
    }
  }

  /// Copies the content, which may take long; from any thread. Has to come before ``carryOut()``.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  package func fill(while isWanted: () -> Bool) throws(KernelError) {
    try taken.open().copyContent(to: copy, while: isWanted)
    try copy.synchronize()
  }

  /// The names that have to be written down before ``carryOut()``; `nil` if the folder has no path.
  package var pending: PendingReplacement? {
    place.folder.currentPath.map {
      PendingReplacement(old: document.identity, new: new, folder: $0, name: place.name, temporary: temporary)
    }
  }

  /// Replaces the document. When this has failed, the document is as it was.
  ///
  /// - Returns: the new document at its place.
  package func carryOut() throws(KernelError) -> FoundDocument {
    try document.descriptor.copyAttributes(to: copy)
    // The content is on the disk already; a power failure leaves one or the other.
    try copy.synchronize()
    if !isNamed { try place.folder.name(copy, temporary) }
    do throws(KernelError) {
      try exchange()
    } catch {
      try? place.folder.removeFile(temporary)
      throw error
    }
    guard let present = place.present, present.identity == new else {
      throw KernelError(
        "rename", "another file came into the document's place at the same moment", errno: .resourceBusy)
    }
    return present
  }

  private func exchange() throws(KernelError) {
    let folder = place.folder
    do throws(KernelError) {
      try folder.exchange(temporary, with: place.name, in: folder)
    } catch {
      // Not every file system can let names change places.
      guard error.errno == .invalidArgument || error.errno == .noFunction else { throw error }
      guard place.present?.identity == document.identity else { throw Self.moved }
      return try folder.move(temporary, to: folder, as: place.name)
    }
    guard DocumentPlace.document(temporary, in: folder)?.identity == document.identity else {
      try? folder.exchange(temporary, with: place.name, in: folder)
      throw Self.moved
    }
    #if AMBIT_MUTANTS
      if Mutant.leftoverStays.isActive { return }
    #endif
    // Beside the document nothing stays.
    try? folder.removeFile(temporary)
  }

  private static let moved = KernelError("rename", "the document is not where it was any more", errno: .resourceBusy)

  /// Removes the copy's name, where it still has it and stands beside the document.
  private func discardCopy() {
    guard isNamed, DocumentPlace.document(temporary, in: place.folder)?.identity == new else { return }
    try? place.folder.removeFile(temporary)
  }

  /// Removes the app's file, which was copied.
  package func finish() {
    discardCopy()
    taken.remove()
  }

  /// Gives the app its file back, when the document was not replaced.
  package func giveBack(to folder: Descriptor, as name: String) {
    discardCopy()
    taken.giveBack(to: folder, as: name)
  }

  /// Ends the replacements that a dead broker had begun.
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
      // A crash may still bring an old package back: it stays whole until its folder is on the disk.
      if (try? folder.removeFile(temporary)) == nil, folder.namesAreOnDisk { try? folder.removeTree(temporary) }
    }
    return isReplaced
  }
}
