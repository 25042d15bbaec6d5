package import Kernel
package import SystemPackage

/// New content for a document in its own file. A program that waits for a lease on the document (``Kernel/FileLease``) has found
/// this file already: after a save by rename it would go on with the old content.
///
/// The file itself is written, so its mode, owner and attributes stay. That is no single step: before the first byte the old content
/// and a record of both (``RecoveryRecord``) are on the disk, in Ambit's state folder. A failure puts the old content back, and after
/// a broker that died the next one does (``InterruptedSaves``).
package struct InPlaceSave: Sendable {
  package enum Failure: Error, CustomStringConvertible {
    /// Nothing was written to the document.
    case untouched(KernelError)
    /// The document has its old content again.
    case restored(KernelError)
    /// The document is neither old nor new. Its old content is kept, and is put back when the next broker starts.
    case damaged(KernelError, restoring: KernelError)

    package var errno: Errno {
      switch self {
      case .untouched(let error), .restored(let error), .damaged(let error, _): error.errno
      }
    }

    package var description: String {
      switch self {
      case .untouched(let error): "\(error)"
      case .restored(let error): "\(error); the document has its old content again"
      case .damaged(let error, let second):
        "\(error); the old content could not be put back (\(second)), and is kept for the next start of the broker"
      }
    }
  }

  private let file: Descriptor
  private let content: Descriptor
  private let kept: KeptContent
  private let record: RecoveryRecord

  /// Keeps the old content. Copies and waits for the disk: from any thread but the loop's.
  ///
  /// - Parameters:
  ///   - file: the document, open for reading and writing; it may have a lease.
  ///   - path: where the document stands now.
  ///   - content: a regular file, open for reading.
  ///   - folder: for recovery copies; of the broker alone.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Throws: `EINVAL` if one of the two is no regular file, `ESTALE` if the file is another one; nothing is left then.
  package init(
    of file: Descriptor, _ identity: FileIdentity, at path: String, by content: Descriptor,
    keepingIn folder: Descriptor, while isWanted: () -> Bool = { true }
  ) throws(KernelError) {
    let (old, new) = (try file.status(), try content.status())
    guard old.kind == .regular, new.kind == .regular else {
      throw KernelError("read", "no regular file", errno: .invalidArgument)
    }
    guard try FileIdentity(of: file) == identity else {
      throw KernelError("open", path, errno: .staleNFSFileHandle)
    }
    (self.file, self.content) = (file, content)
    kept = KeptContent(in: folder, Grant.makeID())
    do throws(KernelError) {
      let copy = try kept.make(from: file, while: isWanted)
      guard try copy.status().size == old.size else {
        throw KernelError("read", "\(path), which is being written", errno: .resourceBusy)
      }
      record = RecoveryRecord(
        identity: identity, path: path,
        old: .init(size: old.size, digest: try FileDigest.content(through: copy, while: isWanted)),
        new: .init(size: new.size, digest: try FileDigest.content(through: content, while: isWanted)))
      try kept.note(record)
    } catch {
      kept.remove()
      throw error
    }
    FaultPoint.oldContentKept.pass()
  }

  /// Gives up before anything was written.
  package func discard() { kept.remove() }

  /// Writes the new content, and waits until it is on the disk. Once; from any thread but the loop's.
  ///
  /// - Parameters:
  ///   - isWanted: as above.
  ///   - beforeDisk: called before the new content's way to the disk is waited for, which may take long.
  package func carryOut(while isWanted: () -> Bool = { true }, beforeDisk: () -> Void = {}) throws(Failure) {
    do throws(KernelError) {
      // What lies in a full disk's way is found before the first byte.
      try file.reserve(record.new.size)
    } catch {
      kept.remove()
      throw .untouched(error)
    }
    do throws(KernelError) {
      try Self.write(content, over: file, record.new.size) { () throws(KernelError) in
        FaultPoint.contentWriting.pass()
        if FaultPoint.contentWriting.fails { throw KernelError("write", record.path, errno: .ioError) }
        return isWanted()
      } beforeDisk: {
        beforeDisk()
      }
    } catch {
      do throws(KernelError) { try restore() } catch let second { throw .damaged(error, restoring: second) }
      kept.remove()
      throw .restored(error)
    }
    FaultPoint.contentWritten.pass()
    // Of an earlier save that could not be undone either: its old content must not come back. This save's own goes last.
    for other in (try? KeptContent.all(in: kept.folder)) ?? [] where other.id != kept.id {
      if let found = try? other.readRecord(), found.identity == record.identity { other.remove() }
    }
    kept.remove()
  }

  private func restore() throws(KernelError) {
    try Self.write(try kept.open(), over: file, record.old.size) { () throws(KernelError) in
      FaultPoint.contentRestoring.pass()
      if FaultPoint.contentRestoring.fails { throw KernelError("write", record.path, errno: .ioError) }
      return true
    }
  }

  static func write(
    _ content: Descriptor, over file: Descriptor, _ size: UInt64, while isWanted: () throws(KernelError) -> Bool,
    beforeDisk: () -> Void = {}
  ) throws(KernelError) {
    let written = try content.copyContent(over: file, size: size, while: isWanted)
    // Also of an empty content.
    if written == 0, try !isWanted() { throw KernelError("copy_file_range", errno: .canceled) }
    try file.cut(at: written)
    beforeDisk()
    try file.synchronizeFully()
  }
}
