/// The launcher that makes the tested sandbox.
package enum TestedLauncher: Equatable, Sendable {
  /// Ambit itself, with a policy as `ambit run --policy` takes it.
  case ambit(policy: String)
  /// Another program, as the words that stand before a command. `{program}` and the like stand for paths of the stage.
  case prefix([String])

  /// The placeholders for the stage's own paths in a launcher's command line.
  package static let placeholders: [(name: String, meaning: String)] = [
    ("{program}", "the battery's program, at the same path inside"),
    ("{container}", "a folder that the app may write, at the same path inside"),
    ("{granted}", "a folder that the app was given, at the same path inside"),
    ("{document}", "a file that the app may read, at the same path inside"),
    ("{planted}", "a path in the container, prepared before the launch (B4)"),
  ]

  /// Splits a command line as a shell does, as far as that is needed here: words between blanks, with quotes of both
  /// kinds and backslashes outside single quotes.
  ///
  /// - Throws: when a quote is not closed, or there is no word at all.
  package static func words(_ line: String) throws(BatteryError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in line {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil || isEscaped { throw BatteryError("--launcher: a quote is not closed in “\(line)”.") }
    if let word { words.append(word) }
    if words.isEmpty { throw BatteryError("--launcher: say a command, for example 'bwrap --ro-bind / / --'.") }
    return words
  }

  var isAmbit: Bool { if case .ambit = self { true } else { false } }
}
