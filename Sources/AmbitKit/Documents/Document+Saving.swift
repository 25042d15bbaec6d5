internal import Foundation
internal import Kernel
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// One save, as it was when it began.
struct SaveJob: Sendable {
  let contents: Handover
  let attributes: Handover
  let token: Handover
  let operation: Document.SaveOperation
  /// Where the document is to be.
  let target: URL
  /// Where it was.
  let former: URL
  /// The document chose the name itself, by the type.
  let isRenaming: Bool
}

extension Document {
  /// Takes the content, and says where it goes.
  func prepareSave(to url: URL, for operation: SaveOperation) throws -> SaveJob {
    undoManager.endEventGroup()
    let type = savingFileType ?? fileType ?? "public.data"
    let target = renamed(url, for: operation)
    return SaveJob(
      contents: Handover(value: try contents(forType: type)),
      attributes: Handover(value: try fileAttributesToWrite(to: target, for: operation)),
      token: Handover(value: changeCountToken(for: operation)), operation: operation, target: target, former: fileURL,
      isRenaming: target != url)
  }

  /// The URL with the extension of the type that is saved (`DOC-12`).
  private func renamed(_ url: URL, for operation: SaveOperation) -> URL {
    guard savingFileType != fileType, url == fileURL else { return url }
    let ending = fileNameExtension(forType: savingFileType, saveOperation: operation)
    guard ending != url.pathExtension else { return url }
    return NSFileCoordinator.url(url, at: url.deletingPathExtension().appendingPathExtension(ending).path)
  }

  /// Writes the content under coordination.
  nonisolated func carryOut(_ job: SaveJob) throws {
    let isMoving = job.target != job.former
    // It may have been moved since this save was asked for.
    let target = isMoving ? job.target : fileURL
    var isConflict = false
    defer { if isConflict { onMainLater { self.lookForConflicts() } } }
    if isMoving { shared.withLock { $0.left = $0.known } }
    var isStaged = false
    try coordinate(writingItemAt: target, options: isMoving ? .forReplacing : []) { place in
      if job.isRenaming, FileStamp(of: place) != nil {
        throw CocoaError.make(
          .fileWriteFileExists, .EEXIST, target, "Another document has the name that this one would get by its type.")
      }
      if !isMoving { isConflict = try keepUnknown() }
      try writeContents(
        job.contents.value, andAttributes: job.attributes.value as? [AnyHashable: Any], safelyTo: place,
        for: job.operation)
      isStaged = StagedSave.isPlace(place, of: target)
      let stamp = FileStamp(of: place)
      if !isStaged { shared.withLock { $0.known = stamp } }
    }
    let stamp = FileStamp(of: target)
    if isStaged {
      // An opener that waited got the content in the file that it had found: that one has a stamp of its own.
      shared.withLock { $0.known = stamp ?? $0.known }
    } else if let stamp, stamp != shared.withLock({ $0.known }) {
      // Another program was quick.
      onMainLater { self.followFile() }
    }
    DocumentPicture(job.attributes.value as? [AnyHashable: Any])?.put(of: target)
  }

  func endSaving(_ job: SaveJob?, _ result: Result<Void, any Error>) {
    switch (job, result) {
    case (let job?, .success):
      fileModificationDate = shared.withLock { $0.known?.modified }
      updateChangeCount(withToken: job.token.value, for: job.operation)
      documentState.remove(.savingError)
      if job.target != job.former { follow(job) }
      if job.operation == .forCreating, !isOpen { becomeOpen() }
    case (_, .failure(let error)):
      documentState.insert(.savingError)
      report(error)
      scheduleAutosaveAfterFailure()
    case (nil, .success): break
    }
  }

  /// The document is the new file now; with another extension the old one is not wanted any more.
  private func follow(_ job: SaveJob) {
    let wasPresenting = isPresenting
    endPresenting()
    shared.withLock { $0.url = job.target }
    if job.operation == .forOverwriting,
      savingFileType != UTType(filenameExtension: job.former.pathExtension)?.identifier
    {
      let left = shared.withLock { $0.left }
      try? coordinate(writingItemAt: job.former, options: .forDeleting) { place in
        // What another program has written there since stays.
        if FileStamp(of: place) == left { try FileManager.default.removeItem(at: place) }
      }
    }
    if wasPresenting { present() }
  }

  /// A document that was saved for the first time is open (`UIDocument.save(to:for:)`).
  private func becomeOpen() {
    present()
    documentState = []
    noteChanges(since: false)
  }
}

/// A write beside a file, and its step into the file's place.
struct SafeWrite {
  let url: URL

  init(of url: URL) { self.url = url }

  /// - Parameter write: gets a free place, and the file as it is now.
  func carryOut(_ attributes: [AnyHashable: Any]?, _ write: (URL, URL?) throws -> Void) throws {
    let manager = FileManager.default
    let isThere = (try? manager.attributesOfItem(atPath: url.path)) != nil
    let folder = url.deletingLastPathComponent()
    let place = folder.appendingPathComponent(".\(UUID().uuidString)")
    do {
      try write(place, isThere ? url : nil)
      let named = (attributes ?? [:]).compactMap { key, value in
        ((key as? FileAttributeKey) ?? (key as? String).map(FileAttributeKey.init(rawValue:))).map { ($0, value) }
      }
      if !named.isEmpty {
        try manager.setAttributes(Dictionary(named) { $1 }, ofItemAtPath: place.path)
      }
      try synchronize(place)
      if isThere {
        try manager.replaceDocument(at: url, withItemAt: place)
      } else {
        try manager.moveItem(at: place, to: url)
      }
    } catch {
      try? manager.removeItem(at: place)
      throw error
    }
    // The names as well; a document outside of the container was put there by the broker, which has done it.
    try? synchronizeFolder(folder)
  }

  /// Has content on the disk: of a file, or of all files in a folder.
  private func synchronize(_ place: URL) throws {
    let paths =
      [place.path]
      + (FileManager.default.enumerator(atPath: place.path)?.compactMap {
        ($0 as? String).map { "\(place.path)/\($0)" }
      } ?? [])
    for path in paths {
      let descriptor: Descriptor
      do throws(KernelError) {
        descriptor = try AppFile.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      } catch {
        // A link has no content of its own.
        if error.errno == .tooManySymbolicLinkLevels { continue }
        throw error.cocoa(for: place)
      }
      do throws(KernelError) { try descriptor.synchronize() } catch { throw error.cocoa(for: place) }
    }
  }

  private func synchronizeFolder(_ folder: URL) throws {
    try AppFile.open(folder.path, O_RDONLY | O_DIRECTORY).synchronize()
  }
}
