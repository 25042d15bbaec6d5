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
    var saves: [Save] = []
    for kept in try KeptContent.all(in: folder) {
      do throws(KernelError) {
        if let record = try kept.readRecord() { saves.append(Save(kept: kept, record: record)) } else { kept.remove() }
      } catch {
        // It may be of a torn document: it stays for the next start.
        continue
      }
    }
    return withoutOvertaken(saves, finder).map { save in
      let record = save.record
      do throws(KernelError) {
        return Outcome(
          identity: record.identity, path: record.path, result: try settle(record, save.kept, finder: finder))
      } catch { return Outcome(identity: record.identity, path: record.path, result: .failed(error)) }
    }
  }

  private struct Save {
    let kept: KeptContent
    let record: RecoveryRecord
  }

  /// Leaves out the saves of documents that another one has written whole: their old contents must not come back.
  private static func withoutOvertaken(_ saves: [Save], _ finder: DocumentFinder) -> [Save] {
    Dictionary(grouping: saves, by: \.record.identity).values.flatMap { group -> [Save] in
      guard group.count > 1, let file = try? opened(group[0].record, finder),
        let whole = group.firstIndex(where: { (try? $0.record.new.isContent(of: file)) == true })
      else { return group }
      for (index, other) in group.enumerated() where index != whole { other.kept.remove() }
      return [group[whole]]
    }
  }

  private static func opened(_ record: RecoveryRecord, _ finder: DocumentFinder) throws(KernelError) -> Descriptor {
    guard let document = finder.find(record.identity, lastSeenAt: record.path, pinned: nil)?.document else {
      throw KernelError("open", record.path, errno: .noSuchFileOrDirectory)
    }
    // Without waiting: another program may have a lease on it.
    let file = try document.descriptor.reopened([.readWrite, .nonBlocking])
    guard try FileIdentity(of: file) == record.identity else {
      throw KernelError("open", record.path, errno: .staleNFSFileHandle)
    }
    return file
  }

  private static func settle(
    _ record: RecoveryRecord, _ kept: KeptContent, finder: DocumentFinder
  ) throws(KernelError) -> Outcome.Result {
    let file = try opened(record, finder)
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
