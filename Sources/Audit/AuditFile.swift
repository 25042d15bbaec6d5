internal import Foundation
internal import GRDB
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// The log's file: made whole or not at all, and never touched when it is not as it should be.
enum AuditFile {
  /// A connection that reads and writes a segment of a log; it is made first if there is none.
  ///
  /// - Parameter base: the entry before its first, if it is made.
  static func openForWriting(_ path: String, of files: LogFiles, after base: ChainMark = ChainMark()) throws
    -> DatabaseQueue
  {
    if try !exists(path, files) { try create(path, after: base) }
    // SQLite opens a file that is only readable all the same, and says so when the first entries are to be moved there.
    if unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 { throw inaccessible(path, errno) }
    // A connection that cannot write looks at the present file, before one is opened that can.
    try readable(path).read { db in try AuditSchema.check(db, file: path) }
    let queue = try connect(path, writing: true)
    try AuditSchema.migrator.migrate(queue)
    try queue.read { db in try AuditSchema.check(db, file: path) }
    return queue
  }

  /// A connection that can only read a segment of a log, whether a process writes it meanwhile or not.
  static func openForReading(_ path: String, of files: LogFiles) throws -> DatabaseQueue {
    func requireFile() throws {
      guard try exists(path, files) else { throw AuditLogError(.missing, path, "there is no such file") }
    }
    try requireFile()
    do {
      let queue = try readable(path)
      try queue.read { db in
        try AuditSchema.check(db, file: path)
      }
      return queue
    } catch {
      // The log's keeper may have removed it since. SQLite's answer then depends on how far it had come.
      try requireFile()
      throw error
    }
  }

  private static func readable(_ path: String) throws -> DatabaseQueue {
    do {
      do { return try connect(path, writing: false) } catch let error as DatabaseError
        where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
      {
        guard try rollBack(path) else { throw error }
        return try connect(path, writing: false)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
      // Bytes at its beginning are not SQLite's: a file of another kind, or a log that something wrote over.
      throw AuditLogError(.foreign, path, "it is no SQLite database")
    } catch let error as DatabaseError where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) {
      if unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 { throw inaccessible(path, errno) }
      throw AuditLogError(
        .inaccessible, path,
        "SQLite keeps \(path)-shm beside a log that is read, and cannot make it there; "
          + "to read it all the same, copy it and, where they exist, \(path)-wal and "
          + "\(LogFiles(path).stem).journal to a folder of your own")
    }
  }

  /// Lets SQLite undo a change that a process had begun and died over, as when a segment becomes one file: before, the file cannot
  /// be read, and a read-only connection cannot undo it.
  ///
  /// SQLite writes where such a journal says, and deletes what it names. So only the caller's own is taken, in a folder that no
  /// other user can change: root that looks at another user's log is told to leave it to them.
  ///
  /// - Returns: false where there is nothing of that kind.
  private static func rollBack(_ path: String) throws -> Bool {
    let journal = "\(path)-journal"
    guard let journalStatus = status(journal) else { return false }
    let isOurs =
      [status(path), journalStatus].allSatisfy { status in
        status.map { $0.st_mode & S_IFMT == S_IFREG && $0.st_nlink == 1 && $0.st_uid == geteuid() } ?? false
      } && (status(LogFiles(path).folder).map { $0.st_uid == geteuid() && $0.st_mode & 0o022 == 0 } ?? false)
    guard isOurs else {
      throw AuditLogError(
        .inaccessible, path,
        "a process died while it completed this file, and only its owner can have it completed; any `ambit run` of theirs does"
      )
    }
    // Nothing is done to another user's file, nor by a journal that is not SQLite's for this one file.
    guard try bytes(of: path, at: 68, count: 4).elementsEqual(applicationMark) else { return false }
    let end = try bytes(
      of: journal, at: max(0, Int(journalStatus.st_size) - superJournal.count), count: superJournal.count)
    guard !end.elementsEqual(superJournal) else {
      throw AuditLogError(.damaged, path, "\(journal) beside it names another file, as none of Ambit's does")
    }
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.label = "audit"
    // Opening it does it, and looking at it.
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
    try queue.close()
    return true
  }

  /// As it stands in a database's first page.
  private static let applicationMark = (0..<4).map {
    UInt8(truncatingIfNeeded: AuditSchema.applicationID >> (24 - 8 * $0))
  }
  /// Ends a journal that belongs to several databases.
  private static let superJournal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

  /// The file with this name, no link followed.
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private static func bytes(of path: String, at offset: Int, count: Int) throws -> Data {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    return try file.read(upToCount: count) ?? Data()
  }

  private static func connect(_ path: String, writing: Bool) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = !writing
    configuration.busyMode = .timeout(5)
    configuration.label = "audit"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      try db.execute(sql: "PRAGMA cell_size_check = ON")
      guard writing else { return }
      // NORMAL: after a power failure the last entries may be missing, and never one in the middle. A process that
      // dies loses nothing.
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Makes an empty log beside its place and links it there when it is complete, so that a log which exists is one, at whatever
  /// moment a process dies. A log that another process made meanwhile stays.
  private static func create(_ path: String, after base: ChainMark) throws {
    let unfinished = path + ".new-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    // Not readable for others: it says which documents its user has.
    let descriptor = unsafe open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw inaccessible(path, errno) }
    // No connection is open yet: closing a descriptor of a database drops the locks that its process holds on it.
    close(descriptor)
    defer { for suffix in ["", "-journal", "-wal", "-shm"] { unsafe unlink(unfinished + suffix) } }
    do {
      let queue = try connect(unfinished, writing: true)
      try queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA application_id = \(AuditSchema.applicationID)")
      }
      try AuditSchema.migrator.migrate(queue)
      if base.sequence > 0 {
        try queue.write { db in
          try db.execute(sql: "INSERT INTO base VALUES (?, ?)", arguments: [base.sequence, base.hash.data])
        }
      }
      try queue.close()
    } catch {
      throw AuditLogError(error, file: path)
    }
    guard unsafe link(unfinished, path) == 0 || errno == EEXIST else { throw inaccessible(path, errno) }
    SmallFile.syncFolder(of: path)
  }

  /// Whether there is a file; refuses anything that cannot be a log without opening it.
  private static func exists(_ path: String, _ files: LogFiles) throws -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw inaccessible(path, errno) }
      // SQLite would play a write-ahead log that was left behind into the new file, and so lose the entries in it.
      for suffix in ["-wal", "-journal"] where unsafe stat(path + suffix, &status) == 0 && status.st_size > 0 {
        throw AuditLogError(.damaged, path, "it is gone, and \(path)\(suffix) with entries of it is still there")
      }
      guard path == files.log else { return false }
      for rest in [files.journal, files.head] {
        if unsafe lstat(rest, &status) == 0, status.st_size > Journal.headerSize {
          throw AuditLogError(.damaged, path, "it is gone, and \(rest) of it is still there")
        }
      }
      return false
    }
    // Its other files would be looked for beside the link.
    guard status.st_mode & S_IFMT != S_IFLNK else { throw AuditLogError(.foreign, path, "it is a symbolic link") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw AuditLogError(.foreign, path, "it is no regular file") }
    guard status.st_size > 0 else { throw AuditLogError(.foreign, path, "it is empty") }
    // SQLite opens any file under these names, and would wait for the writer of a pipe.
    for suffix in ["-wal", "-shm", "-journal"] {
      guard let beside = Self.status(path + suffix), beside.st_mode & S_IFMT != S_IFREG else { continue }
      throw AuditLogError(.foreign, path, "\(path)\(suffix) beside it is no regular file")
    }
    return true
  }

  static func inaccessible(_ path: String, _ code: Int32, _ part: AuditLogError.Part = .database) -> AuditLogError {
    let folder = path.parentPath ?? "."
    switch code {
    case ENOSPC, EDQUOT:
      return AuditLogError(.full, path, "its file system is full", of: part)
    case ENOENT:
      return AuditLogError(.inaccessible, path, "the folder \(folder) does not exist", of: part)
    case ENOTDIR:
      return AuditLogError(.inaccessible, path, "a part of its path is a file, not a folder", of: part)
    case EACCES, EPERM:
      return AuditLogError(.inaccessible, path, "there is no permission to use it or its folder \(folder)", of: part)
    case EFBIG:
      return AuditLogError(.full, path, "no file may become that large (ulimit -f)", of: part)
    case EROFS:
      return AuditLogError(.inaccessible, path, "its file system is read-only", of: part)
    default:
      return AuditLogError(.inaccessible, path, unsafe String(cString: strerror(code)), of: part)
    }
  }
}
