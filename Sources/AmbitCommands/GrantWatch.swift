internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Terminal

/// Tells of grants as they are given and as they end (`AUD-7`).
///
/// It goes by the log: the broker writes each change there before it answers, for any cause, and the next broker goes on in the
/// same log.
struct GrantWatch {
  private struct Change: Encodable {
    let change, time, app, grant: String
    let entry: Int64
    let document, access, how, rule, reason, parent: String?
  }

  private static let batch = 1000
  /// How long to wait for new entries, in milliseconds.
  private static let pause: Int32 = 200

  private let app: String?
  private let format: OutputFormat
  private let output: Output
  private var reader: AuditReader?
  private var seen: Int64 = 0

  /// Remembers where the log ends now.
  init(app: String?, format: OutputFormat, output: Output) throws {
    (self.app, self.format, self.output) = (app, format, output)
    reader = try Self.open()
    seen = try reader?.lastSequence() ?? 0
  }

  /// Follows until the reader has gone, or the program is interrupted.
  ///
  /// - Parameter grants: those that are known already.
  mutating func run(from grants: Set<String>) throws {
    var known = grants
    do {
      while try !output.hasHungUp(within: Self.pause) {
        if reader == nil { reader = try Self.open() }
        guard let reader, try reader.lastSequence() > seen else { continue }
        var events: [AuditEvent] = []
        repeat {
          events = try reader.events(after: seen, limit: Self.batch)
          for event in events { if let change = change(event, &known) { try write(change) } }
          seen = events.last?.sequence ?? seen
        } while events.count == Self.batch
      }
    } catch let error as KernelError where error.isHangUp {
      // The reader has read enough.
    } catch let error as AuditLogError {
      throw Launcher.Failure(printable(error.description))
    }
  }

  /// `nil`: there is no log yet.
  private static func open() throws -> AuditReader? {
    let path = try AuditCommand.defaultPath
    do throws(AuditLogError) { return try AuditReader(path: path) } catch {
      if error.problem == .missing { return nil }
      throw Launcher.Failure(printable(error.description))
    }
  }

  private func change(_ event: AuditEvent, _ known: inout Set<String>) -> Change? {
    guard let id = event.grant, let owner = event.app else { return nil }
    let word: String
    switch (event.kind, event.result) {
    // The grant had ended by the entry before, but the ending failed: it is in force.
    case (.grant, .allowed), (.revoke, .failed):
      guard known.insert(id).inserted else { return nil }
      word = "granted"
    case (.revoke, .allowed), (.grant, .failed):
      guard known.remove(id) != nil else { return nil }
      word = "ended"
    default: return nil
    }
    guard app == nil || app == owner else { return nil }
    return Change(
      change: word, time: Timestamp(event.time).text, app: owner, grant: id, entry: event.sequence,
      document: event.document?.path, access: event.detail[AuditEvent.Fact.access], how: event.how, rule: event.rule,
      reason: event.reason, parent: event.detail[AuditEvent.Fact.parent])
  }

  private func write(_ change: Change) throws {
    switch format {
    case .json:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      try output.write(json: String(decoding: try encoder.encode(change), as: UTF8.self))
    case .table:
      let style = Style(for: output.descriptor)
      let isGranted = change.change == "granted"
      let mark = style.apply([isGranted ? .green : .red], to: isGranted ? "+" : "−")
      let access = isGranted ? change.access.map { $0 == "readOnly" ? " (read)" : " (read and write)" } ?? "" : ""
      let why = [change.how, change.reason].compactMap(\.self).joined(separator: ": ")
      try output.write(
        "\(mark) \(style.dim(printable(change.grant))) \(style.cyan(printable(change.app))) "
          + "\(printable((change.document ?? "") + access))\(why.isEmpty ? "" : ", \(printable(why))")\n")
    }
  }
}
