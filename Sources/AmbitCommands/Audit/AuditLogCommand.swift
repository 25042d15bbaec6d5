package import ArgumentParser
internal import Audit
internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Terminal

extension AuditCommand {
  package struct Log: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "log",
      abstract: "List the entries of the audit log, the oldest first.",
      discussion: """
        Every launch, pick, grant, start, stop, bookmark and refusal is one entry: ✓ was allowed, ✗ was refused by a \
        rule, ! was allowed and failed. Entries are numbered without a gap and cannot be changed or taken out.

        EXAMPLES
          What did the editor do in the last ten minutes?
            ambit audit log --app io.ambit.TextEdit --since 10m

          Who had to do with this document in May?
            ambit audit log --document ~/Documents/plan.txt \\
              --since 2025-05-01T00:00:00Z --until 2025-06-01T00:00:00Z

          Watch decisions as they are made:
            ambit audit log --follow

          Which documents did the user hand out, and to whom?
            ambit audit log --kind grant --format json | jq .app,.document.path
        """)

    @Option(help: ArgumentHelp("Only entries about this app.", valueName: "bundle-id"))
    var app: String?

    @Option(
      help: ArgumentHelp(
        "Only entries of this kind: \(AuditEvent.Kind.known.map(\.rawValue).joined(separator: ", ")).",
        valueName: "kind"))
    var kind: String?

    @Option(help: ArgumentHelp("Only entries of this launch of an app.", valueName: "instance"))
    var instance: String?

    @Option(help: ArgumentHelp("Only entries with this result.", valueName: "result"))
    var result: AuditEvent.Result?

    @Option(
      help: ArgumentHelp(
        "Only entries since then: a time (2025-06-01T09:30:00Z) or how long ago (90s, 10m, 1h, 2d).",
        valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only until then, in the same words.", valueName: "time"))
    var until: String?

    @Option(
      help: ArgumentHelp("Only entries about the document that lay there then: the whole path.", valueName: "path"))
    var document: String?

    @Option(help: ArgumentHelp("Only the newest so many.", valueName: "count"))
    var limit: Int?

    @Option(help: "table, for people; json, one object a line, for programs.")
    var format: OutputFormat = .table

    @Flag(help: "Go on with new entries as they come, until interrupted.")
    var follow = false

    @Option(help: ArgumentHelp("Read this log and not the user's own.", valueName: "file"))
    var log: String?

    package init() {}

    package func validate() throws {
      if let kind { _ = try AuditEvent.Kind.named(kind) }
      if let limit, limit < 0 { throw ValidationError("--limit takes a count that is not negative, not \(limit).") }
      for (name, text) in [("--since", since), ("--until", until)] {
        guard let text, AuditQuery.moment(text, before: Date()) == nil else { continue }
        throw ValidationError(
          "\(name) takes a time such as 2025-06-01T09:30:00Z, or a span such as 90s, 10m, 1h or 2d; "
            + "\"\(printable(text))\" is neither.")
      }
      let now = Date()
      if let since = since.flatMap({ AuditQuery.moment($0, before: now) }),
        let until = until.flatMap({ AuditQuery.moment($0, before: now) }), since > until
      {
        throw ValidationError("--until is before --since: there is no time between them.")
      }
      if follow, until != nil { throw ValidationError("--follow goes on until interrupted: leave out --until.") }
    }

    package func run() throws {
      do {
        try list(to: .standard)
      } catch let error as KernelError where error.isHangUp {
        // The reader has read enough.
      } catch let error as AuditLogError {
        throw Failure(printable(error.description))
      }
    }
  }
}

extension AuditCommand.Log {
  /// How many entries are read at a time, so that a long log is not held in memory.
  private static let batch = 1000
  /// How long to wait for new entries, in milliseconds.
  private static let pause: Int32 = 200

  private func list(to output: Output) throws {
    let path = try log ?? AuditCommand.defaultPath
    let query = AuditQuery(
      app: app, instance: instance, kind: kind.map(AuditEvent.Kind.init), result: result,
      document: document.map { URL(fileURLWithPath: $0).standardizedFileURL.path },
      since: since.flatMap { AuditQuery.moment($0, before: Date()) },
      until: until.flatMap { AuditQuery.moment($0, before: Date()) })
    guard let reader = try open(path, output) else { return }

    var lines = AuditLines(format: format, following: follow, output: output)
    // Entries up to here have been listed or do not fit. Taken before they are read: one that comes between is read too.
    var seen = try reader.lastSequence()
    if let limit {
      let events = try reader.latest(limit, matching: query)
      try lines.write(events)
      seen = max(seen, events.last?.sequence ?? 0)
    } else {
      seen = max(seen, try write(reader, query, after: 0, &lines))
    }
    if !follow {
      if lines.isEmpty, limit != 0 { try note(nothingFits(reader)) }
      return
    }
    while try !output.hasHungUp(within: Self.pause) {
      let last = try reader.lastSequence()
      if last > seen { seen = max(last, try write(reader, query, after: seen, &lines)) }
    }
  }

  /// Writes all that fit after a number; answers the last one's number, or that number if there is none.
  private func write(
    _ reader: AuditReader, _ query: AuditQuery, after start: Int64, _ lines: inout AuditLines
  ) throws -> Int64 {
    var seen = start
    while true {
      let events = try reader.events(matching: query, after: seen, limit: Self.batch)
      try lines.write(events)
      seen = events.last?.sequence ?? seen
      if events.count < Self.batch { return seen }
    }
  }

  /// The log; nil when there is none yet, which is an error only of a named one. When following, waits for it.
  private func open(_ path: String, _ output: Output) throws -> AuditReader? {
    var isNoted = false
    while true {
      do throws(AuditLogError) {
        return try RecordedLog.open(path, isNamed: log != nil && !isNoted).reader
      } catch {
        guard error.problem == .missing else { throw error }
        if log != nil, !follow { throw Failure(printable(error.description), status: 2) }
      }
      if !isNoted {
        try note("Nothing has been recorded yet: there is no log at \(path). The first `ambit run` begins one.")
        isNoted = true
      }
      if try !follow || output.hasHungUp(within: Self.pause) { return nil }
    }
  }

  private func nothingFits(_ reader: AuditReader) throws -> String {
    let count = try reader.lastSequence()
    if count == 0 { return "Nothing has been recorded yet: the log \(reader.path) is empty." }
    return "None of the \(count) entries fits."
  }

  private func note(_ sentence: String) throws {
    try Output.error.write(printable(sentence) + "\n")
  }
}

/// Entries on their way out, as lines of a table or of JSON.
private struct AuditLines {
  private let format: OutputFormat
  private let output: Output
  private let table: Table
  private var layout: Table.Layout?
  private let isFollowing: Bool
  private(set) var isEmpty = true

  init(format: OutputFormat, following: Bool, output: Output) {
    self.format = format
    self.output = output
    isFollowing = following
    table = Table(
      [
        .init("time", minWidth: 14), .init("app", minWidth: 8, maxWidth: 32, keeping: .end), .init("", minWidth: 1),
        .init("what happened", minWidth: 26), .init("document", minWidth: 8, keeping: .end),
        .init("how", minWidth: 4, maxWidth: 12), .init("why", minWidth: 7),
      ], for: output.descriptor)
  }

  mutating func write(_ events: [AuditEvent]) throws {
    guard !events.isEmpty else { return }
    isEmpty = false
    switch format {
    case .json:
      try output.write(json: events.map { try $0.jsonLine() + "\n" }.joined())
    case .table:
      let rows = events.map(row)
      var text = ""
      let layout = self.layout ?? table.layout(rows + (isFollowing ? [Self.typical] : []))
      if self.layout == nil { text = layout.header + "\n" }
      self.layout = layout
      try output.write(text + rows.map { layout.line($0) + "\n" }.joined())
    }
  }

  private func row(_ event: AuditEvent) -> [Table.Cell] {
    // The year gives way on a terminal that is too narrow for it.
    let local = LocalTime.seconds(event.time)
    let time = table.width ?? .max < 120 ? String(local.dropFirst(5)) : local
    let (mark, colour): (String, Style.Attribute) =
      switch event.result {
      case .allowed: ("✓", .green)
      case .refused: ("✗", .red)
      case .failed: ("!", .yellow)
      }
    return [
      Table.Cell(time, .dim), Table.Cell(event.app ?? "", .cyan), Table.Cell(mark, colour),
      event.result == .allowed ? Table.Cell(event.sentence) : Table.Cell(event.sentence, colour),
      Table.Cell(event.document?.path ?? ""), Table.Cell(event.how ?? ""), Table.Cell(event.explanation),
    ]
  }

  /// When following, columns are settled before the entries are known that will stand in them: by these.
  private static let typical: [Table.Cell] = [
    "2025-06-01 09:30:00", "io.ambit.TextEdit", "✓", "stopped scope on notes.txt (1 more to stop, 2 of 8 slots)",
    "/home/alice/Documents/notes.txt", "reference", "LIM-1: All 8 scope slots are in use.",
  ]
}

extension OutputFormat: ExpressibleByArgument {}
extension AuditEvent.Result: ExpressibleByArgument {}
