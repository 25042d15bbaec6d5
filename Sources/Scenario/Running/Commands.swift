package import Wire

/// `ambit` commands that are run to their end, and the events of the audit log.
extension Play {
  func perform(_ command: Command, limit: Double) throws -> [String] {
    let child = try start(try command.arguments.map { try variables.expand($0) })
    defer { child.signal(9) }
    return try finish(child, command.outcome, limit: limit)
  }

  func start(_ arguments: [String]) throws -> Child {
    let child = try Child(
      name: "ambit " + arguments.joined(separator: " "), executable: options.ambit, arguments: arguments,
      environment: environment, directory: stage.home)
    child.closeInput()
    children.append(child)
    return child
  }

  /// Waits until the log has events that match the patterns, in this order (others may stand between them).
  ///
  /// - Parameter count: so many events match the (first) pattern, and no more.
  func expectEvents(_ patterns: [EventPattern], count: Int?, limit: Double) throws -> [String] {
    // An event may come a moment after its cause: the end of a sandbox is noticed, not announced.
    var log = try readLog(limit: limit)
    var attempt = match(patterns, in: log)
    let clock = ContinuousClock()
    let start = clock.now
    while case .stopped = attempt, start.duration(to: clock.now) / .seconds(1) < limit {
      let _: Bool? = try wait(for: "the audit log", limit: 0.1) { nil }
      log = try readLog(limit: limit)
      attempt = match(patterns, in: log)
    }
    switch attempt {
    case .matched(let events):
      if let count, let pattern = patterns.first {
        let found = log.filter { matches($0, pattern) }
        guard found.count == count else {
          throw CheckFailure(
            expected: "\(count) events with \(try describe(pattern))",
            seen: "\(found.count):\n" + found.map(Self.summary).joined(separator: "\n"))
        }
      }
      return events.map { display.line(Self.summary(of: $0)) }
    case .stopped(let index):
      let place = patterns.count > 1 ? " (number \(index + 1) of \(patterns.count), after the ones before it)" : ""
      throw CheckFailure(
        expected: "an event with \(try describe(patterns[index]))\(place) within \(seconds(limit))",
        seen: log.isEmpty ? "an empty log" : log.map(Self.summary).joined(separator: "\n"))
    }
  }

  func expectNone(of patterns: [EventPattern], limit: Double) throws -> [String] {
    let log = try readLog(limit: limit)
    for pattern in patterns {
      if let event = log.first(where: { matches($0, pattern) }) {
        throw CheckFailure(expected: "no event with \(try describe(pattern))", seen: Self.summary(of: event))
      }
    }
    return ["none among \(log.count) events"]
  }

  package enum Attempt {
    case matched([JSONValue])
    /// The first pattern that no event matches.
    case stopped(Int)
  }

  package func match(_ patterns: [EventPattern], in log: [JSONValue]) -> Attempt {
    var events: [JSONValue] = []
    var rest = log[...]
    for (index, pattern) in patterns.enumerated() {
      guard let found = rest.firstIndex(where: { matches($0, pattern) }) else { return .stopped(index) }
      events.append(rest[found])
      rest = rest[(found + 1)...]
    }
    return .matched(events)
  }

  package func matches(_ event: JSONValue, _ pattern: EventPattern) -> Bool {
    pattern.fields.allSatisfy { field in
      guard let text = event[path: field.name]?.plainText else { return false }
      return (try? field.expect.judge(text, variables)) != nil
    }
  }

  package func readLog(limit: Double) throws -> [JSONValue] {
    let child = try start(["audit", "log", "--format", "json"])
    defer { child.signal(9) }
    guard let ending = try wait(for: "ambit audit log", limit: limit, { child.ending }) else {
      throw CheckFailure(expected: "`ambit audit log` to end within \(seconds(limit))", seen: "it still runs")
    }
    guard ending == .exit(0) else {
      throw CheckFailure(
        expected: "`ambit audit log` to print the log", seen: "\(ending)",
        context: display.tail(child.takeErrors()).map { "stderr: \($0)" })
    }
    return try child.takeOutput().split(separator: "\n").map { line in
      guard let event = JSONValue(line: String(line)) else {
        throw CheckFailure(expected: "one JSON object a line from `ambit audit log --format json`", seen: String(line))
      }
      return event
    }
  }

  private func describe(_ pattern: EventPattern) throws -> String {
    try pattern.fields.map { field in
      let wanted = try field.expect.equals.map { try variables.expand($0) } ?? "…"
      return "\(field.name) = \(wanted)"
    }.joined(separator: ", ")
  }

  /// The fields that tell most of an event, in the order that they are read in.
  private static let telling = ["result", "document.path", "how", "rule", "reason", "app"]

  /// One line: its kind in a column of its own, then its details. That it was allowed goes without saying.
  static func summary(of event: JSONValue) -> String {
    let kind = event[path: "kind"]?.plainText ?? "?"
    let rest = telling.compactMap { event[path: $0] }.filter { $0 != .null }.map(\.plainText)
      .filter { !$0.isEmpty && $0 != "allowed" }
    return ([kind + String(repeating: " ", count: max(0, 16 - kind.count))] + rest).joined(separator: "  ")
  }
}
