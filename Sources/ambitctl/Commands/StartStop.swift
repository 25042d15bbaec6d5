internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct Start: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a document appear at its path.",
    discussion: """
      Every start wants a stop. Starts count for the script that runs this command, and end with it. Where the app's user may \
      not open the path, standard error says so: then `ambitctl open URL -- COMMAND` opens the document.
      """)

  @OptionGroup var document: ScopedURLArgument
  @Option(help: "Where in the script this is, for `scopes` to show.") var caller: String?

  func run() throws {
    try Console.explaining {
      try SecurityScope.start(document.url, caller: caller ?? "ambitctl start", for: .parent)
      try Self.sayIfByDescriptor(document.url)
    }
  }

  /// A script that goes by the path would only learn "Permission denied".
  static func sayIfByDescriptor(_ url: URL) throws {
    guard try SecurityScope.opening(of: url) == .byDescriptor else { return }
    Console.complain(
      "the app's user may not open this document's path; use “ambitctl open URL -- COMMAND”, which asks the broker")
  }
}

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Balance one start; the last takes the document away.",
    discussion: "With nothing started by the script that runs this command, nothing happens.")

  @OptionGroup var document: ScopedURLArgument

  func run() throws {
    try Console.explaining { try SecurityScope.stop(document.url, for: .parent) }
  }
}
