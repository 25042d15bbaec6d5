internal import ArgumentParser

/// The log that a command reads: an argument, or `--log` as the commands have it that take another argument.
package struct LogArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The log; without it the user's own.", valueName: "log"))
  private var argument: String?

  @Option(name: .customLong("log"), help: ArgumentHelp("The log, as with LOG.", valueName: "file"))
  private var option: String?

  /// Nil: the user's own.
  var path: String? { argument ?? option }

  package init() {}

  package func validate() throws {
    if argument != nil, option != nil {
      throw ValidationError("Name one log: as an argument, or with --log.")
    }
  }
}
