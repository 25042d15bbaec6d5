internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// A file as it was at a moment: another one in its place, or new content in it, differs. Of a package all of its files count.
struct FileStamp: Sendable, Equatable {
  private let inode: UInt64
  private var size: Int
  /// In nanoseconds since 1970.
  private var time: Int64
  private var count = 1

  var modified: Date {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Date(timeIntervalSince1970: Double(seconds) + 1e-9 * Double(rest))
  }

  /// Items of a package that are looked at. Behind these a change goes unnoticed.
  private static let most = 10_000

  /// - Returns: `nil`: nothing is there.
  init?(of url: URL) {
    guard let status = Self.status(url.path) else { return nil }
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    time = Self.time(status)
    guard status.st_mode & S_IFMT == S_IFDIR, let items = FileManager.default.enumerator(atPath: url.path) else {
      return
    }
    // A folder's own size is the file system's affair.
    size = 0
    while let name = items.nextObject() as? String, count < Self.most {
      guard let status = Self.status("\(url.path)/\(name)") else { continue }
      count += 1
      if status.st_mode & S_IFMT == S_IFREG { size += Int(status.st_size) }
      time = max(time, Self.time(status))
    }
  }

  /// Foundation would look up the names of the owner and of the group as well.
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private static func time(_ status: stat) -> Int64 {
    Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }
}
