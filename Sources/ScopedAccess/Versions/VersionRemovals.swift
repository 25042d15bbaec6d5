package import Kernel
internal import Synchronization

/// The table of versions on the disk. From any thread.
package struct VersionTable: Sendable {
  let path: String

  /// Waits until all that was written so far is on the disk.
  package func synchronize() throws(KernelError) {
    // A checkpoint has brought to the disk the records that it has moved from there to the database.
    guard let log = try? Descriptor.open("\(path)-wal", flags: [.read, .noFollow]) else { return }
    try log.synchronize()
  }
}

/// Contents that no version has any more: a thread removes them, since that takes long for many files and for large ones.
final class VersionRemovals: Sendable {
  private let folder: Descriptor
  private let table: VersionTable
  private let most: UInt64
  private let bytes = Mutex<UInt64>(0)

  /// - Parameter most: bytes that may be on their way out while others are kept.
  init(of table: VersionTable, in folder: Descriptor, most: UInt64) {
    (self.table, self.folder, self.most) = (table, folder, most)
  }

  /// An app could keep and remove faster than a thread frees the room.
  var areTooMuch: Bool { bytes.withLock { $0 > most } }

  /// - Parameters:
  ///   - names: in the folder of the contents; one that is not there will do.
  ///   - size: bytes of all of them.
  func remove(_ names: [String], size: UInt64) {
    if names.isEmpty { return }
    bytes.withLock { $0 += size }
    DirectoryReaper.shared.remove { [self] in
      defer { bytes.withLock { $0 -= size } }
      // A power failure could bring the row back, and a row without content would be a lie. The next broker removes what stays.
      guard (try? table.synchronize()) != nil else { return }
      for name in names where (try? folder.removeFile(name)) == nil { try? folder.removeTree(name) }
    }
  }
}
