#if canImport(Glibc)
  internal import Glibc
#endif

/// The journal's file as its one writer has it: open, locked, and only ever made longer.
///
/// Emptying it is putting a new file in its place. So whoever reads a journal reads a file that nobody shortens: the
/// only bytes ever taken back are those of a batch that could not be written whole, which nobody was answered for.
final class JournalFile {
  let path: String
  private var descriptor: Int32
  /// Bytes of whole batches; everything after is to be taken back before the next one is written.
  private(set) var end: Int
  private var hasRemains: Bool

  /// The journal of a log: `audit.journal` beside `audit.sqlite`. Not `-journal`, which SQLite has a use for.
  static func path(ofLog log: String) -> String {
    (log.hasSuffix(".sqlite") ? String(log.dropLast(7)) : log) + ".journal"
  }

  private init(path: String, descriptor: Int32, end: Int, hasRemains: Bool) {
    self.path = path
    self.descriptor = descriptor
    self.end = end
    self.hasRemains = hasRemains
  }

  deinit { close(descriptor) }

  // MARK: Opening

  /// Opens the journal beside a log, for writing; nil when there is none.
  ///
  /// - Throws: problem `busy` when another process has it open for writing.
  static func open(_ path: String) throws(AuditLogError) -> (JournalFile, Journal)? {
    guard let descriptor = try descriptor(path, O_RDWR | O_APPEND) else { return nil }
    do throws(AuditLogError) {
      try lock(descriptor, path)
      // Until the lock was there, its writer may have put another file in this one's place.
      var (locked, named) = (stat(), stat())
      guard unsafe fstat(descriptor, &locked) == 0, unsafe stat(path, &named) == 0, locked.st_ino == named.st_ino else {
        throw busy(path)
      }
      let journal = try parsed(try contents(descriptor, path), path)
      // A header that never reached the disk is remains as well; what can be made of it is a new file.
      let file = JournalFile(path: path, descriptor: descriptor, end: journal.end, hasRemains: journal.torn > 0)
      return (file, journal)
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Makes a journal for what comes after an entry, in the place of the one that is there.
  ///
  /// - Parameter replacing: false: another process may have made one meanwhile, and that one stays.
  static func make(_ path: String, after base: Journal.Mark, replacing: Bool) throws(AuditLogError) -> JournalFile {
    let unfinished = path + ".new"
    // Left by a process that died here. It has no entry.
    unsafe unlink(unfinished)
    let flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe Glibc.open(unfinished, flags, 0o600)
    guard descriptor >= 0 else { throw AuditFile.inaccessible(path, errno, .journal) }
    let file = JournalFile(path: path, descriptor: descriptor, end: 0, hasRemains: false)
    do throws(AuditLogError) {
      try lock(descriptor, path)
      try file.append(Journal.header(after: base))
    } catch {
      unsafe unlink(unfinished)
      throw error
    }
    let code = unsafe replacing ? rename(unfinished, path) : link(unfinished, path)
    let error = errno
    if !replacing { unsafe unlink(unfinished) }
    guard code == 0 else {
      if replacing { unsafe unlink(unfinished) }
      if error == EEXIST { throw busy(path) }
      throw AuditFile.inaccessible(path, error, .journal)
    }
    return file
  }

  /// Takes the journal away. What it held has to be in the database, and on the disk.
  func remove() { unsafe unlink(path) }

  /// What a journal holds at this moment, for a reader; nil when there is none.
  static func read(_ path: String) throws(AuditLogError) -> Journal? {
    var attempts = 0
    while true {
      guard let descriptor = try descriptor(path, O_RDONLY) else { return nil }
      defer { close(descriptor) }
      do throws(AuditLogError) {
        return try parsed(try contents(descriptor, path), path)
      } catch {
        // Between two pages that were read, its writer may have taken a batch back and written another one there.
        // Damage stays.
        attempts += 1
        if attempts == 5 { throw error }
      }
    }
  }

  // MARK: Writing

  /// Adds bytes whole or not at all. Once they are written no process's end takes them back.
  func append(_ bytes: [UInt8]) throws(AuditLogError) {
    try takeBackRemains()
    var written = 0
    while written < bytes.count {
      // One call, unless the file system runs full in the middle of it: the second one then says so.
      let count = unsafe bytes.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress! + written, $0.count - written)
      }
      if count > 0 {
        written += count
        continue
      }
      let code = count == 0 ? EIO : errno
      if code == EINTR { continue }
      hasRemains = written > 0
      // If this fails, it is done before anything else is written.
      try? takeBackRemains()
      throw AuditFile.inaccessible(path, code, .journal)
    }
    end += written
  }

  /// Takes back what is no whole batch.
  func takeBackRemains() throws(AuditLogError) {
    guard hasRemains else { return }
    guard ftruncate(descriptor, off_t(end)) == 0 else { throw AuditFile.inaccessible(path, errno, .journal) }
    hasRemains = false
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

  /// One writer. The broker has a lock of its own; this one holds for whoever else would write.
  private static func lock(_ descriptor: Int32, _ path: String) throws(AuditLogError) {
    for _ in 0..<100 {
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

  private static func contents(_ descriptor: Int32, _ path: String) throws(AuditLogError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe pread(descriptor, &piece, piece.count, off_t(bytes.count))
      if count == 0 { return bytes }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno != EINTR {
        throw AuditFile.inaccessible(path, errno, .journal)
      }
    }
  }

  private static func parsed(_ bytes: [UInt8], _ path: String) throws(AuditLogError) -> Journal {
    do throws(Journal.Fault) { return try Journal(bytes) } catch {
      switch error {
      case .foreign(let finding): throw AuditLogError(.foreign, path, finding, of: .journal)
      case .newer(let finding): throw AuditLogError(.newer, path, finding, of: .journal)
      case .damaged(let finding): throw AuditLogError(.damaged, path, finding, of: .journal)
      }
    }
  }
}
