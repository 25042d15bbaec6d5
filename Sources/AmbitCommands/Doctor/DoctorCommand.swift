package import ArgumentParser
internal import Foundation
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit doctor`: the abilities of this machine.
package struct DoctorCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what this kernel and system offer, what a missing piece costs, and how to mend it.",
    discussion: """
      Each feature is tried, not looked up: the answers are those that a sandbox would get. Nothing is changed.

      Exit status: 0 if everything that running an app takes is there, 1 if not.
      """)

  @Option(help: "How to write it: a table for people, or one JSON object a line for programs.")
  package var format: DoctorFormat = .table

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Say how apps come to the documents in this folder; may be repeated. The home folder when left out.",
      valueName: "folder"))
  package var documents: [String] = []

  package init() {}

  package func run() throws {
    let report = DoctorReport(Facts.gather(documents: documents).checks)
    switch format {
    case .table:
      try Output.standard.write(
        report.table(style: Style(for: STDOUT_FILENO), width: WindowSize.columns(of: STDOUT_FILENO)))
    case .json: try Output.standard.write(json: try report.json())
    }
    if !report.isReady { throw ExitCode.failure }
  }
}

/// How the doctor writes.
package enum DoctorFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case table
  case json
}
