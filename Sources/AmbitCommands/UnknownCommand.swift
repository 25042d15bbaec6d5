internal import ArgumentParser
internal import Launcher
internal import Policy
internal import Terminal

/// A word on a command line in the place of a command, and there is no such command.
struct UnknownCommand: Equatable {
  /// The words before it: “ambit audit”.
  let path: String
  let word: String
  /// The command that was likely meant.
  let nearest: String?

  /// - Parameters:
  ///   - words: a command line that cannot be parsed, or the words behind “help”.
  ///   - command: the command that they belong to.
  /// - Returns: `nil` if all words in places of commands are known.
  init?(_ words: ArraySlice<String>, of command: any ParsableCommand.Type) {
    guard let found = Self.find(words, of: command, path: command._commandName) else { return nil }
    self = found
  }

  private init(path: String, word: String, nearest: String?) {
    (self.path, self.word, self.nearest) = (path, word, nearest)
  }

  private static func find(
    _ words: ArraySlice<String>, of command: any ParsableCommand.Type, path: String
  ) -> UnknownCommand? {
    let commands = command.configuration.subcommands
    guard !commands.isEmpty, let word = words.first, !word.hasPrefix("-") else { return nil }
    for next in commands where names(next).contains(word) {
      return find(words.dropFirst(), of: next, path: "\(path) \(next._commandName)")
    }
    // It may be meant for the command that may be left out.
    if let usual = command.configuration.defaultSubcommand, (try? usual.parse([word])) != nil { return nil }
    var known: [String] = []
    for each in commands where each.configuration.shouldDisplay { known += names(each) }
    return UnknownCommand(path: path, word: word, nearest: known.nearest(to: word))
  }

  private static func names(_ command: any ParsableCommand.Type) -> [String] {
    [command._commandName] + command.configuration.aliases
  }

  var failure: Failure {
    let hint = nearest.map { "Did you mean “\(path) \($0)”? " } ?? ""
    return Failure(
      "“\(path)” has no command “\(printable(word))”. \(hint)“\(path) --help” lists its commands.", status: 64)
  }
}
