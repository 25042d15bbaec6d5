internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Paths
internal import Sandbox
internal import Seccomp
internal import Terminal
internal import Wire

/// `ambit why`: whether an app could do something, by which rule, and with which remedy.
struct WhyCommand: ParsableCommand {
  enum Operation: String, CaseIterable, ExpressibleByArgument { case read, write, create, connect, call }

  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Say whether an app may do something, by which rule, and what would grant it.",
    discussion: """
      The answer comes from the same plan that a launch carries out, and from the same rules that explain a refusal in \
      the audit log. Nothing is run, and no broker is started. Paths are those that the app would use, inside its sandbox; \
      a path on the host counts as well where the user has granted it.

        ambit why Editor.app read ~/letter.txt
        ambit why Editor.app create /usr/share/x
        ambit why Editor.app connect example.org:443
        ambit why --policy teach /bin/sh call ptrace

      Exit status: 0 if the sandbox does not stand in the way, 1 if it does, 2 if that is not known; 64 if \
      what it is to connect to is neither a path nor an address with a port.
      """)

  @OptionGroup var options: PlannedOptions

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  @Argument(help: "An app bundle or a program.")
  var app: String

  @Argument(
    help:
      "read, write, create, connect: with a path; connect also with host:port. call: with the name of a system call.")
  var operation: Operation

  @Argument(help: "A path, an address with its port, or a system call.")
  var subject: String

  func run() throws {
    let planned = try options.planned(app)
    let answer =
      if operation == .connect, let target = ConnectionTarget(subject) {
        try Reason(connectingTo: target, planned)
      } else if let access = AccessOperation(rawValue: operation.rawValue) {
        Reason(access, at: try path(), planned)
      } else {
        try Reason(call: subject, planned)
      }
    switch format {
    case .json: try Output.standard.write(json: answer.json(operation.rawValue, subject).text)
    case .table: try Output.standard.write(answer.text("\(operation.rawValue) \(printable(subject))", Style(for: 1)))
    }
    switch answer.verdict {
    case .allowed: break
    case .refused: throw ExitCode(1)
    case .unknown: throw ExitCode(2)
    }
  }

  /// The subject as a path. A word alone is the path of a socket only if there is such a file: it may be an address without its port.
  private func path() throws -> String {
    let path = ProgramSearch.absolute(subject)
    if operation == .connect, !subject.hasSlash, (try? Descriptor.open(path, flags: .path)) == nil {
      throw Failure(
        "\(printable(subject)) is no address with a port, and there is no such file. Name HOST:PORT, such as example.org:443, or "
          + "the path of a socket, such as ./\(printable(subject)).", status: 64)
    }
    return path
  }
}
