package import ArgumentParser

extension ParsableCommand {
  /// As `parseAsRoot(_:)`, for programs with many commands: the parser reads the declarations of the called one alone. Where the
  /// arguments do not fit, it reads all declarations, so that its error or help has the whole path.
  package static func parseCalled(_ arguments: [String]) throws -> any ParsableCommand {
    let (called, rest) = called(by: arguments[...])
    guard called != Self.self, let command = try? called.parseAsRoot(Array(rest)), type(of: command) == called else {
      return try parseAsRoot(arguments)
    }
    return command
  }

  /// The command that the first words name, and the arguments behind them.
  package static func called(by arguments: ArraySlice<String>) -> (any ParsableCommand.Type, ArraySlice<String>) {
    let own = configuration
    if let word = arguments.first,
      let next = own.subcommands.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) })
    {
      return next.called(by: arguments.dropFirst())
    }
    return (own.defaultSubcommand ?? Self.self, arguments)
  }
}
