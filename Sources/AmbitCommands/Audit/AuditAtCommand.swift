internal import ArgumentParser
internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Review
internal import Terminal

extension AuditCommand {
  /// `ambit audit at`: the access of all apps at a moment.
  struct At: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "at",
      abstract: "Say who could reach what at a moment, from the log alone.",
      discussion: """
        Every grant that was in force then: whose it was, how and when it came about, where its document lay, and who had it \
        started (●). Nothing is asked of the broker: a log that was copied from another machine answers the same.

        EXAMPLES
          Who could reach what at half past nine?
            ambit audit at 2025-06-01T09:30:00Z

          Who could reach this document an hour ago, be it through a folder?
            ambit audit at 1h --document ~/Documents/plan.txt

          What could the editor reach when the log ended?
            ambit audit at now --app io.ambit.TextEdit --log copied.sqlite \\
              --format json
        """)

    @Argument(
      help: ArgumentHelp(
        "When: a time (2025-06-01T09:30:00Z), how long ago (90s, 10m, 1h, 2d), or now.", valueName: "time"))
    var moment: String

    @Option(help: ArgumentHelp("Only what this app could reach.", valueName: "bundle-id"))
    var app: String?

    @Option(
      help: ArgumentHelp("Only through what this could be reached: itself, or a folder it lies in.", valueName: "path"))
    var document: String?

    @Option(
      help: ArgumentHelp(
        "Read this log and not the user's own: a database, or what “ambit audit log --format json” wrote.",
        valueName: "file"))
    var log: String?

    @Option(help: "table, for people; json, one object, for programs.")
    var format: OutputFormat = .table

    func validate() throws {
      if moment != "now", AuditQuery.moment(moment, before: Date()) == nil {
        throw ValidationError(
          "The time is one such as 2025-06-01T09:30:00Z, a span such as 90s, 10m, 1h or 2d, or now; "
            + "\"\(printable(moment))\" is none of these.")
      }
    }

    func run() throws {
      let now = Date()
      let time = moment == "now" ? now : AuditQuery.moment(moment, before: now) ?? now
      var history = AccessHistory()
      var isLast = true
      var first: Int64?
      let recorded = try RecordedLog(
        path: log ?? AuditCommand.defaultPath, isNamed: log != nil, showsProgress: format == .table)
      try recorded.forEach { event in
        if first == nil { first = event.sequence }
        guard event.time <= time || moment == "now" else {
          isLast = false
          return false
        }
        #if AMBIT_MUTANTS
          if Mutant.revokesUnread.isActive, event.kind == .revoke { return true }
        #endif
        history.take(event)
        return true
      }
      history.pass(until: time)
      let path = document.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
      let picture = AccessPicture(history, at: time, app: app, path: path, isLogsEnd: isLast, first: first ?? 1)
      do {
        switch format {
        case .json: try Output.standard.write(json: try picture.json())
        case .table: try Output.standard.write(picture.table(for: Output.standard.descriptor))
        }
      } catch let error as KernelError where error.isHangUp {
        // The reader has read enough.
      }
    }
  }
}
