internal import GRDB

/// Why the log cannot be opened, written or read: a sentence that names the file and the remedy.
package struct AuditLogError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Problem: Equatable, Sendable {
    /// There is no log yet. Only a reader says so; a log is made where there is none.
    case missing
    /// The file is something else.
    case foreign
    /// A later version of Ambit wrote it.
    case newer
    /// It is a log, and bytes of it are wrong or gone.
    case damaged
    /// The file system has no room.
    case full
    /// The file, or the folder that it is in, cannot be opened or written.
    case inaccessible
    /// Another process kept it locked.
    case busy
    /// SQLite refused for another reason.
    case failed
  }

  /// The part of the log that it is about.
  package enum Part: Equatable, Sendable {
    case database
    /// The file with the entries that are not in the database yet.
    case journal
    /// The key, or a thing that is signed with it.
    case signature
  }

  package let problem: Problem
  package let part: Part
  package let file: String
  /// The finding, as the end of a sentence.
  package let finding: String

  /// Whether a look can find this while an entry is written, of a journal that was read in pieces.
  let mayPass: Bool

  init(_ problem: Problem, _ file: String, _ finding: String, of part: Part = .database, mayPass: Bool? = nil) {
    self.problem = problem
    self.part = part
    self.mayPass = mayPass ?? (part != .database)
    self.file = file
    self.finding = finding
  }

  package var description: String {
    switch problem {
    case .missing:
      return "There is no audit log at \(file): nothing has been recorded yet."
    case .foreign:
      return
        "\(file) is not an audit log of Ambit\(part == .journal ? " or its journal" : part == .signature ? " or what signs it" : ""): \(finding). It was left as it is. \(moveAway)"
    case .newer:
      return "The audit \(noun) \(file) was written by a newer version of Ambit (\(finding)). It was left as it is. "
        + "Use that version. Or: \(moveAway)"
    case .damaged:
      return "The audit \(noun) \(file) is damaged: \(finding). Nothing was repaired or overwritten. "
        + "Keep it for whoever looks into it. \(moveAway)"
    case .full:
      return "The audit \(noun) \(file) could not be written: \(finding). "
        + "Nothing of this entry was recorded. Free space there and try again."
    case .inaccessible:
      return "The audit \(noun) \(file) cannot be used: \(finding). "
        + "Make its folder one that you may write to, or set AMBIT_HOME to another."
    case .busy:
      return
        "The audit \(noun) \(file) is locked by another process: \(finding). Try again when that process has ended."
    case .failed:
      return "The audit \(noun) \(file) could not be used: \(finding)."
    }
  }

  private var noun: String {
    switch part {
    case .database: "log"
    case .journal: "journal"
    case .signature: "log's signature"
    }
  }

  private var moveAway: String {
    switch part {
    case .database where !LogFiles.isName(file): return "Where it should be a log, name that."
    case .database, .signature:
      let stem = LogFiles(anyOf: file).stem
      return
        "To begin a new log, move everything that is named after this one (\(stem).* and \(stem)-*) to another folder."
    case .journal:
      return "To go on without the entries that are only in it, move \(file) to another folder."
    }
  }
}

extension AuditLogError {
  /// Any error of an operation on the log, with its file.
  init(_ error: any Error, file: String) {
    switch error {
    case let error as AuditLogError:
      self = error
    case let error as DatabaseError:
      self.init(AuditLogError.problem(of: error), file, AuditLogError.finding(of: error))
    default:
      // GRDB cannot decode values only of a kind that Ambit never wrote.
      self.init(.damaged, file, "\(error)")
    }
  }

  private static func problem(of error: DatabaseError) -> Problem {
    switch error.resultCode {
    case .SQLITE_FULL: return .full
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: return .inaccessible
    case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy
    default: return .failed
    }
  }

  private static func finding(of error: DatabaseError) -> String {
    if error.resultCode == .SQLITE_FULL { return "its file system is full" }
    return "SQLite says \"\(error.message ?? "nothing")\" (\(error.extendedResultCode.rawValue))"
  }
}
