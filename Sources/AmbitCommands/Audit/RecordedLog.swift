internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Synchronization
internal import SystemPackage
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// The entries of a log, one after another: the broker's own file, read while the broker writes it, or the output of `ambit audit
/// log --format json`. A few thousand entries are held at a time, for a log of any length.
struct RecordedLog {
  private static let batch = 5000

  let path: String
  /// It is not the user's own log: whether it lacks its newest entries is looked at first.
  var isNamed = false
  /// Says on a terminal how far it is; interrupting ends it, and nothing is changed by that.
  var showsProgress = true

  /// Hands over every entry, in the log's order.
  ///
  /// - Parameter take: answers whether it wants more.
  /// - Returns: why a named log may lack its newest entries, which is said on standard error as well.
  @discardableResult
  func forEach(_ take: (AuditEvent) throws -> Bool) throws -> LogGap? {
    do {
      guard isJSONLines else { return try readLog(take) }
      try readLines(take)
      return nil
    } catch let error as AuditLogError {
      throw Launcher.Failure(printable(error.description), status: 2)
    }
  }

  /// Opens a log for reading, and says on standard error if a named one may lack its newest entries.
  static func open(_ path: String, isNamed: Bool) throws(AuditLogError) -> (reader: AuditReader, gap: LogGap?) {
    let reader = try AuditReader(path: path)
    guard isNamed, let gap = try reader.gap() else { return (reader, nil) }
    Launcher.Failure.say(gap.description)
    return (reader, gap)
  }

  private func readLog(_ take: (AuditEvent) throws -> Bool) throws -> LogGap? {
    let (reader, gap) = try Self.open(path, isNamed: isNamed)
    let last = try reader.lastSequence()
    let progress = LogProgress(of: last, isShown: showsProgress)
    defer { progress.clear() }
    var next: NextEntries? = NextEntries(reader, after: 0, limit: Self.batch)
    while let events = try next?.wait() {
      next = nil
      let seen = events.last?.sequence ?? last
      if events.count == Self.batch, seen < last { next = NextEntries(reader, after: seen, limit: Self.batch) }
      do {
        for event in events where try !take(event) {
          _ = try next?.wait()
          return gap
        }
      } catch {
        _ = try? next?.wait()
        throw error
      }
      progress.show(seen)
    }
    return gap
  }

  // MARK: JSON Lines

  /// SQLite's files begin with its name.
  var isJSONLines: Bool {
    guard let file = try? Descriptor.regularFile(path) else { return false }
    return (try? file.bytes(at: 0, count: 1)) == [UInt8(ascii: "{")]
  }

  private func readLines(_ take: (AuditEvent) throws -> Bool) throws {
    guard let file = unsafe fopen(path, "re") else {
      throw Launcher.Failure(
        "\(printable(path)) cannot be read: \(KernelError("fopen", path, errno: .init(rawValue: errno)))", status: 2)
    }
    defer { unsafe _ = fclose(file) }
    let decoder = JSONDecoder()
    var line = unsafe UnsafeMutablePointer<CChar>?.none
    var room = 0
    defer { unsafe free(line) }
    var number = 0
    var last: Int64?
    while true {
      let count = unsafe getline(&line, &room, file)
      guard count > 0, let bytes = unsafe line else { return }
      number += 1
      let data = unsafe Data(bytes: bytes, count: count)
      if data.allSatisfy({ $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }) { continue }
      let event: AuditEvent
      do { event = try decoder.decode(AuditEvent.self, from: data) } catch {
        throw Launcher.Failure(
          "\(printable(path)):\(number): this is no entry of an audit log as “ambit audit log --format json” writes it: "
            + printable(Self.sentence(error)), status: 2)
      }
      if let last, event.sequence != last + 1 {
        throw Launcher.Failure("\(printable(path)):\(number): \(Self.fault(event.sequence, after: last))", status: 2)
      }
      last = event.sequence
      guard try take(event) else { return }
    }
  }

  /// The fault in an entry's number. The database is chained; for lines this is the only check.
  private static func fault(_ sequence: Int64, after last: Int64) -> String {
    if sequence <= last {
      return
        "entry \(sequence) stands behind entry \(last); a log has its entries in the order of their numbers, each once"
    }
    let missing = sequence == last + 2 ? "entry \(last + 1) is" : "entries \(last + 1) to \(sequence - 1) are"
    return
      "\(missing) missing, and what is not known of cannot be judged; take all of them: “ambit audit log --format json”, without a filter"
  }

  private static func sentence(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "“\(key.stringValue)” is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "“\(context.codingPath.map(\.stringValue).joined(separator: "."))” is of another type"
    case DecodingError.dataCorrupted(let context): context.debugDescription
    default: "\(error)"
    }
  }
}

/// Entries that a thread of its own reads, while those before are looked at.
private struct NextEntries {
  private final class Answer: Sendable {
    let events = Mutex<Result<[AuditEvent], AuditLogError>?>(nil)
  }

  private let answer = Answer()
  private let worker: Worker?

  init(_ reader: AuditReader, after sequence: Int64, limit: Int) {
    @Sendable func read() throws(AuditLogError) -> [AuditEvent] { try reader.events(after: sequence, limit: limit) }
    let answer = answer
    worker = try? Worker {
      let result = Result { () throws(AuditLogError) in try read() }
      answer.events.withLock { $0 = result }
    }
    // Without a thread they are read here.
    if worker == nil { answer.events.withLock { $0 = Result { () throws(AuditLogError) in try read() } } }
  }

  /// Once.
  func wait() throws(AuditLogError) -> [AuditEvent] {
    worker?.finish()
    return try answer.events.withLock { $0 }?.get() ?? []
  }
}

/// How far a long reading is, on a terminal.
final class LogProgress {
  /// The text that clears the line on a terminal.
  static let cleared = "\r\u{1b}[2K"

  /// Whether lines that are written there would stand behind it.
  static func isSeen(beside descriptor: Int32) -> Bool { isatty(descriptor) == 1 && isOnTerminal }

  private static var isOnTerminal: Bool {
    isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  private let total: Int64
  private let isShown: Bool
  private let doing: String
  private var last = -1

  init(of total: Int64, isShown: Bool, doing: String = "reading the log") {
    self.doing = doing
    self.total = total
    self.isShown = isShown && Self.isOnTerminal
  }

  func show(_ done: Int64) {
    let share = Int(done * 100 / max(1, total))
    guard isShown, share != last else { return }
    last = share
    try? Output.error.write("\(Self.cleared)\(doing): \(share) % of \(total) entries (interrupt to stop)")
  }

  func clear() {
    if last >= 0 { try? Output.error.write(Self.cleared) }
  }
}
