internal import ArgumentParser
internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Review
internal import Scenario
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

extension AuditCommand {
  /// `ambit audit report`: the log as a page.
  struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "report",
      abstract: "Write a page to look at: who reached what, scopes over time, refusals, leaks, policies in words.",
      discussion: """
        One HTML file that needs nothing else: it loads nothing, and says everything without scripts, on paper and to a screen \
        reader as well. The same log gives the same page. Its size is bounded, however long the log is; the page says what was \
        put together. A file that is there is replaced, in one step.

        EXAMPLES
          What happened on this machine?
            ambit audit report --output report.html

          What did the editor do yesterday?
            ambit audit report --app io.ambit.TextEdit -o editor.html \\
              --since 2025-06-01T00:00:00Z --until 2025-06-02T00:00:00Z

          Which leaks does a log from another machine tell of?
            ambit audit report --log copied.sqlite --format json |
              jq '.leaks[] | .path'

        Exit status: 0 when the report is written, 1 when it is, of a log that does not verify, 2 when the log cannot be read.
        """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
      case html, json
    }

    @Option(
      name: [.short, .long],
      help: ArgumentHelp("Write to this file; - is standard output. Default: standard output.", valueName: "file"))
    var output: String?

    @Option(help: "html, the page; json, the same facts for programs.")
    var format: Format = .html

    @Option(help: ArgumentHelp("Only what this app did.", valueName: "bundle-id"))
    var app: String?

    @Option(
      help: ArgumentHelp(
        "Only since then: a time (2025-06-01T09:30:00Z) or how long ago (90s, 10m, 1h, 2d).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only until then, in the same words.", valueName: "time"))
    var until: String?

    @Option(
      help: ArgumentHelp(
        "Read this log and not the user's own: a database, or what “ambit audit log --format json” wrote.",
        valueName: "file"))
    var log: String?

    @Flag(inversion: .prefixedNo, help: "Check the whole log first, so that the page can say that it verifies.")
    var verify = true

    private var isToTerminal: Bool { (output ?? "-") == "-" && isatty(Output.standard.descriptor) == 1 }

    func validate() throws {
      for (name, text) in [("--since", since), ("--until", until)] {
        guard let text, AuditQuery.moment(text, before: Date()) == nil else { continue }
        throw ValidationError(
          "\(name) takes a time such as 2025-06-01T09:30:00Z, or a span such as 90s, 10m, 1h or 2d; "
            + "\"\(printable(text))\" is neither.")
      }
      let now = Date()
      if let since = since.flatMap({ AuditQuery.moment($0, before: now) }),
        let until = until.flatMap({ AuditQuery.moment($0, before: now) }), until < since
      {
        throw ValidationError("--until is before --since: there is no time between them.")
      }
      if output == "" { throw ValidationError("--output takes a file's name, or - for standard output.") }
      if format == .html, isToTerminal {
        throw ValidationError("A page is not for a terminal: name a file with --output, or take --format json.")
      }
    }

    func run() throws {
      let now = Date()
      let selection = ReportBuilder.Selection(
        app: app, since: since.flatMap { AuditQuery.moment($0, before: now) },
        until: until.flatMap { AuditQuery.moment($0, before: now) })
      let path = try log ?? AuditCommand.defaultPath
      // Nothing half-written is left behind, and nothing beside it. If the output is no file, writing to it may block.
      if let output, output != "-", ReportFile.replaces(output) { Interruption.listen() }
      let verdict = Verdict(of: path, isAskedFor: verify)
      var builder = ReportBuilder(selection)
      // Checking it finds that as well.
      let isUnchecked = log != nil && !verify
      try RecordedLog(path: path, isNamed: isUnchecked).forEach { Interruption.signal == nil && builder.take($0) }
      let integrity = try verdict.wait()
      var model = builder.finish(log: path, integrity: integrity)
      model.explainPolicies()
      do {
        let text = format == .json ? try Self.json(model) : ReportPage(model).text
        if let output, output != "-" {
          try ReportFile.write(text, to: output)
        } else {
          try Output.standard.write(text)
        }
      } catch let error as KernelError where error.isHangUp {
        // The reader has read enough.
      } catch let error as KernelError {
        throw Launcher.Failure("the report cannot be written: \(printable(error.description))")
      }
      if integrity.verdict == .damaged {
        Launcher.Failure.say("the report is written, but its log does not verify: \(printable(integrity.detail))")
        throw ExitCode(1)
      }
    }

    static func json(_ model: ReportModel) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var value = encoder.singleValueContainer()
        try value.encode(Timestamp(date).text)
      }
      return printableJSON(String(decoding: try encoder.encode(model), as: UTF8.self) + "\n")
    }
  }
}
