internal import Paths

/// Which file an interpreter is given to run: by the words of the command line alone.
///
/// A launch of an interpreter with a script has the script's identity. Anything else than a script file has the interpreter's: a
/// command (`sh -c`), a module (`python -m`), a script on standard input, a file in the container, and every option that is not
/// known here. So has a launch of an interpreter that is not the system's: another program that is called `sh` would be any script.
package enum ScriptRule {
  /// - Parameters:
  ///   - program: the interpreter's path.
  ///   - arguments: the words behind it.
  /// - Returns: the script's absolute path; `nil`: the identity is the interpreter's.
  package static func script(program: String, arguments: [String]) -> String? {
    guard let language = language(of: program), let operand = operand(of: arguments, language) else { return nil }
    // A relative path lies in the container, and these folders are other ones inside.
    guard operand.isAbsolutePath, !operand.pathNames.contains(where: { $0 == ".." || $0 == "." }),
      !inside.contains(where: { operand.lies(within: $0) })
    else { return nil }
    return operand
  }

  private static let inside = [
    InsidePath.home, InsidePath.applications, InsidePath.documents, "/tmp", "/var/tmp", "/dev", "/proc", "/run",
  ]

  /// The options of an interpreter, as far as they are known.
  private struct Language {
    /// Letters of options without a value, which may stand together.
    var flags: String
    /// Letters that take the rest of the word, or the next word, as their value.
    var values = ""
    /// Letters that take the rest of the word, if any, as their value.
    var attached = ""
    /// Words that are options by themselves, and those that have the next word as their value.
    var words: Set<String> = []
    var wordsWithValue: Set<String> = []
    /// Options can begin with a plus sign.
    var hasPlus = false
    /// A single `-` ends the options; else it stands for standard input.
    var dashEnds = false
    /// The letter that takes the script as its value.
    var scriptOption: Character?
  }

  private static func operand(of arguments: [String], _ language: Language) -> String? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--" { return rest.first }
      if word == "-" { return language.dashEnds ? rest.first : nil }
      guard word.hasPrefix("-") || (language.hasPlus && word.hasPrefix("+")) else { return word }
      if language.words.contains(word) { continue }
      if language.wordsWithValue.contains(word) {
        guard rest.popFirst() != nil else { return nil }
        continue
      }
      guard !word.hasPrefix("--") else { return nil }
      var letters = word.dropFirst()
      letters: while let letter = letters.popFirst() {
        if letter == language.scriptOption { return letters.isEmpty ? rest.first : String(letters) }
        if language.values.contains(letter) {
          if letters.isEmpty, rest.popFirst() == nil { return nil }
          break letters
        }
        if language.attached.contains(letter) { break letters }
        guard language.flags.contains(letter) else { return nil }
      }
    }
    return nil
  }

  private static func language(of program: String) -> Language? {
    guard ["/usr", "/bin"].contains(where: { program.lies(below: $0) }) else { return nil }
    // `python3.11` is python.
    var name = program.lastPathName[...]
    while let last = name.last, last.isASCII, last.isNumber || last == "." { name.removeLast() }
    return languages.first { $0.names.contains(String(name)) }?.language
  }

  private static let languages: [(names: [String], language: Language)] = [
    (
      ["bash"],
      Language(
        flags: "abefhiklmnprtuvxBCEHPT", values: "oO",
        words: ["--norc", "--noprofile", "--posix", "--login", "--restricted", "--verbose", "--noediting"],
        wordsWithValue: ["--rcfile", "--init-file"], hasPlus: true, dashEnds: true)
    ),
    (
      ["sh", "dash", "ash", "ksh", "mksh", "zsh"],
      Language(flags: "abefhiklmnpuvxCEIV", values: "o", hasPlus: true, dashEnds: true)
    ),
    (
      ["python", "pypy"],
      Language(flags: "bBdEiIOPqRsSuvx", values: "WX", wordsWithValue: ["--check-hash-based-pycs"])
    ),
    (["perl"], Language(flags: "acfnpsStTuUvwWX", values: "I", attached: "0CDFilMmx")),
    (["ruby"], Language(flags: "alnpsSvwy", values: "CEIr", attached: "0FKTWix")),
    (
      ["node", "nodejs"],
      Language(flags: "", values: "r", words: ["--no-warnings", "--trace-warnings"], wordsWithValue: ["--require"])
    ),
    (["lua"], Language(flags: "EWiv", values: "l")),
    (["php"], Language(flags: "CHnq", values: "cd", scriptOption: "f")),
    (["tclsh", "wish"], Language(flags: "")),
  ]
}
