/// The words of the language: how each action is written. Each `do` element holds exactly one of these keys, which names its act,
/// and the keys that go with it. `timeout` (seconds) goes with all.
///
/// Programs are started in `${home}`; other paths begin with a variable or are absolute.
///
///     { write = PATH | [PATHS], content = TEXT }       makes host files, and the folders above them
///     { read = PATH, expect = … }                      a host file's content
///     { move = PATH, to = PATH }                       renames or moves a host file
///     { remove = PATH | [PATHS] }
///     { present = PATH | [PATHS] }                     these exist on the host
///     { absent = PATH | [PATHS] }                      these do not
///     { launch = PROGRAM, as = NAME, args, policy, container, allow_entitlements, user = [ANSWERS], interactive,
///       expect }
///     { tell = NAME, line = LINE | [LINES], expect | fails | reply, save }
///     { kill = NAME }                                  SIGKILL to its launcher; the sandbox goes with it
///     { close = NAME, status | signal, expect, errors, save }   ends its input and waits for it
///     { wait = NAME, status | signal, expect, errors, save }
///     { run = [ARGS], status | signal, expect, errors, save }   an `ambit` command
///     { audit = EVENT | [EVENTS] }                     the audit log has these events, in this order
///     { never = EVENT | [EVENTS] }                     the audit log has none of these
extension ScenarioReader {
  static let words: [String: [String]] = [
    "write": ["content"],
    "read": ["expect"],
    "move": ["to"],
    "remove": [], "present": [], "absent": [],
    "launch": ["as", "args", "policy", "container", "allow_entitlements", "user", "interactive", "expect"],
    "tell": ["line", "expect", "fails", "reply", "save"],
    "kill": [],
    "close": ["status", "signal", "expect", "errors", "save"],
    "wait": ["status", "signal", "expect", "errors", "save"],
    "run": ["status", "signal", "expect", "errors", "save"],
    "audit": [], "never": [],
  ]

  mutating func action(_ table: Fields) throws(ScenarioError) -> Action {
    var fields = table
    let known = Self.words.keys.sorted()
    let found = known.filter { fields.has($0) }
    guard let word = found.first else {
      let stranger = fields.remaining.first ?? ""
      throw fields.problem(
        "an action needs one of the words that say what it does\(Nearest.proposal(for: stranger, among: known))",
        at: stranger)
    }
    guard found.count == 1 else {
      throw fields.problem(
        "an action does one thing; this one has `\(found.joined(separator: "` and `"))`", at: found[1])
    }
    let timeout = try fields.seconds("timeout")
    let verb = try verb(word, &fields)
    try fields.finish(known: (Self.words[word] ?? []) + ["timeout"], what: "`\(word)`")
    return Action(verb: verb, place: fields.place, timeout: timeout)
  }

  private mutating func verb(_ word: String, _ fields: inout Fields) throws(ScenarioError) -> Verb {
    switch word {
    case "write":
      return .write(
        paths: try paths(&fields, word),
        content: try required(try template(&fields, "content"), "content", word, fields))
    case "read":
      return .read(
        path: try path(&fields, word), expect: try required(try expectation(&fields, "expect"), "expect", word, fields))
    case "move":
      return .move(from: try path(&fields, word), to: try required(try template(&fields, "to"), "to", word, fields))
    case "remove": return .remove(paths: try paths(&fields, word))
    case "present": return .present(paths: try paths(&fields, word))
    case "absent": return .absent(paths: try paths(&fields, word))
    case "launch": return .launch(try launch(&fields))
    case "tell": return .tell(try tell(&fields))
    case "kill": return .kill(instance: try instance(&fields, word))
    case "close": return .close(instance: try instance(&fields, word), outcome: try outcome(&fields))
    case "wait": return .wait(instance: try instance(&fields, word), outcome: try outcome(&fields))
    case "run":
      return .run(
        Command(
          arguments: try required(try templates(&fields, word), word, word, fields), outcome: try outcome(&fields)))
    case "audit": return .audit(events: try events(&fields, word))
    default: return .never(events: try events(&fields, word))
    }
  }

  private func required<Value>(_ value: Value?, _ key: String, _ word: String, _ fields: Fields)
    throws(ScenarioError) -> Value
  {
    guard let value else {
      throw fields.problem(
        "`\(word)` needs `\(key)`\(fields.remaining.first.map { Nearest.proposal(for: $0, among: [key]) } ?? "")",
        at: word)
    }
    return value
  }

  private mutating func path(_ fields: inout Fields, _ word: String) throws(ScenarioError) -> Template {
    try required(try template(&fields, word), word, word, fields)
  }

  private mutating func paths(_ fields: inout Fields, _ word: String) throws(ScenarioError) -> [Template] {
    let paths = try required(try templates(&fields, word), word, word, fields)
    guard !paths.isEmpty else { throw fields.problem("`\(word)` names no path", at: word) }
    return paths
  }

  private mutating func launch(_ fields: inout Fields) throws(ScenarioError) -> Launch {
    let program = try path(&fields, "launch")
    let name = try required(try fields.string("as"), "as", "launch", fields)
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }) else {
      throw fields.problem("`as`: a name of letters, digits, `-` and `_`", at: "as")
    }
    var launch = Launch(
      program: program, arguments: try templates(&fields, "args") ?? [], name: name,
      policy: try template(&fields, "policy"), container: try fields.string("container"), user: [],
      interactive: try fields.bool("interactive") ?? false, expect: try expectation(&fields, "expect"))
    launch.allowEntitlements = try fields.strings("allow_entitlements") ?? []
    for answer in try fields.tables("user", of: "a user's answer") ?? [] { launch.user.append(try userAnswer(answer)) }
    instances.append(name)
    return launch
  }

  private mutating func userAnswer(_ table: Fields) throws(ScenarioError) -> UserAnswer {
    var fields = table
    let pick = try templates(&fields, "pick")
    let cancel = try fields.bool("cancel") ?? false
    try fields.finish(known: ["pick", "cancel"], what: "a user's answer")
    switch (pick, cancel) {
    case (let paths?, false) where !paths.isEmpty: return .pick(paths)
    case (nil, true): return .cancel
    default: throw fields.problem("a user either picks (`pick = [PATHS]`) or cancels (`cancel = true`)")
    }
  }

  private mutating func tell(_ fields: inout Fields) throws(ScenarioError) -> Tell {
    let name = try instance(&fields, "tell")
    let lines = try required(try templates(&fields, "line"), "line", "tell", fields)
    guard !lines.isEmpty else { throw fields.problem("`line` holds no line", at: "line") }
    let symbols = try fields.strings("fails")
    let expect = try expectation(&fields, "expect")
    let reply = try expectation(&fields, "reply")
    if reply != nil, symbols != nil || expect != nil {
      throw fields.problem(
        "`reply` judges the whole line; `expect` and `fails` judge its parts: use one way", at: "reply")
    }
    let answer: Tell.Answer =
      if let reply { .line(reply) } else if let symbols { .error(symbols, expect ?? .anything) } else {
        .ok(expect ?? .anything)
      }
    return Tell(instance: name, lines: lines, answer: answer, save: try save(&fields))
  }

  private mutating func outcome(_ fields: inout Fields) throws(ScenarioError) -> Outcome {
    let status = try fields.int("status")
    let signal = try fields.string("signal")
    let ending: Ending
    switch (status, signal) {
    case (let status, nil):
      guard let status = Int32(exactly: status ?? 0), (0...255).contains(status) else {
        throw fields.problem("`status` is an exit status, 0 to 255", at: "status")
      }
      ending = .exit(status)
    case (nil, let name?):
      guard let number = SignalName.number(of: name) else {
        throw fields.problem("`signal`: there is no signal `\(name)`", at: "signal")
      }
      ending = .signal(number)
    default: throw fields.problem("a process ends with a `status` or by a `signal`, not both", at: "signal")
    }
    return Outcome(
      ending: ending, expect: try expectation(&fields, "expect") ?? .anything,
      errors: try expectation(&fields, "errors") ?? .anything, save: try save(&fields))
  }

  private mutating func events(_ fields: inout Fields, _ word: String) throws(ScenarioError) -> [EventPattern] {
    var patterns: [EventPattern] = []
    for table in try fields.tables(word, of: "an audit event") ?? [] {
      var table = table
      var pattern = EventPattern(fields: [])
      for name in table.remaining {
        let isTable = if case .table = table.node(name)?.value { true } else { false }
        let expect =
          isTable ? try expectation(&table, name) : try scalar(&table, name).map { TextExpectation(equals: $0) }
        if let expect { pattern.fields.append(EventPattern.Field(name: name, expect: expect)) }
      }
      guard !pattern.fields.isEmpty else { throw table.problem("an audit event that any event would match") }
      patterns.append(pattern)
    }
    guard !patterns.isEmpty else { throw fields.problem("`\(word)` names no event", at: word) }
    return patterns
  }
}
