import ArgumentParser
import Terminal
import Testing

@testable import AmbitCommands

/// The parser wraps help texts at 80 columns; an example that is longer goes on at the start of a line.
@Suite struct HelpTextTests {
  private static let widest = 78

  @Test func `examples in help texts fit on a line`() {
    var commands = 0
    Self.walk(AmbitCommand.self, "ambit") { name, configuration in
      commands += 1
      for line in configuration.discussion.split(separator: "\n") where line.hasPrefix(" ") {
        #expect(displayWidth(String(line)) <= Self.widest, "\(name): \(line)")
      }
    }
    #expect(commands > 50)
  }

  private static func walk(
    _ command: any ParsableCommand.Type, _ name: String, _ body: (String, CommandConfiguration) -> Void
  ) {
    body(name, command.configuration)
    for each in command.configuration.subcommands {
      walk(each, "\(name) \(each.configuration.commandName ?? "\(each)")", body)
    }
  }
}
