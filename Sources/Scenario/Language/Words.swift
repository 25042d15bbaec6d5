/// The words for the user, the host and the log: how each action is written. Each `do` element holds exactly one of these words and
/// the keys that go with it; `timeout` (seconds) goes with all. An action with `app` has a word of ``AppWord`` instead.
///
/// Programs are started in `${home}`; other paths begin with a variable or are absolute.
package struct HostWord: Equatable, Sendable {
  package var word: String
  package var keys: [String]
  package var says: String

  package static let all: [HostWord] = [
    HostWord(word: "write", keys: ["content"], says: "makes host files, and the folders above them"),
    HostWord(word: "append", keys: ["content"], says: "writes at the end of a host file"),
    HostWord(word: "replace", keys: ["content"], says: "saves a host file as editors do: a new file takes its name"),
    HostWord(word: "read", keys: ["expect", "within"], says: "a host file's content"),
    HostWord(word: "move", keys: ["to"], says: "renames or moves a host file or folder"),
    HostWord(word: "copy", keys: ["to"], says: "copies a host file"),
    HostWord(word: "trash", keys: [], says: "moves a host file to the user's trash"),
    HostWord(word: "remove", keys: [], says: "removes host files and folders"),
    HostWord(word: "link", keys: ["target"], says: "makes a symbolic link on the host"),
    HostWord(word: "make_folder", keys: [], says: "makes host folders"),
    HostWord(word: "mode", keys: ["bits"], says: "changes the mode bits of a host file, in octal"),
    HostWord(word: "present", keys: ["within"], says: "these exist on the host"),
    HostWord(word: "absent", keys: ["within"], says: "these do not"),
    HostWord(word: "policy", keys: ["content"], says: "writes a policy of the user's, by this name"),
    HostWord(
      word: "launch",
      keys: [
        "as", "of", "args", "options", "policy", "container", "manifest", "entitlements", "allow_entitlements", "user",
        "interactive", "expect", "terminal",
      ],
      says: "starts `agent`, the app that acts, or a program, in a sandbox"),
    HostWord(word: "give", keys: ["to", "as", "access", "started"], says: "the user gives a document to an app"),
    HostWord(word: "revoke", keys: ["from"], says: "the user takes a document back that was given to an app"),
    HostWord(
      word: "tell", keys: ["line", "expect", "fails", "reply", "save"],
      says: "sends lines to a program; each is answered by `ok …` or `error SYMBOL …`"),
    HostWord(word: "keys", keys: ["to"], says: "presses keys in a program's terminal: `Down`, `Enter`, `C-c`"),
    HostWord(word: "type", keys: ["to"], says: "types a text in a program's terminal"),
    HostWord(word: "screen", keys: ["expect", "within"], says: "the text that a program's terminal shows"),
    HostWord(word: "suspend", keys: [], says: "the user suspends an app: none of its processes runs any more"),
    HostWord(word: "memory_pressure", keys: [], says: "the system runs short of memory and ends this suspended app"),
    HostWord(word: "resume", keys: [], says: "the user lets a suspended app go on"),
    HostWord(word: "kill", keys: [], says: "SIGKILL: the sandbox ends with it"),
    HostWord(word: "close", keys: Self.outcome, says: "ends a program's input and waits for its end"),
    HostWord(word: "wait", keys: Self.outcome, says: "waits for a program's end"),
    HostWord(word: "pause", keys: [], says: "lets some seconds pass"),
    HostWord(word: "run", keys: Self.outcome, says: "an `ambit` command"),
    HostWord(word: "audit", keys: ["count"], says: "the log has these events, in this order"),
    HostWord(word: "never", keys: [], says: "the log has none of these events"),
  ]

  private static let outcome = ["status", "signal", "expect", "errors", "save"]
  package static let common = ["timeout"]
}

extension ScenarioReader {
  mutating func action(_ table: Fields) throws(ScenarioError) -> Action {
    var fields = table
    let isAct = fields.has("app")
    let known = isAct ? AppWord.all.map(\.word) : HostWord.all.map(\.word)
    // A word can be a key of another one: `write` of `hold`. The first key that is a word counts, in the order of the file.
    let found = fields.keysInOrder.filter { known.contains($0) }
    guard let word = found.first else {
      let stranger = fields.keysInOrder.first { !["app", "process"].contains($0) } ?? ""
      throw fields.problem(
        "an action needs one of the words that say what it does\(Nearest.proposal(for: stranger, among: known.sorted()))",
        at: stranger)
    }
    let timeout = try fields.seconds("timeout")
    if let appWord = isAct ? AppWord.named(word) : nil {
      let within = try fields.seconds("within")
      let act = try act(appWord, &fields)
      try fields.finish(known: Self.keys(of: appWord), what: "`\(word)`")
      return Action(verb: .act(act), place: fields.place, timeout: timeout, within: within)
    }
    let keys = HostWord.all.first { $0.word == word }?.keys ?? []
    if let second = found.first(where: { $0 != word && !keys.contains($0) }) {
      throw fields.problem("an action does one thing; this one has `\(word)` and `\(second)`", at: second)
    }
    let within = keys.contains("within") ? try fields.seconds("within") : nil
    let verb = try verb(word, &fields)
    try fields.finish(known: keys + HostWord.common, what: "`\(word)`")
    return Action(verb: verb, place: fields.place, timeout: timeout, within: within)
  }

  private mutating func verb(_ word: String, _ fields: inout Fields) throws(ScenarioError) -> Verb {
    switch word {
    case "write":
      return .write(
        paths: try paths(&fields, word),
        content: try required(try template(&fields, "content"), "content", word, fields))
    case "append", "replace":
      let path = try path(&fields, word)
      let content = try required(try template(&fields, "content"), "content", word, fields)
      return word == "append" ? .append(path: path, content: content) : .replace(path: path, content: content)
    case "read":
      return .read(
        path: try path(&fields, word), expect: try required(try expectation(&fields, "expect"), "expect", word, fields))
    case "move", "copy":
      let from = try path(&fields, word)
      let to = try required(try template(&fields, "to"), "to", word, fields)
      return word == "move" ? .move(from: from, to: to) : .copy(from: from, to: to)
    case "trash": return .trash(path: try path(&fields, word))
    case "link":
      return .link(
        path: try path(&fields, word), target: try required(try template(&fields, "target"), "target", word, fields))
    case "make_folder": return .makeFolder(paths: try paths(&fields, word))
    case "mode":
      let bits = try required(try fields.string("bits"), "bits", word, fields)
      guard let value = UInt32(bits, radix: 8), value <= 0o7777 else {
        throw fields.problem("`bits` are mode bits in octal, as in \"0644\"", at: "bits")
      }
      return .mode(path: try path(&fields, word), bits: value)
    case "policy":
      let name = try name(&fields, word)
      return .policy(name: name, content: try required(try template(&fields, "content"), "content", word, fields))
    case "remove": return .remove(paths: try paths(&fields, word))
    case "present": return .present(paths: try paths(&fields, word))
    case "absent": return .absent(paths: try paths(&fields, word))
    case "launch": return .launch(try launch(&fields))
    case "give": return .give(try give(&fields))
    case "revoke": return .revoke(document: try document(&fields, word), app: try instance(&fields, "from"))
    case "pause": return .pause(seconds: try required(try fields.seconds(word), word, word, fields))
    case "tell": return .tell(try tell(&fields))
    case "keys", "type":
      let keys = try required(try templates(&fields, word), word, word, fields)
      return .keys(keys, instance: try instance(&fields, "to"), isText: word == "type")
    case "screen":
      return .screen(
        instance: try instance(&fields, word),
        expect: try required(try expectation(&fields, "expect"), "expect", word, fields))
    case "suspend", "resume": return .suspend(instance: try instance(&fields, word), by: word)
    case "memory_pressure": return .suspend(instance: try instance(&fields, word), by: "kill --memory-pressure")
    case "kill": return .kill(instance: try instance(&fields, word))
    case "close": return .close(instance: try instance(&fields, word), outcome: try outcome(&fields))
    case "wait": return .wait(instance: try instance(&fields, word), outcome: try outcome(&fields))
    case "run":
      return .run(
        Command(
          arguments: try required(try templates(&fields, word), word, word, fields), outcome: try outcome(&fields)))
    case "audit": return .audit(events: try events(&fields, word), count: try fields.int("count"))
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
    let isAgent = program == Template(text: "agent")
    let name = try name(&fields, "as")
    var launch = Launch(
      program: isAgent ? nil : program, arguments: try templates(&fields, "args") ?? [], name: name,
      policy: try template(&fields, "policy"), container: try fields.string("container"), user: [],
      interactive: try fields.bool("interactive") ?? false, expect: try expectation(&fields, "expect"))
    launch.options = try templates(&fields, "options") ?? []
    launch.terminal = try terminal(&fields)
    launch.allowEntitlements = try fields.strings("allow_entitlements") ?? []
    for answer in try fields.tables("user", of: "a user's answer") ?? [] { launch.user.append(try userAnswer(answer)) }
    if isAgent {
      launch.app = try fields.has("of") ? instance(&fields, "of") : nil
      launch.manifest = try properties(&fields, "manifest")
      launch.entitlements = try properties(&fields, "entitlements")
      if launch.expect != nil || !launch.arguments.isEmpty {
        throw fields.problem(
          "the agent is told what to do by actions with `app`; `args` and `expect` are for other programs")
      }
      for variable in ["home", "container", "id"] { variables.insert("\(name).\(variable)") }
      agents.insert(name)
    }
    instances.append(name)
    return launch
  }

  /// `terminal = true`, or its size: `terminal = "100x30"`.
  private func terminal(_ fields: inout Fields) throws(ScenarioError) -> TerminalSize? {
    guard let node = fields.node("terminal") else { return nil }
    if case .bool(let flag) = node.value { return flag ? TerminalSize(columns: 80, rows: 24) : nil }
    if case .string(let text) = node.value {
      let numbers = text.split(separator: "x").compactMap { Int($0) }
      if numbers.count == 2, numbers.allSatisfy({ (10...400).contains($0) }) {
        return TerminalSize(columns: numbers[0], rows: numbers[1])
      }
    }
    throw fields.problem("`terminal` is true, or columns and rows: \"80x24\"", at: "terminal")
  }

  /// Keys of a property list.
  private mutating func properties(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> [Property] {
    guard let node = fields.node(key) else { return [] }
    return try properties(try Fields(node, file: file, what: "`\(key)`"))
  }

  private mutating func properties(_ fields: Fields) throws(ScenarioError) -> [Property] {
    var table = fields
    var properties: [Property] = []
    for name in table.remaining {
      guard let node = table.node(name) else { continue }
      let value: Property.Value
      switch node.value {
      case .bool(let flag): value = .bool(flag)
      case .integer(let number): value = .integer(number)
      case .string(let text): value = .string(text)
      case .array(let members):
        if case .table? = members.first?.value {
          var dictionaries: [[Property]] = []
          for member in try table.tables(name, of: "`\(name)`") ?? [] {
            dictionaries.append(try self.properties(member))
          }
          value = .dictionaries(dictionaries)
        } else {
          value = .strings(try table.strings(name) ?? [])
        }
      default:
        throw table.problem(
          "a property is true, false, a number, a string, or an array of strings or of tables", at: name)
      }
      properties.append(Property(key: name, value: value))
    }
    return properties
  }

  private mutating func give(_ fields: inout Fields) throws(ScenarioError) -> Give {
    let path = try path(&fields, "give")
    let app = try agent(&fields, "to")
    let access = try fields.string("access") ?? "write"
    guard ["read", "write"].contains(access) else {
      throw fields.problem("`access` is `read` or `write`", at: "access")
    }
    let isStarted = try fields.bool("started") ?? true
    return Give(
      path: path, app: app, name: try document(naming: &fields, "as"), isReadOnly: access == "read",
      isStarted: isStarted)
  }

  /// A name of letters, digits, `-` and `_`.
  private mutating func name(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> String {
    guard let name = try fields.string(key) else { throw fields.problem("`\(key)` is missing: a name") }
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }) else {
      throw fields.problem("`\(key)`: a name of letters, digits, `-` and `_`", at: key)
    }
    return name
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

  package mutating func events(_ fields: inout Fields, _ word: String) throws(ScenarioError) -> [EventPattern] {
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
