internal import AmbitKit
internal import ArgumentParser

struct Start: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a document appear at its path.",
    discussion: "Every start wants a stop. Starts count for the whole app, not for one of its processes.")

  @OptionGroup var document: ScopedURLArgument
  @Option(help: "Where in the script this is, for `scopes` to show.") var caller: String?

  func run() throws {
    try Console.explaining { try SecurityScope.start(document.url, caller: caller ?? "ambitctl start") }
  }
}

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Balance one start; the last takes the document away.",
    discussion: "With nothing started, nothing happens.")

  @OptionGroup var document: ScopedURLArgument

  func run() throws {
    try Console.explaining { try SecurityScope.stop(document.url) }
  }
}
