internal import Foundation

/// A file as it was at a moment: another one in its place, or new content in it, differs. Of a package all of its files count.
struct FileStamp: Sendable, Equatable {
  private let inode: UInt64
  private var size: Int
  private(set) var modified: Date
  private var count = 1

  /// Items of a package that are looked at. Behind these a change goes unnoticed.
  private static let most = 10_000

  /// - Returns: `nil`: nothing is there.
  init?(of url: URL) {
    let manager = FileManager.default
    guard let attributes = try? manager.attributesOfItem(atPath: url.path) else { return nil }
    inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    modified = attributes[.modificationDate] as? Date ?? .distantPast
    guard attributes[.type] as? FileAttributeType == .typeDirectory, let items = manager.enumerator(atPath: url.path)
    else { return }
    // A folder's own size is the file system's affair.
    size = 0
    while let name = items.nextObject() as? String, count < Self.most {
      guard let attributes = try? manager.attributesOfItem(atPath: "\(url.path)/\(name)") else { continue }
      count += 1
      if attributes[.type] as? FileAttributeType == .typeRegular {
        size += (attributes[.size] as? NSNumber)?.intValue ?? 0
      }
      modified = max(modified, attributes[.modificationDate] as? Date ?? .distantPast)
    }
  }
}
