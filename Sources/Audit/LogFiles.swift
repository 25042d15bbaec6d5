internal import Foundation
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// The files of a log, all in one folder and all named after it.
package struct LogFiles: Equatable, Sendable {
  /// `…/audit.sqlite`: the log's name, and its first segment.
  package let log: String
  /// The common beginning of their names.
  let stem: String

  package init(_ log: String) {
    self.log = log
    stem = Self.endings.first(where: log.hasSuffix).map { String(log.dropLast($0.count)) } ?? log
  }

  /// The files of the log that a file is one of: the log itself, one of its segments, or a file beside it.
  init(anyOf file: String) {
    let files = LogFiles(file)
    let number = files.stem.utf8.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    let first = "\(files.stem.dropLast(number + 1)).sqlite"
    let isSegment =
      number >= 6 && Int(files.stem.suffix(number)).map { LogFiles(first).segment($0) == file } ?? false
    self.init(isSegment ? first : file)
  }

  private static let endings = [".sqlite", ".journal", ".head", ".end", ".begins", ".doubts", ".key", ".pub"]

  /// Whether a file is called as a log's files are.
  static func isName(_ path: String) -> Bool { endings.contains(where: path.hasSuffix) }

  /// Not `-journal`, which SQLite has a use for.
  var journal: String { stem + ".journal" }
  package var head: String { stem + ".head" }
  package var end: String { stem + ".end" }
  package var begins: String { stem + ".begins" }
  var doubts: String { stem + ".doubts" }
  package var key: String { stem + ".key" }
  package var publicKey: String { stem + ".pub" }

  var folder: String { log.parentPath ?? "." }

  /// The file of a segment: number 0 is the log itself.
  func segment(_ number: Int) -> String {
    number == 0 ? log : "\(stem)-\(String(repeating: "0", count: max(0, 6 - "\(number)".count)))\(number).sqlite"
  }

  /// A log of so many has never been.
  private var most: Int { 999_999_999 }

  /// The numbers of the segments that are there, in their order.
  ///
  /// - Parameter suffix: only those that have a file of SQLite's beside the database, with this ending.
  func segments(_ suffix: String = "") -> [Int] {
    var found: [Int] = []
    if unsafe access(log + suffix, F_OK) == 0 { found.append(0) }
    let prefix = stem.lastPathName + "-"
    guard let folder = unsafe opendir(folder) else { return found }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      let ending = ".sqlite" + suffix
      guard name.hasPrefix(prefix), name.hasSuffix(ending) else { continue }
      guard let number = Int(name.dropFirst(prefix.count).dropLast(ending.count)), (1...most).contains(number) else {
        continue
      }
      let path = segment(number) + suffix
      guard path.lastPathName.isSamePath(as: name) else { continue }
      found.append(number)
    }
    return found.sorted()
  }
}

/// Files of a line or a key: read whole, and made whole or not at all.
enum SmallFile {
  static let most = 4096

  /// Nil when there is none.
  static func read(_ path: String) throws(AuditLogError) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      if errno == ELOOP { throw AuditLogError(.damaged, path, "it is a symbolic link", of: .signature) }
      throw AuditFile.inaccessible(path, errno, .signature)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw AuditLogError(.damaged, path, "it is no regular file", of: .signature)
    }
    var bytes = [UInt8](repeating: 0, count: most)
    while true {
      let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
      if count >= 0 { return Array(bytes.prefix(count)) }
      if errno != EINTR { throw AuditFile.inaccessible(path, errno, .signature) }
    }
  }

  /// Puts a file in the place of the one that is there, and on the disk.
  static func make(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(AuditLogError) {
    let unfinished = path + ".new"
    unsafe unlink(unfinished)
    let descriptor = unsafe open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw AuditFile.inaccessible(path, errno, .signature) }
    defer { close(descriptor) }
    let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
    let isWritten = count == bytes.count && fsync(descriptor) == 0
    guard isWritten, unsafe rename(unfinished, path) == 0 else {
      let code = count >= 0 && count < bytes.count ? ENOSPC : errno
      unsafe unlink(unfinished)
      throw AuditFile.inaccessible(path, code, .signature)
    }
    syncFolder(of: path)
  }

  /// So that a name that was made or taken away is, after a power failure as well.
  static func syncFolder(of path: String) {
    let folder = unsafe open(LogFiles(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }
}
