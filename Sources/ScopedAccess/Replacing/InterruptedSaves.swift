package import Kernel
internal import SystemPackage

/// Saves in place that a dead broker has left unfinished (``InPlaceSave``).
package enum InterruptedSaves {
  package struct Outcome: Sendable {
    package enum Result: Sendable {
      /// Nothing was written yet, or all of it: the document is left as it is.
      case wholeOld, wholeNew
      /// The old content is back. The torn one lies under this name in the recovery folder.
      case restored(found: String)
      /// The old content stays in the recovery folder, and the next start tries again.
      case failed(KernelError)
    }

    package let identity: FileIdentity
    package let path: String
    package let result: Result
  }

  /// Ends them all, by the content that the documents have.
  ///
  /// - Parameters:
  ///   - folder: for recovery copies; of the broker alone.
  ///   - finder: knows where a document is now.
  /// - Returns: those of documents that may have been written to.
  package static func settle(in folder: Descriptor, finder: DocumentFinder) throws(KernelError) -> [Outcome] {
    try KeptContent.all(in: folder).compactMap { kept in
      guard let record = kept.record else {
        kept.remove()
        return nil
      }
      do throws(KernelError) {
        return Outcome(
          identity: record.identity, path: record.path, result: try settle(record, kept, finder: finder))
      } catch { return Outcome(identity: record.identity, path: record.path, result: .failed(error)) }
    }
  }

  private static func settle(
    _ record: RecoveryRecord, _ kept: KeptContent, finder: DocumentFinder
  ) throws(KernelError) -> Outcome.Result {
    guard let document = finder.find(record.identity, lastSeenAt: record.path, pinned: nil)?.document else {
      throw KernelError("open", record.path, errno: .noSuchFileOrDirectory)
    }
    // Without waiting: another program may have a lease on it.
    let file = try document.descriptor.reopened([.readWrite, .nonBlocking])
    guard try FileIdentity(of: file) == record.identity else {
      throw KernelError("open", record.path, errno: .staleNFSFileHandle)
    }
    if try record.new.isContent(of: file) {
      // It may not have come to the disk.
      try file.synchronizeFully()
      kept.remove()
      return .wholeNew
    }
    if try record.old.isContent(of: file) {
      kept.remove()
      return .wholeOld
    }
    let old = try kept.open()
    guard try record.old.isContent(of: old) else {
      throw KernelError("read", "the kept content of \(record.path)", errno: .ioError)
    }
    // A program may have changed it since the broker died.
    let found = try kept.setAside(file)
    try InPlaceSave.write(old, over: file, record.old.size) {
      FaultPoint.contentRestoring.pass()
      return true
    }
    kept.remove()
    return .restored(found: found)
  }
}
