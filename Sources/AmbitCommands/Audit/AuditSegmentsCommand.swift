package import ArgumentParser
internal import Audit
internal import Broker
internal import Folders
internal import Foundation
internal import Launcher
internal import Paths
internal import Policy
internal import Terminal

extension AuditCommand {
  package struct Segments: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "segments",
      abstract: "List the files that the audit log consists of, and say how much of it is kept.",
      discussion: """
        When a file of the log is full the broker begins another one, with what is in force then: launches, grants and \
        scopes that are started. So the oldest files can be removed, and what is left still says who could reach what. What is \
        removed is written down in the log, with the app that most of it was about, and signed beside it (audit.begins): \
        “ambit audit verify” takes no other beginning.

        HOW MUCH IS KEPT is said by audit.toml in the configuration folder, which the next broker reads:

          segment = "64 MiB"    # a file of the log; then another one begins
          keep_size = "4 GiB"   # of all of them together; or "all"
          keep_for = "90d"      # after a file's last entry; or "ever", the default

        Whole files are removed, the oldest first, and never the one that is written.

        EXAMPLES
          ambit audit segments
          ambit audit segments --format json
        """)

    @OptionGroup var log: LogArgument

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    package init() {}

    package func run() throws {
      let folders = try AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
      let path = log.path ?? folders.auditLog
      let segments: [SegmentSummary]
      let keeping: LogKeeping?
      do {
        segments = try RecordedLog.open(path, isNamed: log.path != nil).reader.segments()
        // For another user's log it is not known.
        keeping = log.path == nil ? try LogKeeping.read(folders.auditSettings) : nil
      } catch {
        throw Failure(printable("\(error)"))
      }
      try Output.standard.write(format == .json ? try json(segments, keeping) : table(segments, keeping))
    }
  }
}

extension AuditCommand.Segments {
  private struct Report: Encodable {
    struct File: Encodable {
      var file: String
      var bytes: Int
      var first: Int64
      var last: Int64
      var since: String?
      var until: String?
      var standsAlone: Bool
    }

    var segments: [File]
    var segmentSize: Int?
    var keepSize: Int?
    var keepSeconds: Int?
  }

  private func json(_ segments: [SegmentSummary], _ keeping: LogKeeping?) throws -> String {
    let report = Report(
      segments: segments.map { segment in
        Report.File(
          file: segment.path, bytes: segment.bytes, first: segment.first, last: segment.last,
          since: segment.times.map { Timestamp(microseconds: $0.lowerBound).text },
          until: segment.times.map { Timestamp(microseconds: $0.upperBound).text }, standsAlone: segment.standsAlone)
      }, segmentSize: keeping?.segment, keepSize: keeping?.size, keepSeconds: keeping?.seconds)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return printableJSON(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
  }

  /// With one digit behind the point where there is a point.
  private static func size(_ bytes: Int) -> String {
    bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20).\((bytes % (1 << 20) * 10) >> 20) MiB"
  }

  private func table(_ segments: [SegmentSummary], _ keeping: LogKeeping?) -> String {
    let table = Table(
      [
        .init("FILE", keeping: .end), .init("SIZE", alignment: .trailing), .init("ENTRIES", alignment: .trailing),
        .init("SINCE"), .init("UNTIL"),
      ], for: 1)
    let rows: [[Table.Cell]] = segments.map { segment in
      let name = segment.path.lastPathName
      let times = segment.times.map {
        [Timestamp(microseconds: $0.lowerBound).text, Timestamp(microseconds: $0.upperBound).text]
      }
      return [
        Table.Cell(printable(name), .bold), "\(Self.size(segment.bytes))",
        segment.last < segment.first ? "none" : "\(segment.first)–\(segment.last)",
        Table.Cell(times?[0] ?? "–", .dim), Table.Cell(times?[1] ?? "–", .dim),
      ]
    }
    return table.render(rows) + (keeping.map { "\($0.words).\n" } ?? "")
  }
}
