internal import Paths

/// The options of `ambit run` that take effect before the app's name, and are the app's own arguments behind it.
package enum OwnOption {
  /// By their long names. Short ones are many a program's, and mean something else there.
  package static let names =
    [
      "--policy", "--container", "--answers", "--pick", "--seccomp", "--limit", "--trace", "--json-status-fd",
      "--allow-degraded", "--allow-entitlement", "--trust", "--plain", "--web",
    ] + GivenDocument.How.allCases.map(\.option)

  /// The warning that the app gets an argument which may have been meant for Ambit, with its remedy; `nil`: there is no such
  /// argument.
  ///
  /// - Parameters:
  ///   - words: the words after `ambit run`. A `--` anywhere before an argument says that it is meant as it stands.
  ///   - arguments: how many of them, at the end, are the app's.
  package static func warning(_ words: [String], arguments: Int) -> String? {
    let first = words.count - arguments
    guard arguments > 0, first > 0 else { return nil }
    for (index, word) in words[first...].enumerated() {
      if word == "--" { return nil }
      guard word.hasPrefix("--"), let name = name(of: word), !words[..<first].contains("--") else { continue }
      let app = words[first - 1].lastPathName
      let takesValue = !["--trace", "--plain", "--web"].contains(name)
      let value = index + 1 < arguments && word == name && takesValue ? " \(words[first + index + 1])" : ""
      return "\(app) got \(name) as an argument of its own. To give it to Ambit, write it before the app's name: "
        + "ambit run \(word)\(value) \(app). If the app is meant, “--” before its name or its arguments silences this."
    }
    return nil
  }

  /// The option that a word is, or sets with `=`.
  private static func name(of word: String) -> String? {
    names.first { word == $0 || (word.hasPrefix($0) && word.dropFirst($0.count).first == "=") }
  }
}
