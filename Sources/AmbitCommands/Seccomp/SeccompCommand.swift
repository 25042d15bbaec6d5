internal import ArgumentParser
internal import Kernel
internal import Terminal
internal import Wire

/// `ambit seccomp`: the effect of profiles, without running anything under them.
struct SeccompCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seccomp",
    abstract: "Say what a seccomp profile does, and how two of them differ.",
    discussion: """
      A profile is “standard”, Ambit's own; “observed”, the same for apps whose refusals are seen; or a file as \
      container engines have it (OCI, Docker, Podman), which comes out as it would for an app on this machine: without \
      capabilities, on this architecture and kernel.

      A file holds besides Ambit's own profile and never in its place: of the two the stricter decides.
      """,
    subcommands: [Explain.self, Difference.self])

  struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain", abstract: "Say what a profile does, group by group, or with one call.",
      discussion: """
          ambit seccomp explain
          ambit seccomp explain --syscall clone /usr/share/containers/seccomp.json
        """)

    @Argument(help: "standard, observed, or a file.")
    var profile = "standard"

    @Option(help: ArgumentHelp("Say what happens to this call alone, and by which rule.", valueName: "name"))
    var syscall: String?

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    func run() throws {
      let named = try NamedProfile(profile)
      if let syscall {
        let report = try CallReport(syscall, in: named)
        switch format {
        case .json: try Output.standard.write(json: report.json.text)
        case .table: try Output.standard.write(report.text(Style(for: 1)))
        }
        return
      }
      let report = ProfileReport(named)
      switch format {
      case .json: try Output.standard.write(json: report.json.text)
      case .table: try Output.standard.write(report.text)
      }
    }
  }

  struct Difference: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff", abstract: "Say which calls two profiles treat differently.",
      discussion: """
          ambit seccomp diff standard /usr/share/containers/seccomp.json

        Exit status: 0 if there is no difference, 1 if there is one.
        """)

    @Argument(help: "standard, observed, or a file.")
    var first: String

    @Argument(help: "What it is compared with.")
    var second: String

    @Option(help: "How to print: table or json.")
    var format: OutputFormat = .table

    func run() throws {
      let report = DifferenceReport(try NamedProfile(first), try NamedProfile(second))
      switch format {
      case .json: try Output.standard.write(json: report.json.text)
      case .table: try Output.standard.write(report.text)
      }
      if !report.isEmpty { throw ExitCode(1) }
    }
  }
}
