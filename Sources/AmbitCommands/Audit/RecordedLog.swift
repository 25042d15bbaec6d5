internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import SystemPackage
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// The entries of a log, one after another: the broker's own file, read while the broker writes it, or what `ambit audit log
/// --format json` wrote. However long it is, a few thousand entries are held at a time.
struct RecordedLog {
  private static let batch = 5000

  let path: String
  /// Says on a terminal how far it is; interrupting ends it, and nothing is changed by that.
  var showsProgress = true

  /// Hands over every entry, in the log's order.
  ///
  /// - Parameter take: answers whether it wants more.
  func forEach(_ take: (AuditEvent) throws -> Bool) throws {
    do {
      if isJSONLines { try readLines(take) } else { try readLog(take) }
    } catch let error as AuditLogError {
      throw Launcher.Failure(printable(error.description), status: 2)
    }
  }

  private func readLog(_ take: (AuditEvent) throws -> Bool) throws {
    let reader = try AuditReader(path: path)
    let last = try reader.lastSequence()
    let progress = Progress(of: last, isShown: showsProgress)
    defer { progress.clear() }
    var seen: Int64 = 0
    while true {
      let events = try reader.events(after: seen, limit: Self.batch)
      for event in events { guard try take(event) else { return } }
      seen = events.last?.sequence ?? seen
      if events.count < Self.batch || seen >= last { return }
      progress.show(seen)
    }
  }

  // MARK: JSON Lines

  /// SQLite's files begin with its name.
  private var isJSONLines: Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    return (try? file.read(upToCount: 1)) == Data("{".utf8)
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
      guard try take(event) else { return }
    }
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

/// How far a long reading is, on a terminal.
private final class Progress {
  private let total: Int64
  private let isShown: Bool
  private var last = -1

  init(of total: Int64, isShown: Bool) {
    self.total = total
    self.isShown = isShown && isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  func show(_ done: Int64) {
    let share = Int(done * 100 / max(1, total))
    guard isShown, share != last else { return }
    last = share
    try? Output.error.write("\r\u{1b}[2Kreading the log: \(share) % of \(total) entries (interrupt to stop)")
  }

  func clear() {
    if last >= 0 { try? Output.error.write("\r\u{1b}[2K") }
  }
}
