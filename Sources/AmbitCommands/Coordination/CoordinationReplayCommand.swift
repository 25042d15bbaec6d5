internal import ArgumentParser
internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

extension CoordinationCommand {
  struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "replay", abstract: "Decide again what the log has, and show it step by step.",
      discussion: """
        The log has the arrival, the questions with their times, the grant and the end of each coordinated access. A fresh \
        arbiter gets the same in the same order, and should decide the same: ✓. Where it decides otherwise (≠), or where the log \
        lacks facts (?), a sentence says so.

          ambit coordination replay --since 10m
          ambit coordination replay --document notes.txt --svg notes.svg

        The options choose the accesses that are shown. All of them are decided again, since they wait for each other.

        Exit status: 0 all that are shown are decided the same; 1 one is decided otherwise; 2 one cannot be judged, or the log \
        cannot be read.
        """)

    @Option(help: ArgumentHelp("Only accesses of this app, or for which it was asked.", valueName: "bundle-id"))
    var app: String?
    @Option(help: ArgumentHelp("Only accesses to this file, or to something in this folder.", valueName: "path"))
    var document: String?
    @Option(
      help: ArgumentHelp(
        "Only since then: a time (2025-06-01T09:30:00Z) or how long ago (90s, 10m, 1h, 2d).", valueName: "time"))
    var since: String?
    @Option(help: ArgumentHelp("Draw a sequence diagram into this file.", valueName: "file")) var svg: String?
    @Option(help: ArgumentHelp("Read this log and not the user's own.", valueName: "file")) var log: String?

    func validate() throws {
      if let since, AuditQuery.moment(since, before: Date()) == nil {
        throw ValidationError("--since takes a time such as 2025-06-01T09:30:00Z, or a span such as 90s, 10m, 1h or 2d")
      }
    }

    func run() throws {
      var recorded = RecordedCoordination()
      try RecordedLog(path: log ?? AuditCommand.defaultPath, isNamed: log != nil).forEach { event in
        recorded.take(event)
        return true
      }
      let replay = CoordinationReplay(recorded.accesses)
      let filter = try Filter(self)
      let sequence = CoordinationSequence(recorded.accesses, replay.verdicts, where: filter.admits)
      let report = ReplayReport(sequence)
      if let svg {
        try draw(sequence, into: svg)
        try Output.standard.write(report.findings)
      } else {
        try Output.standard.write(report.render(style: Style(for: 1), width: WindowSize.columns(of: 1)))
      }
      if report.status != 0 { throw ExitCode(report.status) }
    }

    private func draw(_ sequence: CoordinationSequence, into path: String) throws {
      let diagram = SequenceDiagram(sequence)
      do { try ReportFile.write(diagram.render(), to: path) } catch {
        throw Failure("\(printable(path)) cannot be written: \(error.errno) (\(error.errno.symbol))", status: 2)
      }
      if diagram.leftOut > 0 {
        Failure.say(
          "the last \(SequenceDiagram.mostSteps) steps are drawn, and \(diagram.leftOut) before them are not; --since, --app and "
            + "--document choose fewer.")
      }
    }

    private struct Filter {
      let app: String?
      let document: String?
      let since: Date?

      init(_ command: Replay) throws(Failure) {
        app = command.app
        since = command.since.flatMap { AuditQuery.moment($0, before: Date()) }
        // It may be gone by now.
        document = command.document.map {
          (try? HostPath.resolved($0)) ?? URL(fileURLWithPath: $0).standardizedFileURL.path
        }
      }

      func admits(_ access: RecordedAccess) -> Bool {
        if let since, access.time < since { return false }
        if let app, access.party.app != app,
          !(access.facts?.questions ?? []).contains(where: { question in
            access.facts?.presenters?.contains { $0.presenter == question.presenter && $0.party.app == app } ?? false
          })
        {
          return false
        }
        guard let document else { return true }
        return (access.facts?.items ?? []).contains { $0.path.lies(within: document) }
      }
    }
  }
}

/// A replay as text for a terminal.
struct ReplayReport {
  private let sequence: CoordinationSequence

  init(_ sequence: CoordinationSequence) { self.sequence = sequence }

  var status: Int32 {
    var status: Int32 = 0
    for verdict in sequence.verdicts {
      switch verdict {
      case .same: break
      case .different: return 1
      case .unjudged: status = 2
      }
    }
    return status
  }

  func render(style: Style, width: Int?) -> String {
    guard !sequence.steps.isEmpty else { return "The log has no such coordinated access.\n" }
    let table = Table(
      [
        .init("TIME", minWidth: 12), .init("ID", alignment: .trailing, minWidth: 2),
        .init("BY", minWidth: 16, keeping: .end), .init("STEP", minWidth: 30),
      ], style: style, width: width)
    let rows = sequence.steps.map(row)
    let layout = table.layout(rows)
    var lines = [layout.header]
    var day: String?
    for (step, row) in zip(sequence.steps, rows) {
      let today = SequenceTime.day(step.time)
      if day != today { lines.append(style.dim(today)) }
      day = today
      lines.append(layout.line(row))
    }
    return lines.map { $0 + "\n" }.joined() + "\n" + findings
  }

  private func row(_ step: CoordinationSequence.Step) -> [Table.Cell] {
    let words = sequence.text(step)
    let by: Table.Cell
    var cell = Table.Cell(words)
    switch step.act {
    case .question:
      by = Table.Cell("→ \(sequence.name(step.to ?? step.from))")
      cell = Table.Cell("is asked to \(words)")
    case .answer(let outcome, _):
      by = Table.Cell("← \(sequence.name(step.from))")
      if outcome != .answered { cell = Table.Cell(words, .red) }
    case .begins:
      by = Table.Cell(sequence.name(step.from), .cyan)
      cell = Table.Cell("\(mark(step.access)) \(words)", sequence.verdicts[step.access] == .same ? .green : .red)
    case .refused:
      by = Table.Cell(sequence.name(step.from), .cyan)
      cell = Table.Cell("\(mark(step.access)) \(words)", .red)
    default: by = Table.Cell(sequence.name(step.from), .cyan)
    }
    return [
      Table.Cell(SequenceTime.clock(step.time), .dim),
      Table.Cell("\(sequence.accesses[step.access].number)", .dim), by, cell,
    ]
  }

  private func mark(_ access: Int) -> String {
    switch sequence.verdicts[access] {
    case .same: "✓"
    case .different: "≠"
    case .unjudged: "?"
    }
  }

  /// The verdicts, in sentences.
  var findings: String {
    let all = sequence.accesses.count
    let same = sequence.verdicts.count { $0 == .same }
    var text = "\(all == 1 ? "1 access" : "\(all) accesses"), \(same == all ? "all" : "\(same)") decided the same.\n"
    for (access, verdict) in zip(sequence.accesses, sequence.verdicts) {
      switch verdict {
      case .same: break
      case .different(let words): text += "≠ access \(access.number), decided again: \(printable(words)).\n"
      case .unjudged(let words): text += "? access \(access.number) cannot be decided again: \(printable(words)).\n"
      }
    }
    return text
  }
}
