/// Actions with `app`: how the acts of an app are written.
extension ScenarioReader {
  /// Keys that may stand beside a word.
  package static func keys(of word: AppWord) -> [String] {
    ["app", "process", "as", "expect", "fails", "may_fail", "result", "save", "within", "timeout"]
      + word.keys.map(\.name)
  }

  mutating func act(_ word: AppWord, _ fields: inout Fields) throws(ScenarioError) -> Act {
    let app = try agent(&fields, "app")
    let process = try fields.string("process")
    let subject = try subject(of: word, &fields)
    var parameters: [Act.Parameter] = []
    for key in word.keys where fields.has(key.name) {
      parameters.append(Act.Parameter(key: key.parameter, value: try value(key, &fields)))
    }
    var act = Act(
      app: app, process: process, word: word, subject: subject, parameters: parameters,
      answer: try answer(&fields))
    if fields.has("as"), !word.keys.contains(where: { $0.name == "as" }) {
      act.name = try document(naming: &fields, "as")
      // `pick` of several documents names each further one with a number.
      if case .texts(let paths) = subject, let name = act.name {
        for number in 0..<max(paths.count, 1) {
          documents.insert("\(name)\(number)")
          variables.insert("\(name)\(number)")
        }
      }
    }
    if word.word == "restore" {
      // The restored documents, in their order.
      for number in 0..<16 {
        documents.insert("r\(number)")
        variables.insert("r\(number)")
      }
    }
    if word.word == "cancel" { act.answer.errors = ["CANCELLED"] }
    act.save = try save(&fields)
    return act
  }

  private mutating func subject(of word: AppWord, _ fields: inout Fields) throws(ScenarioError) -> Act.Value {
    switch word.subject {
    case .none:
      guard try fields.bool(word.word) == true else {
        throw fields.problem("`\(word.word)` has no object: write `\(word.word) = true`", at: word.word)
      }
      return .none
    case .document: return .text(Template(text: try document(&fields, word.word)))
    case .path, .text: return .text(try template(&fields, word.word) ?? Template(text: ""))
    case .number:
      guard let number = try fields.int(word.word) else { return .none }
      return .number(number)
    case .answer: return .texts(try templates(&fields, word.word) ?? [])
    }
  }

  private mutating func value(_ key: AppWord.Key, _ fields: inout Fields) throws(ScenarioError) -> Act.Value {
    switch key.kind {
    case .text: return .text(try template(&fields, key.name) ?? Template(text: ""))
    case .texts: return .texts(try templates(&fields, key.name) ?? [])
    case .flag: return .flag(try fields.bool(key.name) ?? false)
    case .number: return .number(try fields.int(key.name) ?? 0)
    case .document: return .text(Template(text: try document(&fields, key.name)))
    case .documents:
      var names: [Template] = []
      for name in try fields.strings(key.name) ?? [] {
        guard documents.contains(name) else { throw unknown(name, fields, key.name) }
        names.append(Template(text: name))
      }
      return .texts(names)
    }
  }

  /// `fails = "EACCES"`, several, or `true` for any error. Without it the act has to be done.
  private mutating func answer(_ fields: inout Fields) throws(ScenarioError) -> Act.Answer {
    var errors: [String]?
    if case .bool(let any)? = fields.node("fails")?.value {
      guard any else { throw fields.problem("`fails` names errors, or is true for any", at: "fails") }
      errors = []
    } else {
      errors = try fields.strings("fails")
    }
    let mayFail = try fields.strings("may_fail")
    if mayFail != nil, errors != nil { throw fields.problem("either `fails` or `may_fail`", at: "may_fail") }
    errors = errors ?? mayFail
    for symbol in errors ?? [] where !symbol.allSatisfy({ $0.isUppercase || $0.isNumber }) {
      throw fields.problem("`fails`: an error has a name like EACCES, not `\(symbol)`", at: "fails")
    }
    var answer = Act.Answer(errors: errors, expect: try expectation(&fields, "expect") ?? .anything)
    answer.mayBeDone = mayFail != nil
    for table in try fields.tables("result", of: "`result`") ?? [] { answer.fields += try json(table) }
    return answer
  }

  /// An instance of the agent that some step before has launched.
  mutating func agent(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> String {
    let name = try instance(&fields, key)
    guard agents.contains(name) else {
      throw fields.problem("`\(key)`: `\(name)` is not the agent, so it cannot be asked to act; use `tell`", at: key)
    }
    return name
  }

  /// A document that some step before has given to an app.
  mutating func document(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> String {
    let name = try fields.string(key) ?? ""
    guard documents.contains(name) else { throw unknown(name, fields, key) }
    return name
  }

  private func unknown(_ name: String, _ fields: Fields, _ key: String) -> ScenarioError {
    let hint =
      documents.isEmpty ? "; no document is given before" : Nearest.proposal(for: name, among: documents.sorted())
    return fields.problem("`\(key)`: no step before this one names a document `\(name)`\(hint)", at: key)
  }

  /// A name for a document from here on.
  mutating func document(naming fields: inout Fields, _ key: String) throws(ScenarioError) -> String {
    guard let name = try fields.string(key) else {
      throw fields.problem("`\(key)` is missing: a name for the document")
    }
    guard !Variables.given.contains(name), !name.isEmpty,
      name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
    else {
      throw fields.problem("`\(key)`: a name of letters, digits, `-` and `_`, and none that Ambit gives", at: key)
    }
    documents.insert(name)
    variables.insert(name)
    return name
  }
}
