internal import ArgumentParser
internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Terminal

extension AuditCommand {
  /// `ambit audit check`: assertions over a log.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Say whether what you assert of a log is so: who never wrote where, what was always stopped in time.",
      discussion: """
        RULES is a file of assertions, in TOML:

          [[rule]]
          name = "Only the editor writes contracts"
          kind = "no-writes"
          below = "/home/alice/Contracts"
          except = ["io.ambit.TextEdit"]

        The kinds, and what each asks for besides name and kind (optional in brackets):
          no-writes       below                       nobody could write there
          stops-within    within, [or_exit]           each start has its stop by then
          no-grants       [document, access, below]   no such grant was given
          scopes-at-most  most, [per]                 never more at a time
          no-events       event, [result, rule]       there is no such entry
          grants-by       how                         every grant came about so
          only-during     from, to, [zone, weekdays, events]   in these hours only
        Each also takes apps (only these), except (not these), since and until (times).

        With RULES alone your own log is checked. The exit status is 0 when all rules hold, 1 when one is violated, and 2 when \
        one cannot be judged, as in a log that lacks its newest entries, or the files cannot be read.

        EXAMPLES
          Check a log that was copied from another machine:
            ambit audit check copied.sqlite rules.toml

          Read the rules as sentences:
            ambit audit check --explain rules.toml
        """)

    @Argument(
      help: ArgumentHelp("A file of rules, or a log and a file of rules.", valueName: "files"))
    var files: [String]

    @Option(name: .customLong("log"), help: ArgumentHelp("The log, in place of a first argument.", valueName: "file"))
    var named: String?

    @Option(help: ArgumentHelp("So many entries are shown of each rule; the others are counted.", valueName: "count"))
    var limit = 10

    @Flag(help: "Say the rules in words, and check nothing.")
    var explain = false

    @Option(help: "table, for people; json, one object, for programs.")
    var format: OutputFormat = .table

    func validate() throws {
      if !(1...2).contains(files.count) {
        throw ValidationError("It takes a file of rules, or a log and a file of rules.")
      }
      if named != nil, files.count == 2 { throw ValidationError("Name one log: as an argument, or with --log.") }
      if limit < 1 { throw ValidationError("--limit takes a count from 1, not \(limit).") }
    }

    func run() throws {
      let rules = try Self.rules(files[files.count - 1])
      if explain { return try Output.standard.write(RuleReport.explanation(rules, format)) }
      var checker = RuleChecker(rules.rules, limit: limit)
      let log = files.count == 2 ? files[0] : named
      let recorded = try RecordedLog(
        path: log ?? AuditCommand.defaultPath, isNamed: log != nil, showsProgress: format == .table)
      let gap = try recorded.forEach { event in
        #if AMBIT_MUTANTS
          if Mutant.rulesAlwaysHold.isActive { return true }
        #endif
        checker.take(event)
        return true
      }
      let report = RuleReport(checker.finish(), mayLackEntries: gap != nil)
      do {
        switch format {
        case .json: try Output.standard.write(json: try report.json())
        case .table: try Output.standard.write(report.text(style: Style(for: Output.standard.descriptor)))
        }
      } catch let error as KernelError where error.isHangUp {
        // The reader has read enough; the exit status tells the result.
      }
      if report.status != 0 { throw ExitCode(report.status) }
    }

    private static func rules(_ path: String) throws -> LogRules {
      let text: [UInt8]
      do throws(KernelError) { text = try Descriptor.content(ofFile: path, limit: StrictTOML.maximumSize) } catch {
        throw Launcher.Failure("the rules \(printable(path)) cannot be read: \(error.fileFault)", status: 2)
      }
      do throws(SourceError) { return try LogRules(text, file: path) } catch {
        throw Launcher.Failure(sentences: error.all.map { "\($0)" }, status: 2)
      }
    }
  }
}
