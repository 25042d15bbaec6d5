internal import AmbitKit
internal import ArgumentParser

struct Start: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a document appear at its path.",
    discussion: """
      Every start wants a stop. Starts count for the script that runs this command, and end with it.
      """)

  @OptionGroup var document: ScopedURLArgument
  @Option(help: "Where in the script this is, for `scopes` to show.") var caller: String?

  func run() throws {
    try Console.explaining { try SecurityScope.start(document.url, caller: caller ?? "ambitctl start", for: .parent) }
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
