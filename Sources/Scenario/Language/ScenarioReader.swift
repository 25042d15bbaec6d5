/// Reads a scenario file, strictly: unknown words, keys, variables and instances are errors before anything runs.
package struct ScenarioReader {
  let file: String
  /// Variables that have a value at this point of the story.
  package var variables: Set<String> = Set(Variables.given)
  /// Instances launched by this point of the story.
  var instances: [String] = []
  /// Those of them that are the agent.
  var agents: Set<String> = []
  /// Documents that an app has by this point.
  var documents: Set<String> = []

  package init(file: String) { self.file = file }

  /// - Throws: ``ScenarioError``.
  package static func read(path: String) throws -> Scenario {
    try read(try TOMLFile.read(path: path), file: path)
  }

  /// - Throws: ``ScenarioError``.
  package static func read(text: String, file: String) throws(ScenarioError) -> Scenario {
    try read(try TOMLFile.parse(text, file: file), file: file)
  }

  private static func read(_ root: Node, file: String) throws(ScenarioError) -> Scenario {
    var fields = try Fields(root, file: file, what: "a scenario")
    guard let title = try fields.string("title") else {
      throw fields.problem("a scenario needs a `title`")
    }
    var reader = ScenarioReader(file: file)
    var scenario = Scenario(
      file: file, title: title, about: try fields.string("about"), policy: try reader.template(&fields, "policy"),
      timeout: try fields.seconds("timeout") ?? Scenario.defaultTimeout, steps: [])
    try reader.header(&fields, &scenario)
    scenario.setUp = try reader.actions(&fields, "set_up")
    for step in try fields.tables("step", of: "a step") ?? [] { scenario.steps.append(try reader.step(step)) }
    scenario.tearDown = try reader.actions(&fields, "tear_down")
    try fields.finish(
      known: [
        "title", "about", "policy", "policies", "users", "timeout", "entry", "statement", "source", "strength", "needs",
        "features", "variables", "set_up", "step", "tear_down",
      ], what: "a scenario")
    guard scenario.steps.contains(where: { !$0.actions.isEmpty }) else {
      throw ScenarioError(file: file, place: nil, message: "no step does anything; give one a `do = [{ … }]`")
    }
    return scenario
  }

  /// What stands before the steps, besides the title.
  private mutating func header(_ fields: inout Fields, _ scenario: inout Scenario) throws(ScenarioError) {
    if let id = try fields.string("entry") {
      guard let statement = try fields.string("statement"), let source = try fields.string("source"),
        let strength = try fields.string("strength")
      else {
        throw fields.problem("`entry` goes with the entry's `statement`, `source` and `strength`", at: "entry")
      }
      guard ["A", "B", "C", "D"].contains(strength) else {
        throw fields.problem("`strength` is A, B, C or D", at: "strength")
      }
      scenario.entry = Scenario.Entry(id: id, statement: statement, source: source, strength: strength)
    }
    scenario.needs = Set(try words(&fields, "needs", Capability.self))
    scenario.users = try words(&fields, "users", Scenario.User.self)
    scenario.features = try fields.strings("features") ?? []
    scenario.policies = try fields.strings("policies") ?? []
    if !scenario.policies.isEmpty, scenario.policy != nil {
      throw fields.problem("either `policy` or `policies`", at: "policies")
    }
    if let node = fields.node("variables") {
      var table = try Fields(node, file: file, what: "`variables`")
      for name in table.remaining {
        guard let value = try template(&table, name) else { continue }
        scenario.variables.append(Scenario.Variable(name: name, value: value))
        variables.insert(name)
      }
    }
  }

  private func words<Word: RawRepresentable & CaseIterable>(
    _ fields: inout Fields, _ key: String, _ type: Word.Type
  ) throws(ScenarioError) -> [Word] where Word.RawValue == String {
    var words: [Word] = []
    for text in try fields.strings(key) ?? [] {
      guard let word = Word(rawValue: text) else {
        throw fields.problem(
          "`\(key)` has no word `\(text)`\(Nearest.proposal(for: text, among: Word.allCases.map(\.rawValue)))", at: key)
      }
      words.append(word)
    }
    return words
  }

  package mutating func actions(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> [Action] {
    var actions: [Action] = []
    for action in try fields.tables(key, of: "an action") ?? [] { actions.append(try self.action(action)) }
    return actions
  }

  private mutating func step(_ table: Fields) throws(ScenarioError) -> Step {
    var fields = table
    guard let say = try fields.string("say") else {
      throw fields.problem("a step needs a `say`: what a person learns from it")
    }
    var step = Step(say: say, rules: try fields.strings("rules") ?? [], actions: [], place: fields.place)
    if let node = fields.node("for_each") {
      var table = try Fields(node, file: file, what: "`for_each`")
      guard let name = table.remaining.first, let values = try templates(&table, name), table.remaining.isEmpty else {
        throw fields.problem("`for_each` has one variable and its values: { name = [\"a\", \"b\"] }", at: "for_each")
      }
      step.loop = Step.Loop(variable: name, values: values)
      variables.insert(name)
    }
    step.actions = try actions(&fields, "do")
    try fields.finish(known: ["say", "rules", "for_each", "do"], what: "a step")
    return step
  }
}

extension ScenarioReader {
  /// A text with variables, each of which has a value by now.
  package mutating func template(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> Template? {
    guard let source = try fields.string(key) else { return nil }
    return try template(source, fields, key)
  }

  package mutating func templates(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> [Template]? {
    guard let sources = try fields.strings(key) else { return nil }
    var templates: [Template] = []
    for source in sources { templates.append(try template(source, fields, key)) }
    return templates
  }

  func template(_ source: String, _ fields: Fields, _ key: String) throws(ScenarioError) -> Template {
    let template: Template
    do {
      template = try Template(parsing: source)
    } catch {
      throw fields.problem("`\(key)`: \(error.message)", at: key)
    }
    for name in template.variables {
      if variables.contains(name) || name.hasPrefix(Variables.containerPrefix) { continue }
      throw fields.problem(
        "`\(key)`: no step before this one gives the variable `\(name)` a value"
          + Nearest.proposal(for: name, among: variables.sorted() + ["container:ID"]), at: key)
    }
    return template
  }

  /// An instance that some step before has launched.
  mutating func instance(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> String {
    let name = try fields.string(key) ?? ""
    guard instances.contains(name) else {
      let hint = instances.isEmpty ? "; nothing is launched before" : Nearest.proposal(for: name, among: instances)
      throw fields.problem("`\(key)`: no step before this one launches `\(name)`\(hint)", at: key)
    }
    return name
  }

  /// `save`: the variable has a value from here on.
  mutating func save(_ fields: inout Fields) throws(ScenarioError) -> String? {
    guard let name = try fields.string("save") else { return nil }
    guard !Variables.given.contains(name), !name.hasPrefix(Variables.containerPrefix),
      !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
    else {
      throw fields.problem(
        "`save`: `\(name)` cannot be a variable's name (letters, digits, `-` and `_`, and none that Ambit gives)",
        at: "save")
    }
    variables.insert(name)
    return name
  }

  /// A string (the text must be this), or a table of conditions.
  mutating func expectation(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> TextExpectation? {
    guard let node = fields.node(key) else { return nil }
    if case .string(let text) = node.value { return TextExpectation(equals: try template(text, fields, key)) }
    guard case .table = node.value else {
      throw fields.problem("`\(key)` is a string or a table of conditions, not \(node.kind)", at: key)
    }
    var conditions = try Fields(node, file: file, what: "`\(key)`")
    var expectation = TextExpectation(equals: try template(&conditions, "equals"))
    expectation.contains = try templates(&conditions, "contains") ?? []
    expectation.lacks = try templates(&conditions, "lacks") ?? []
    expectation.starts = try template(&conditions, "starts")
    expectation.matches = try template(&conditions, "matches")
    expectation.lines = try conditions.int("lines")
    if let matches = expectation.matches { try check(pattern: matches, conditions) }
    if let json = try conditions.tables("json", of: "`json`") {
      for table in json { expectation.json += try self.json(table) }
    }
    try conditions.finish(
      known: ["equals", "contains", "lacks", "starts", "matches", "lines", "json"], what: "`\(key)`")
    return expectation
  }

  private func check(pattern: Template, _ fields: Fields) throws(ScenarioError) {
    let source = TextExpectation.pattern(pattern) { _ in "x" }
    do {
      _ = try Regex(source)
    } catch {
      throw fields.problem("`matches` is not a regular expression: \(error)", at: "matches")
    }
  }

  mutating func json(_ table: Fields) throws(ScenarioError) -> [TextExpectation.JSONField] {
    var table = table
    var fields: [TextExpectation.JSONField] = []
    for key in table.remaining {
      guard let value = try scalar(&table, key) else { continue }
      fields.append(TextExpectation.JSONField(path: key, value: value))
    }
    return fields
  }

  /// A string, number or truth value as the text that JSON fields are compared by.
  mutating func scalar(_ fields: inout Fields, _ key: String) throws(ScenarioError) -> Template? {
    guard let node = fields.node(key) else { return nil }
    switch node.value {
    case .string(let text): return try template(text, fields, key)
    case .integer(let number): return Template(text: String(number))
    case .float(let number): return Template(text: String(number))
    case .bool(let value): return Template(text: value ? "true" : "false")
    default:
      throw fields.problem("`\(key)` is compared with a string, a number, true or false, not \(node.kind)", at: key)
    }
  }
}
