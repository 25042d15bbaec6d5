internal import ArgumentParser
internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Scenario
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

extension AuditCommand {
  /// `ambit audit export`: the log for another program.
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Deliver the log to another program: journald, a collector, a database.",
      discussion: """
        Events leave in the order of the log, each with a name that is the same at every delivery (the log's identity and \
        the event's number). A file is gone on with where it ends, each event once. Elsewhere --state keeps how far the \
        receiver has read; after a crash a receiver can get events again, and misses none but what the log has removed \
        meanwhile, because it keeps no more. docs/reference/export.md has the fields of each format, and whole set-ups.

        EXAMPLES
          Keep a file of JSON Lines up to date, from cron:
            ambit audit export --as jsonl --to audit.jsonl

          Everything that happens, into this machine's journal, from now on:
            ambit audit export --as journal --to unix:/run/systemd/journal/socket \\
              --state journal.state --follow

          To an OpenTelemetry collector on this machine:
            ambit audit export --as otlp --http http://127.0.0.1:4318/v1/logs \\
              --state otlp.state --follow

          What one app did today, for a SIEM:
            ambit audit export --as ocsf --to - --app io.ambit.TextEdit --since 1d

        Exit status: 0 when everything was delivered; 1 when it was, but for entries that the log had removed since the last \
        delivery, which are counted on standard error; 2 when the log that you name is not there.
        """)

    @Option(
      name: .customLong("as"),
      help: ArgumentHelp(
        "jsonl: one object a line; cloudevents: CloudEvents 1.0, one a line; ocsf: OCSF 1.6, one a line; otlp: OTLP requests, "
          + "one a line; journal: systemd's journal.", valueName: "format"))
    var format: ExportFormat

    @Option(help: ArgumentHelp("A file, - for standard output, or unix: and the path of a socket.", valueName: "place"))
    var to: String?

    @Option(
      help: ArgumentHelp(
        "With --as otlp: a collector on this machine, http://127.0.0.1:4318/v1/logs.", valueName: "url"))
    var http: String?

    @Option(help: ArgumentHelp("Keep in this file how far it has got, and go on there.", valueName: "file"))
    var state: String?

    @Option(
      help: ArgumentHelp(
        "Begin after this number. Counts only when neither file nor state says where.", valueName: "number"))
    var after: Int64?

    @Option(
      help: ArgumentHelp(
        "Only events since then: 2025-06-01T09:30:00Z, or a span such as 10m, 1h, 2d.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events about this app.", valueName: "bundle-id"))
    var app: String?

    @Option(
      help: ArgumentHelp(
        "Only events of this kind: \(AuditEvent.Kind.known.map(\.rawValue).joined(separator: ", ")).",
        valueName: "kind"))
    var kind: String?

    @Option(help: ArgumentHelp("Only events with this result.", valueName: "result"))
    var result: AuditEvent.Result?

    @Flag(help: "Go on with new events as they come, and wait for a receiver that has gone, until interrupted.")
    var follow = false

    @Option(help: ArgumentHelp("Read this log and not the user's own.", valueName: "file"))
    var log: String?

    func validate() throws {
      guard (to == nil) != (http == nil) else {
        throw ValidationError(
          "Say where to: --to FILE, --to -, --to unix:PATH, or with --as otlp --http URL; one of them.")
      }
      if let http {
        guard format == .otlp else { throw ValidationError("--http is for --as otlp, not \(format.rawValue).") }
        guard CollectorAddress(http) != nil else {
          throw ValidationError(
            "--http takes the address of a collector on this machine, such as http://127.0.0.1:4318/v1/logs, not "
              + "\"\(printable(http))\". What goes to another machine goes through a collector here, which can encrypt it."
          )
        }
      }
      if let to, to.isEmpty || to == "unix:" {
        throw ValidationError("--to takes a file, - or unix:PATH; this is empty.")
      }
      if format == .journal, let to, to != "-", !to.hasPrefix("unix:") {
        throw ValidationError(
          "A file of journal entries cannot be gone on with. Pipe them into systemd-journal-remote (--to -), or send them "
            + "to journald (--to unix:\(JournalDestination.usualPath)).")
      }
      if let kind { _ = try AuditEvent.Kind.named(kind) }
      if let after, after < 0 { throw ValidationError("--after takes the number of an event, not \(after).") }
      if let since, AuditQuery.moment(since, before: Date()) == nil {
        throw ValidationError(
          "--since takes a time such as 2025-06-01T09:30:00Z, or a span such as 90s, 10m, 1h or 2d; "
            + "\"\(printable(since))\" is neither.")
      }
    }

    func run() throws {
      // A reader that goes away is an answer of write(2), and not the end.
      _ = signal(SIGPIPE, SIG_IGN)
      do {
        try export()
      } catch let error as AuditLogError {
        throw Launcher.Failure(printable(error.description))
      } catch let gone as ConsumerGone {
        if to == "-", state == nil { return }
        throw Launcher.Failure(
          printable(
            "\(gone.sentence) What it had not read counts as not delivered; run this again, or use --follow to wait."))
      } catch let failure as Launcher.Failure {
        throw Launcher.Failure(printable(failure.description), status: failure.status)
      }
    }
  }
}

extension AuditCommand.Export {
  private func export() throws {
    let states = try state.map { try StateFile(path: $0) }
    guard let (reader, first) = try beginning() else { return }
    let destination = try destination()
    let host = Self.hostName
    func encoder(_ log: LogIdentity) -> ExportEncoder {
      ExportEncoder(format, ExportSource(log: log, host: host, version: AmbitVersion.current))
    }
    let own = try reader.publicKey().map { LogIdentity(key: $0) }
    if own == nil {
      note(
        "There is no audit.pub beside \(reader.path): its events are named by its first entry, as in earlier versions.")
    }
    let log = try ExportBeginning.identity(
      own: own, first: first, state: try states?.read(), line: try (destination as? FileDestination)?.lastEvent(),
      encoder: encoder
    ) { number in
      try reader.events(after: number - 1, limit: 1).first { $0.sequence == number }
    }
    let query = AuditQuery(
      app: app, kind: kind.map(AuditEvent.Kind.init), result: result,
      since: since.flatMap { AuditQuery.moment($0, before: Date()) })

    var run = ExportRun(
      reader: reader, encoder: encoder(log), query: query, follows: follow, destination: destination, stateFile: states,
      rest: rest)
    run.note = note
    run.naming = log == own ? .byKey : .byFirst
    if destination is FileDestination {
      // The file ends with a whole line then. Other places may keep a write waiting, which an interruption has to end.
      Interruption.listen()
      run.isInterrupted = { Interruption.signal != nil }
    }
    try run.resume(after: after ?? 0)
    let progress = LogProgress(of: try reader.lastSequence(), isShown: !follow && to != "-", doing: "exporting")
    defer { progress.clear() }
    run.progress = progress.show
    try run.run()
    progress.clear()
    if to != "-" { note("\(run.count) \(run.count == 1 ? "event" : "events") delivered; the last is \(run.sent).") }
    if let signal = Interruption.signal { throw ExitCode(128 + signal) }
    if run.missed > 0 { throw ExitCode(1) }
  }

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func destination() throws -> any ExportDestination {
    if let http, let address = CollectorAddress(http) { return CollectorDestination(address, warn: note) }
    let to = to ?? "-"
    if to == "-" {
      return StreamDestination.standardOutput(
        Descriptor(owning: try KernelError.check("fcntl", "1") { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }))
    }
    if to.hasPrefix("unix:") {
      let path = String(to.dropFirst("unix:".count))
      return format == .journal ? JournalDestination(path: path) : StreamDestination.socket(path: path)
    }
    return try FileDestination(path: to, format: format)
  }

  /// The log and its first entry; nil when there is none yet, for which it waits when following. A named log has to be there.
  private func beginning() throws -> (AuditReader, AuditEvent)? {
    let path = try log ?? AuditCommand.defaultPath
    var isNoted = false
    while true {
      do throws(AuditLogError) {
        let (reader, _) = try RecordedLog.open(path, isNamed: log != nil && !isNoted)
        if let first = try reader.events(limit: 1).first { return (reader, first) }
      } catch {
        guard error.problem == .missing else { throw error }
        if log != nil, !follow { throw Launcher.Failure(error.description, status: 2) }
      }
      if !isNoted { note("Nothing has been recorded yet in \(path): there is nothing to export.") }
      isNoted = true
      if try !follow || !rest(ExportRun.newEvents) { return nil }
    }
  }

  /// Waits; says whether to go on: not when the reader of standard output has gone.
  private func rest(_ duration: Duration) throws -> Bool {
    let (seconds, attoseconds) = duration.components
    let milliseconds = Int32(seconds) * 1000 + Int32(attoseconds / 1_000_000_000_000_000)
    if to == "-" { return try !Output.standard.hasHungUp(within: milliseconds) }
    poll(nil, 0, milliseconds)
    return true
  }

  private func note(_ sentence: String) {
    try? Output.error.write("ambit: " + printable(sentence) + "\n")
  }
}

extension ExportFormat: ExpressibleByArgument {}
