internal import Cryptography
internal import Foundation
internal import GRDB

#if canImport(Glibc)
  internal import Glibc
#endif

/// The journal's file as its one writer has it: open, locked, and only ever written to where nothing was.
///
/// Emptying it is putting a new file in its place. So a reader of a journal reads a file that is never shortened: the only
/// bytes ever taken back are those of a batch that could not be written whole, for which no answer was given.
///
/// A new one has zeros as far as it is meant to go, which reach the disk before it is used: a record then changes bytes
/// that the file has already, and bringing those to the disk (`fdatasync`) takes no change of the file system's own.
final class JournalFile: Sendable {
  let path: String
  let descriptor: Int32

  /// Where its writer has come to.
  struct Tail {
    /// Bytes of whole batches.
    var end: Int
    /// Whether there is anything after them, to be taken back before the next one is written.
    var hasRemains: Bool
    /// Bytes of the file, including the zeros for later records.
    var length: Int
  }

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Which time since a start of the machine this is (`/proc/sys/kernel/random/boot_id`).
  static let boot: [UInt8] = {
    let text = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
    return Hexadecimal.bytes(text.filter(\.isHexDigit)) ?? []
  }()

  // MARK: Opening

  /// Opens the journal beside a log, for writing, and answers its bytes; nil when there is none.
  ///
  /// - Throws: problem `busy` when another process has it open for writing.
  static func open(_ path: String) throws(AuditLogError) -> (JournalFile, [UInt8])? {
    guard let descriptor = try descriptor(path, O_RDWR) else { return nil }
    let file = JournalFile(path: path, descriptor: descriptor)
    try lock(descriptor, path)
    // Until the lock was there, its writer may have put another file in this one's place.
    var (locked, named) = (stat(), stat())
    guard unsafe fstat(descriptor, &locked) == 0, unsafe stat(path, &named) == 0, locked.st_ino == named.st_ino else {
      throw busy(path)
    }
    return (file, try contents(descriptor, path, whole: true))
  }

  /// Makes a journal for the entries after a given one: in no place yet, see ``take(_:replacing:)``.
  ///
  /// - Parameter size: bytes up to which it has zeros, in all. With no room for them it has fewer.
  static func make(_ path: String, after base: ChainMark, size: Int) throws(AuditLogError) -> (JournalFile, Tail) {
    let unfinished = path + ".new"
    // Left by a process that died here. It has no entry.
    unsafe unlink(unfinished)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe Glibc.open(unfinished, flags, 0o600)
    guard descriptor >= 0 else { throw AuditFile.inaccessible(path, errno, .journal) }
    let file = JournalFile(path: path, descriptor: descriptor)
    do throws(AuditLogError) {
      try lock(descriptor, path)
      var tail = Tail(end: 0, hasRemains: false, length: 0)
      try file.append(Journal.header(after: base, boot: boot), &tail)
      try? file.setAside(size, &tail)
      return (file, tail)
    } catch {
      unsafe unlink(unfinished)
      throw error
    }
  }

  /// Puts one that was made into its place.
  ///
  /// - Parameter replacing: false: another process may have made one meanwhile, and that one stays.
  func take(replacing: Bool) throws(AuditLogError) {
    let unfinished = path + ".new"
    let code = unsafe replacing ? rename(unfinished, path) : link(unfinished, path)
    let error = errno
    if !replacing { unsafe unlink(unfinished) }
    guard code == 0 else {
      if replacing { unsafe unlink(unfinished) }
      if error == EEXIST { throw Self.busy(path) }
      throw AuditFile.inaccessible(path, error, .journal)
    }
  }

  /// Takes the journal away. Its entries have to be in the database, and on the disk.
  func remove() { unsafe unlink(path) }

  /// The bytes that a journal has at this moment, for a reader; nil when there is none.
  ///
  /// - Parameter whole: also records after more zeros than are between two records.
  static func read(_ path: String, whole: Bool) throws(AuditLogError) -> [UInt8]? {
    guard let descriptor = try descriptor(path, O_RDONLY) else { return nil }
    defer { close(descriptor) }
    return try contents(descriptor, path, whole: whole)
  }

  // MARK: Writing

  /// Has zeros up to a length.
  private func setAside(_ length: Int, _ tail: inout Tail) throws(AuditLogError) {
    let zeros = [UInt8](repeating: 0, count: 65536)
    while tail.length < length {
      let count = unsafe pwrite(descriptor, zeros, min(zeros.count, length - tail.length), off_t(tail.length))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw AuditFile.inaccessible(path, count == 0 ? EIO : errno, .journal) }
      tail.length += count
    }
  }

  /// Adds bytes whole or not at all. Once they are written no process's end takes them back.
  ///
  /// - Parameter reserve: bytes of zeros that have to be left after them. Where there is no room for that, nothing is added.
  func append(_ bytes: [UInt8], _ tail: inout Tail, leaving reserve: Int = 0) throws(AuditLogError) {
    try takeBackRemains(&tail)
    let wanted = tail.end + bytes.count + reserve
    if reserve > 0, tail.length < wanted { try setAside(wanted + 65536, &tail) }
    var written = 0
    while written < bytes.count {
      // One call, unless the file system runs full in the middle of it: the second one then says so.
      let count = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(tail.end + written))
      }
      if count > 0 {
        written += count
        continue
      }
      let code = count == 0 ? EIO : errno
      if code == EINTR { continue }
      tail.hasRemains = written > 0
      // If this fails, it is done before anything else is written.
      try? takeBackRemains(&tail)
      throw AuditFile.inaccessible(path, code, .journal)
    }
    tail.end += written
    tail.length = max(tail.length, tail.end)
  }

  /// Takes back an incomplete batch, and the zeros after it.
  func takeBackRemains(_ tail: inout Tail) throws(AuditLogError) {
    guard tail.hasRemains else { return }
    guard ftruncate(descriptor, off_t(tail.end)) == 0 else { throw AuditFile.inaccessible(path, errno, .journal) }
    tail.hasRemains = false
    tail.length = tail.end
  }

  /// Bytes of the file.
  func length() -> Int {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The first bytes of it.
  func prefix(_ count: Int) throws(AuditLogError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var place = 0
    while place < count {
      let read = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress! + place, count - place, off_t(place))
      }
      if read > 0 {
        place += read
      } else if read == 0 || errno != EINTR {
        throw AuditFile.inaccessible(path, read == 0 ? EIO : errno, .journal)
      }
    }
    return bytes
  }

  // MARK: The calls

  /// An open journal; nil when there is none.
  private static func descriptor(_ path: String, _ flags: Int32) throws(AuditLogError) -> Int32? {
    // Without O_NONBLOCK a pipe in its place would wait for its other end.
    let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP: throw AuditLogError(.foreign, path, "it is a symbolic link", of: .journal)
      case EISDIR, ENXIO: throw AuditLogError(.foreign, path, "it is no regular file", of: .journal)
      default: throw AuditFile.inaccessible(path, errno, .journal)
      }
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw AuditLogError(.foreign, path, "it is no regular file", of: .journal)
    }
    return descriptor
  }

  /// One writer. The broker has a lock of its own; this one holds against any other writer.
  private static func lock(_ descriptor: Int32, _ path: String) throws(AuditLogError) {
    for _ in 0..<200 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw AuditFile.inaccessible(path, errno, .journal) }
      // Its holder may be about to leave.
      usleep(10_000)
    }
    throw busy(path)
  }

  private static func busy(_ path: String) -> AuditLogError {
    AuditLogError(.busy, path, "a log has one writer at a time", of: .journal)
  }

  /// A file's content, but for the zeros at its end.
  private static func contents(_ descriptor: Int32, _ path: String, whole: Bool) throws(AuditLogError) -> [UInt8] {
    var bytes: [UInt8] = []
    var place = 0
    var piece = [UInt8](repeating: 0, count: 16384)
    let zeros = piece
    var zerosBefore = 0
    while true {
      let count = unsafe pread(descriptor, &piece, piece.count, off_t(place))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw AuditFile.inaccessible(path, errno, .journal) }
      if count == 0 { return bytes }
      place += count
      if unsafe memcmp(piece, zeros, count) == 0 {
        zerosBefore += count
        // A record begins with its length: so many zeros are none.
        if !whole, zerosBefore > zeros.count { return bytes }
      } else {
        bytes += repeatElement(0, count: zerosBefore)
        bytes += piece[..<count]
        zerosBefore = 0
      }
    }
  }
}

extension Journal {
  /// The records in the bytes of a file.
  init(_ bytes: [UInt8], file: String, trusting trusted: Int64 = 0) throws(AuditLogError) {
    do throws(Journal.Fault) { try self.init(bytes, boot: JournalFile.boot, trusting: trusted) } catch {
      switch error {
      case .foreign(let finding): throw AuditLogError(.foreign, file, finding, of: .journal)
      case .newer(let finding): throw AuditLogError(.newer, file, finding, of: .journal)
      case .damaged(let finding): throw AuditLogError(.damaged, file, finding, of: .journal)
      }
    }
  }

  /// Checks that this is the journal of a log: that an entry which both have is the same in both.
  ///
  /// - Parameter last: the mark of the database's last entry.
  func check(against db: Database, last: ChainMark, file: String) throws {
    // With no entry in common, entries between the two are gone.
    let common = min(last.sequence, self.last.sequence)
    guard let mark = mark(common) else {
      throw AuditLogError(
        .damaged, file, "it goes on from entry \(base.sequence), and the log ends with entry \(last.sequence)",
        of: .journal)
    }
    guard try SegmentReader.hash(db, of: common) == mark.hash else {
      throw AuditLogError(.foreign, file, "its entry \(common) is another than the log's", of: .journal)
    }
  }
}
