internal import AmbitKit
internal import ArgumentParser
internal import Foundation
internal import Kernel

struct With: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Start a document, run a command on it, and stop it, whatever happens.",
    discussion: """
      `{}` in the command stands for the document's path; without one the path is appended.
      Exit status: the command's own, 128+n when signal n ended it; 125 when the document cannot be started, 126 when \
      the command cannot be run, 127 when it is not there.
      """)

  @OptionGroup var document: ScopedURLArgument
  @Argument(parsing: .postTerminator, help: "The command, after `--`.") var command: [String]

  func validate() throws {
    if command.isEmpty { throw ValidationError("a command is missing; write it after “--”") }
  }

  func run() throws {
    // Before the start: from here on no signal ends this process between a start and its stop.
    let child = try ForegroundProcess.holdingSignals()
    var status: Int32 = 125
    try Console.explaining(status: 125) {
      let path = try SecurityScope.path(of: document.url)
      try SecurityScope.start(document.url, caller: "ambitctl with \(command[0])")
      try? Start.sayIfByDescriptor(document.url)
      status = child.runSaying(Self.arguments(command, path: path))
      do {
        try SecurityScope.stop(document.url)
      } catch {
        // The command has been run, and its status is the answer; a scope that stays is still worth a word.
        Console.complain(error.localizedDescription)
      }
    }
    throw ExitCode(status)
  }

  static func arguments(_ command: [String], path: String) -> [String] {
    guard command.contains(where: { $0.contains("{}") }) else { return command + [path] }
    return command.map { $0.replacingOccurrences(of: "{}", with: path) }
  }
}
