import ArgumentParser
import CommandParsing
import Testing

@testable import AmbitCommands

/// The command that is called is read alone; what comes out is what the parser says of all of them.
@Suite struct CommandParsingTests {
  private static func outcome(_ body: () throws -> any ParsableCommand) -> String {
    do { return "\(type(of: try body()))" } catch { return AmbitCommand.fullMessage(for: error) }
  }

  @Test(
    arguments: [
      ["ps"], ["run", "--", "true", "--help"], ["policy", "show", "default"], ["policy", "shw"], ["policy"], [],
      ["versions", "a.txt"], ["versions", "list", "a.txt"], ["trash", "a.txt"], ["audit"], ["audit", "log", "--since"],
      ["coordination", "cancel", "7"], ["coordination", "cancel", "x"], ["broker", "serve", "--idle", "3"],
      ["query", "app"], ["query", "--help"], ["help", "query"], ["--version"], ["nothing"], ["lesson", "nothing"],
      ["ps", "--format", "xml"], ["--help", "ps"],
    ])
  func theOutcomeIsTheParsersOwn(_ arguments: [String]) {
    let expected = Self.outcome { try AmbitCommand.parseAsRoot(arguments) }
    #expect(Self.outcome { try AmbitCommand.parseCalled(arguments) } == expected)
  }
}
