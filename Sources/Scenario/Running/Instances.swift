import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// App instances: launching them, talking to them, ending them.
extension Play {
  func perform(_ launch: Launch, limit: Double) throws -> [String] {
    if let adapter { return try launchUnder(adapter, launch, limit: limit) }
    let isInteractive = launch.interactive && options.isInteractive
    var arguments = ["run"]
    if let policy = launch.policy ?? scenario.policy { arguments += ["--policy", try variables.expand(policy)] }
    if let container = launch.container { arguments += ["--container", container] }
    arguments += try launch.options.map { try variables.expand($0) }
    arguments += launch.allowEntitlements.flatMap { ["--allow-entitlement", $0] }
    if isInteractive {
      reporter.asks(try instructions(for: launch))
      try waitForEnter()
    } else if let answers = try answers(for: launch) {
      arguments += ["--answers", try write(answers, of: launch)]
    }
    arguments.append(try launch.program.map { try variables.expand($0) } ?? bundle(for: launch))
    arguments += try launch.arguments.map { try variables.expand($0) }
    if let size = launch.terminal { return try self.launch(launch.name, arguments, inTerminal: size) }
    if let earlier = instances[launch.name], earlier.ending == nil {
      throw CheckFailure(expected: "no instance named \(launch.name)", seen: "process \(earlier.pid) is still running")
    }
    let child = try Child(
      name: launch.name, executable: options.ambit, arguments: arguments, environment: environment,
      directory: stage.home, isInteractive: isInteractive)
    children.append(child)
    instances[launch.name] = child
    if launch.program == nil {
      let id = Self.identifier(of: launch.app ?? launch.name)
      variables["\(launch.name).id"] = id
      variables["\(launch.name).home"] = options.appHome
      variables["\(launch.name).container"] = "\(stage.containers)/\(id)"
    }
    guard let expect = launch.expect else { return ["process \(child.pid)"] }
    let line = try nextLine(of: child, limit: limit)
    try judge(expect, line, of: child)
    return [display.line(line)]
  }

  /// Sends each line and judges each answer.
  func perform(_ tell: Tell, limit: Double) throws -> [String] {
    let child = try instance(tell.instance)
    var evidence: [String] = []
    for template in tell.lines {
      let line = try variables.expand(template)
      guard !line.contains("\n") else { throw CheckFailure(expected: "one line to send", seen: line) }
      let reply = try exchange(line, with: child, limit: limit)
      let kept = try judge(tell.answer, reply, of: child)
      if let save = tell.save { variables[save] = kept }
      evidence.append(evidenceText(reply))
    }
    return [display.line(evidence.joined(separator: ", "), width: evidence.count > 1 ? 200 : 160)]
  }

  /// One line to an instance, and one back.
  func ask(_ name: String, _ line: String, limit: Double) throws -> String {
    try exchange(line, with: try instance(name), limit: limit)
  }

  private func exchange(_ line: String, with child: Child, limit: Double) throws -> String {
    // Earlier output, before the question, is no answer to it.
    child.drain()
    while child.takeLine() != nil {}
    try send(line, to: child, limit: limit)
    return try nextLine(of: child, limit: limit)
  }

  /// SIGKILL to the launcher, as when the system takes an app away.
  func killInstance(_ name: String, limit: Double) throws -> [String] {
    if let adapter { return try endUnder(adapter, name, how: "kill", limit: limit) }
    if let terminals, terminals.names.contains(name) { return try close(name, in: terminals) }
    let child = try instance(name)
    child.reap()
    if let ending = child.ending { throw CheckFailure(expected: "\(name) to be running", seen: "\(ending)") }
    let number: Int32 = 9
    child.signal(number)
    guard let ending = try wait(for: "\(name) to end", limit: limit, { child.ending }) else {
      throw CheckFailure(expected: "\(name) to end", seen: "process \(child.pid) still runs after \(seconds(limit))")
    }
    guard ending == .signal(number) else { throw CheckFailure(expected: "\(Ending.signal(number))", seen: "\(ending)") }
    return ["process \(child.pid) \(ending)"]
  }

  func end(_ name: String, closing: Bool, _ outcome: Outcome, limit: Double) throws -> [String] {
    if let adapter { return try endUnder(adapter, name, how: "close", limit: limit) }
    if let terminals, terminals.names.contains(name) { return try end(name, in: terminals, outcome, limit: limit) }
    let child = try instance(name)
    if closing { child.closeInput() }
    return try finish(child, outcome, limit: limit)
  }

  /// Waits for a process to end and judges its end and its output.
  func finish(_ child: Child, _ outcome: Outcome, limit: Double) throws -> [String] {
    let patience = child.isInteractive ? nil : limit
    guard let ending = try wait(for: "\(child.name) to end", limit: patience, { child.ending }) else {
      throw CheckFailure(
        expected: "\(child.name) to end within \(seconds(limit))", seen: "it still runs", context: printed(by: child))
    }
    guard ending == outcome.ending else {
      throw CheckFailure(expected: "\(outcome.ending)", seen: "\(ending)", context: printed(by: child))
    }
    let output = child.takeOutput()
    let errors = child.takeErrors()
    do {
      let kept = try outcome.expect.judge(output, variables)
      if let save = outcome.save { variables[save] = kept }
      try outcome.errors.judge(errors, variables)
    } catch let mismatch as TextExpectation.Mismatch {
      throw CheckFailure(expected: mismatch.expected, seen: mismatch.seen, context: errorLines(errors))
    }
    let count = output.split(separator: "\n").count
    if count == 0 { return [errors.isEmpty ? "\(ending)" : "\(ending), \(display.line(errors))"] }
    return [count == 1 ? display.line(output) : "\(ending), \(count) lines"]
  }

  // MARK: - Lines

  private func send(_ line: String, to child: Child, limit: Double) throws {
    var rest = ArraySlice(Array((line + "\n").utf8))
    let sent: Bool? = try wait(for: "\(child.name) to read", limit: limit) {
      guard let count = child.send(rest) else {
        guard let ending = child.ending else { return nil }
        throw CheckFailure(
          expected: "\(child.name) to read a line", seen: "it has ended: \(ending)", context: printed(by: child))
      }
      rest = rest.dropFirst(count)
      return rest.isEmpty ? true : nil
    }
    guard sent != nil else {
      throw CheckFailure(
        expected: "\(child.name) to read a line within \(seconds(limit))", seen: "it does not read its input",
        context: printed(by: child))
    }
  }

  private func nextLine(of child: Child, limit: Double) throws -> String {
    let patience = child.isInteractive ? nil : limit
    let line: String? = try wait(for: "\(child.name) to answer", limit: patience) {
      if let line = child.takeLine() { return line }
      guard let ending = child.ending else { return nil }
      let rest = child.takeOutput()
      if !rest.isEmpty { return rest }
      throw CheckFailure(
        expected: "a line from \(child.name)", seen: "it ended without one: \(ending)", context: printed(by: child))
    }
    guard let line else {
      throw CheckFailure(
        expected: "a line from \(child.name) within \(seconds(limit))",
        seen: child.output.text.isEmpty ? "nothing" : "only the beginning of one: \(child.output.text)",
        context: printed(by: child))
    }
    return line
  }

  private func judge(_ answer: Tell.Answer, _ reply: String, of child: Child) throws -> String {
    let words = reply.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1] : ""
    switch answer {
    case .line(let expect): return try judge(expect, reply, of: child)
    case .ok(let expect):
      guard words.first == "ok" else {
        throw CheckFailure(
          expected: "an answer that begins with: ok", seen: reply, context: errorLines(child.errors.text))
      }
      return try judge(expect, rest, of: child)
    case .error(let symbols, let expect):
      let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.first == "error", let symbol = parts.first, symbols.contains(symbol) else {
        throw CheckFailure(
          expected: "error \(symbols.joined(separator: " or "))", seen: reply, context: errorLines(child.errors.text))
      }
      return try judge(expect, parts.count > 1 ? parts[1] : "", of: child)
    }
  }

  @discardableResult
  private func judge(_ expect: TextExpectation, _ text: String, of child: Child) throws -> String {
    do {
      return try expect.judge(text, variables)
    } catch let mismatch as TextExpectation.Mismatch {
      throw CheckFailure(expected: mismatch.expected, seen: mismatch.seen, context: errorLines(child.errors.text))
    }
  }

  /// `error EACCES Permission denied` without the word that the check's own mark says already.
  private func evidenceText(_ reply: String) -> String {
    for word in ["ok ", "error "] where reply.hasPrefix(word) { return String(reply.dropFirst(word.count)) }
    return reply
  }

  // MARK: - Helpers

  func instance(_ name: String) throws -> Child {
    guard let child = instances[name] else {
      throw CheckFailure(expected: "\(name) to be launched", seen: "it is not")
    }
    return child
  }

  /// All output of a program that has not been taken, for a failure's context.
  private func printed(by child: Child) -> [String] {
    let output = child.output.text
    return errorLines(child.errors.text) + (output.isEmpty ? [] : display.tail(output).map { "stdout: \($0)" })
  }

  private func errorLines(_ errors: String) -> [String] { display.tail(errors).map { "stderr: \($0)" } }

  func seconds(_ limit: Double) -> String {
    limit == limit.rounded() ? "\(Int(limit)) s" : "\(limit) s"
  }

  /// The picker will cover the narration; the person at the terminal decides when.
  private func waitForEnter() throws {
    let _: Bool? = try wait(for: "you", limit: nil) {
      var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&input, 1, 0) > 0 ? true : nil
    }
    _ = readLine()
  }

  private func instructions(for launch: Launch) throws -> String {
    var steps: [String] = []
    for answer in launch.user {
      switch answer {
      case .cancel: steps.append("close the picker without choosing")
      case .create: steps.append("ask for a new document")
      case .act(let action, _): steps.append("choose the app's action “\(display.clean(try variables.expand(action)))”")
      case .pick(let paths):
        steps.append("choose \(try paths.map { display.clean(try variables.expand($0)) }.joined(separator: ", "))")
      }
    }
    return
      "Your turn: when the picker opens, \(steps.isEmpty ? "answer it" : steps.joined(separator: "; then ")). Press Enter to go on."
  }

  /// The user's answers to an instance: those of the launch, or those of its acts up to its next launch.
  private func answers(for launch: Launch) throws -> [UserAnswer]? {
    guard launch.program == nil, launch.user.isEmpty else { return launch.user.isEmpty ? nil : launch.user }
    var answers: [UserAnswer] = []
    for (action, values) in plan.dropFirst(position + 1) {
      switch action.verb {
      case .launch(let later) where later.name == launch.name: return answers
      case .give(let give) where give.app == launch.name: answers.append(.pick([try expand(give.path, values)]))
      case .act(let act) where act.app == launch.name && act.word.act == "browseCreate":
        guard case .texts(let folders) = act.subject else { continue }
        answers.append(.create(try folders.first.map { try expand($0, values) }))
      case .act(let act) where act.app == launch.name && ["pick", "browse"].contains(act.word.act):
        let action = act.parameters.first { $0.key == "action" }?.value
        if case .text(let name)? = action {
          let paths = if case .texts(let paths) = act.subject { paths } else { [Template]() }
          answers.append(.act(try expand(name, values), try paths.map { try expand($0, values) }))
        } else if case .texts(let paths) = act.subject {
          answers.append(.pick(try paths.map { try expand($0, values) }))
        } else {
          answers.append(.cancel)
        }
      default: break
      }
    }
    return answers
  }

  /// A path of a later action, with the values that its loop will give.
  private func expand(_ path: Template, _ values: [String: Template]) throws -> Template {
    var later = variables
    for (name, value) in values { later[name] = try variables.expand(value) }
    return Template(text: try later.expand(path))
  }

  /// Writes the file of `ambit run --answers`.
  private func write(_ answers: [UserAnswer], of launch: Launch) throws -> String {
    var text = ""
    for answer in answers {
      text += "[[answer]]\n"
      switch answer {
      case .cancel: text += "cancel = true\n"
      case .pick(let paths):
        let quoted = try paths.map { TOMLText.quoted(try variables.expand($0)) }
        text += "pick = [\(quoted.joined(separator: ", "))]\n"
      case .act(let action, let paths):
        let quoted = try paths.map { TOMLText.quoted(try variables.expand($0)) }
        text +=
          "action = \(TOMLText.quoted(try variables.expand(action)))\npick = [\(quoted.joined(separator: ", "))]\n"
      case .create(let folder):
        text += "create = \(TOMLText.quoted(try folder.map { try variables.expand($0) } ?? ""))\n"
      }
    }
    let path = "\(stage.folder)/answers/\(launch.name)-\(children.count).toml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }
}
