import Foundation
import GRDB
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `A log that is out of reach` {
  @Test func `is named with the folder that does not exist`() throws {
    let folder = try Folder()
    let error = #expect(throws: AuditLogError.self) { _ = try AuditLog(path: "\(folder.path)/none/audit.sqlite") }
    #expect(error?.problem == .inaccessible)
    #expect(error?.description.contains("the folder \(folder.path)/none does not exist") == true)
  }

  @Test func `is refused below a file`() throws {
    let folder = try Folder()
    try Data().write(to: URL(filePath: "\(folder.path)/file"))
    for open: (String) throws -> Void in [{ _ = try AuditLog(path: $0) }, { _ = try AuditReader(path: $0) }] {
      let error = #expect(throws: AuditLogError.self) { try open("\(folder.path)/file/audit.sqlite") }
      #expect(error?.problem == .inaccessible)
      #expect(error?.description.contains("is a file, not a folder") == true)
    }
  }

  @Test(arguments: ["/dev/full", "/dev/null", "/"])
  func `is refused where there is no regular file`(path: String) throws {
    for open: (String) throws -> Void in [{ _ = try AuditLog(path: $0) }, { _ = try AuditReader(path: $0) }] {
      let error = #expect(throws: AuditLogError.self) { try open(path) }
      #expect(error?.problem == .foreign)
      #expect(error?.description.hasPrefix("\(path) is not an audit log of Ambit: it is no regular file") == true)
    }
  }

  @Test func `is refused where it is a pipe, without waiting for its other end`() throws {
    let folder = try Folder()
    #expect(unsafe mkfifo(folder.log, 0o600) == 0)
    #expect(throws: AuditLogError.self) { _ = try AuditLog(path: folder.log) }
    #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
  }

  @Test func `does not exist yet for a reader, and is not made by one`() throws {
    let folder = try Folder()
    let error = #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
    #expect(error?.problem == .missing)
    #expect(error?.description.contains("nothing has been recorded yet") == true)
    #expect(try folder.contents().isEmpty)
  }

  // What changes the user or the limits of the whole process happens in a process of its own.

  @Test func `is not made in a folder without permission, and nothing is left there`() async {
    await #expect(processExitsWith: .success) { try openInForbiddenFolder() }
  }

  @Test func `says how to read it where nothing can stand beside it`() async {
    await #expect(processExitsWith: .success) { try readInForbiddenFolder() }
  }

  @Test func `is not written when the file is read-only, and is still read`() async {
    await #expect(processExitsWith: .success) { try openReadOnlyFile() }
  }

  @Test func `loses nothing and goes on when a write fails and the next one works`() async {
    await #expect(processExitsWith: .success) { try writeUpToALimit() }
  }

  @Test(
    "every refusal of SQLite becomes a sentence with the file and the remedy",
    arguments: [
      (ResultCode.SQLITE_FULL, AuditLogError.Problem.full, "Free space there"),
      (.SQLITE_READONLY, .inaccessible, "AMBIT_HOME"),
      (.SQLITE_READONLY_DIRECTORY, .inaccessible, "AMBIT_HOME"),
      (.SQLITE_CANTOPEN, .inaccessible, "AMBIT_HOME"),
      (.SQLITE_CORRUPT, .damaged, "(/logs/audit.* and /logs/audit-*)"),
      (.SQLITE_CORRUPT_INDEX, .damaged, "(/logs/audit.* and /logs/audit-*)"),
      (.SQLITE_NOTADB, .damaged, "(/logs/audit.* and /logs/audit-*)"),
      (.SQLITE_BUSY, .busy, "Try again"),
      (.SQLITE_BUSY_SNAPSHOT, .busy, "Try again"),
      (.SQLITE_IOERR_WRITE, .failed, "could not be used"),
    ])
  func sentences(code: ResultCode, problem: AuditLogError.Problem, words: String) {
    let error = AuditLogError(DatabaseError(resultCode: code), file: "/logs/audit.sqlite")
    #expect(error.problem == problem)
    #expect(error.description.contains("/logs/audit.sqlite"))
    #expect(error.description.contains(words))
  }

  @Test func `AUD-8: the advice names everything of the log, whichever of its files is damaged`() {
    for name in ["audit.sqlite", "audit-000012.sqlite", "audit-1234567.sqlite", "audit.head", "audit.key"] {
      let error = AuditLogError(.damaged, "/logs/\(name)", "it is not as it was written")
      #expect(error.description.contains("(/logs/audit.* and /logs/audit-*)"), "\(name)")
    }
    for name in ["audit-12.sqlite", "audit-0000012.sqlite", "2026-000001-x.sqlite", "000001.sqlite"] {
      let stem = name.dropLast(7)
      let error = AuditLogError(.damaged, "/logs/\(name)", "it is not as it was written")
      #expect(error.description.contains("(/logs/\(stem).* and"), "\(name): \(error)")
    }
  }
}

private func openInForbiddenFolder() throws {
  let folder = try Folder()
  try asOrdinaryUser(owning: folder.path) {
    #expect(unsafe chmod(folder.path, 0o500) == 0)
    let error = #expect(throws: AuditLogError.self) { _ = try AuditLog(path: folder.log) }
    #expect(error?.problem == .inaccessible)
    #expect(error?.description.contains("no permission to use it or its folder \(folder.path)") == true)
    #expect(unsafe chmod(folder.path, 0o700) == 0)
    let left = try folder.contents()
    #expect(left.isEmpty)
  }
}

private func readInForbiddenFolder() throws {
  let folder = try Folder()
  try asOrdinaryUser(owning: folder.path) {
    do { try AuditLog(path: folder.log).append([AuditEvent(.launch)]) }
    #expect(unsafe chmod(folder.path, 0o500) == 0)
    let error = #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
    #expect(error?.problem == .inaccessible)
    #expect(
      error?.description.contains("copy it and, where they exist, \(folder.log)-wal and \(folder.path)/audit.journal")
        == true)
    #expect(unsafe chmod(folder.path, 0o700) == 0)
    // A file that may not even be read says that instead.
    #expect(unsafe chmod(folder.log, 0) == 0)
    let unreadable = #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
    #expect(unreadable?.description.contains("no permission to use it") == true)
  }
}

private func openReadOnlyFile() throws {
  let folder = try Folder()
  try asOrdinaryUser(owning: folder.path) {
    do { try AuditLog(path: folder.log).append([AuditEvent(.launch)]) }
    #expect(unsafe chmod(folder.log, 0o400) == 0)
    let error = #expect(throws: AuditLogError.self) { try AuditLog(path: folder.log).append([AuditEvent(.exit)]) }
    #expect(error?.problem == .inaccessible)
    #expect(error?.description.contains(folder.log) == true)
    #expect(try AuditReader(path: folder.log).events(limit: 9).map(\.kind) == [.launch])
  }
}

private func writeUpToALimit() throws {
  let folder = try Folder()
  let log = try AuditLog(path: folder.log)
  for _ in 0..<5 { try log.append([AuditEvent(.launch)]) }
  // No file may grow: the kernel's answer to a write (EFBIG) comes from the same place as that of a full disk, and as
  // there it may take a part of what is written first.
  signal(SIGXFSZ, SIG_IGN)
  let resource = Int32(RLIMIT_FSIZE.rawValue)
  var usual = rlimit()
  #expect(unsafe getrlimit(resource, &usual) == 0)
  var recorded: Int64 = 5
  var failures = 0
  for size in stride(from: 2000, to: 5000, by: 61) {
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: usual.rlim_max)
    #expect(unsafe setrlimit(resource, &limit) == 0)
    for _ in 0..<2 {
      do throws(AuditLogError) {
        let last = try log.append([AuditEvent(.start), AuditEvent(.stop), AuditEvent(.exit)])
        #expect(last == recorded + 3)
        recorded = last
      } catch {
        failures += 1
        #expect(error.problem == .full)
        #expect(error.description.contains(LogFiles(folder.log).journal))
      }
    }
    // Neither can it be moved to the database, and stays where it is.
    #expect(throws: AuditLogError.self) { try log.flush() }
    #expect(unsafe setrlimit(resource, &usual) == 0)
    #expect(try AuditReader(path: folder.log).verify() == recorded)
  }
  #expect(failures > 10 && recorded > 11)
  try log.flush()
  #expect(try log.append([AuditEvent(.exit)]) == recorded + 1)
  #expect(try AuditReader(path: folder.log).verify() == recorded + 1)
  // Each batch whole or not at all.
  let kinds = try AuditReader(path: folder.log).events(after: 5, limit: 1000).dropLast().map(\.kind)
  #expect(kinds == (0..<kinds.count / 3).flatMap { _ in [.start, .stop, .exit] })
}

/// Runs as nobody if this process is root, for whom permissions do not count. For a process of its own.
func asOrdinaryUser(owning folder: String, _ body: () throws -> Void) throws {
  let nobody: uid_t = 65534
  let isRoot = geteuid() == 0
  if isRoot {
    #expect(unsafe chown(folder, nobody, nobody) == 0)
    #expect(seteuid(nobody) == 0)
  }
  defer { if isRoot { seteuid(0) } }
  try body()
}
