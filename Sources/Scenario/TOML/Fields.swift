internal import Policy

/// Strict decoding of one table: every key is asked for, or ``finish()`` complains of it.
package struct Fields {
  package let file: String
  package let place: Place
  private let members: [String: Node]
  private var asked: Set<String> = []

  package init(_ node: Node, file: String, what: String) throws(ScenarioError) {
    guard case .table(let members) = node.value else {
      throw ScenarioError(file: file, place: node.place, message: "\(what) is a table, not \(node.kind)")
    }
    self.file = file
    self.place = node.place
    self.members = members
  }

  /// Keys in the table that were not asked for, in the file's order.
  package var remaining: [String] {
    keysInOrder.filter { !asked.contains($0) }
  }

  /// All keys, in the file's order.
  package var keysInOrder: [String] {
    members.keys.sorted {
      (place(of: $0).line, place(of: $0).column, $0) < (place(of: $1).line, place(of: $1).column, $1)
    }
  }

  package func has(_ key: String) -> Bool { members[key] != nil }

  package func place(of key: String) -> Place { members[key]?.place ?? place }

  package func problem(_ message: String, at key: String? = nil) -> ScenarioError {
    ScenarioError(file: file, place: key.map(place(of:)) ?? place, message: message)
  }

  package mutating func node(_ key: String) -> Node? {
    asked.insert(key)
    return members[key]
  }

  package mutating func string(_ key: String) throws(ScenarioError) -> String? {
    guard let node = node(key) else { return nil }
    guard case .string(let value) = node.value else { throw wrong(key, node, "a string") }
    return value
  }

  package mutating func bool(_ key: String) throws(ScenarioError) -> Bool? {
    guard let node = node(key) else { return nil }
    guard case .bool(let value) = node.value else { throw wrong(key, node, "true or false") }
    return value
  }

  package mutating func int(_ key: String) throws(ScenarioError) -> Int? {
    guard let node = node(key) else { return nil }
    guard case .integer(let value) = node.value else { throw wrong(key, node, "a whole number") }
    return value
  }

  /// A positive number of seconds.
  package mutating func seconds(_ key: String) throws(ScenarioError) -> Double? {
    guard let node = node(key) else { return nil }
    let value: Double
    switch node.value {
    case .integer(let number): value = Double(number)
    case .float(let number): value = number
    default: throw wrong(key, node, "a number of seconds")
    }
    guard value > 0, value <= 86_400 else {
      throw problem("`\(key)` is a number of seconds, above 0 and at most a day", at: key)
    }
    return value
  }

  /// A string, or an array of strings.
  package mutating func strings(_ key: String) throws(ScenarioError) -> [String]? {
    guard let node = node(key) else { return nil }
    switch node.value {
    case .string(let value): return [value]
    case .array(let elements):
      var values: [String] = []
      for element in elements {
        guard case .string(let value) = element.value else {
          throw ScenarioError(
            file: file, place: element.place, message: "`\(key)` holds strings, not \(element.kind)")
        }
        values.append(value)
      }
      return values
    default: throw wrong(key, node, "a string or an array of strings")
    }
  }

  /// A table, or an array of tables.
  package mutating func tables(_ key: String, of what: String) throws(ScenarioError) -> [Fields]? {
    guard let node = node(key) else { return nil }
    if case .array(let elements) = node.value {
      var tables: [Fields] = []
      for element in elements { tables.append(try Fields(element, file: file, what: what)) }
      return tables
    }
    return [try Fields(node, file: file, what: what)]
  }

  /// - Parameter known: every key that may stand here, for the proposal.
  /// - Parameter what: the owner of the keys, for the message: ``a `tell` action``.
  package func finish(known: [String], what: String) throws(ScenarioError) {
    guard let key = remaining.first else { return }
    throw problem("\(what) has no key `\(key)`\(Nearest.proposal(for: key, among: known))", at: key)
  }

  private func wrong(_ key: String, _ node: Node, _ wanted: String) -> ScenarioError {
    problem("`\(key)` is \(wanted), not \(node.kind)", at: key)
  }
}

/// Proposes the word that the author may have meant.
enum Nearest {
  /// `; did you mean …?`, or the whole list when nothing is near; empty when there is nothing to propose.
  static func proposal(for word: String, among known: [String]) -> String {
    if let best = known.nearest(to: word) { return "; did you mean `\(best)`?" }
    return known.isEmpty ? "" : "; known are \(known.map { "`\($0)`" }.joined(separator: ", "))"
  }
}
