/// A field that differs from the interface's description.
package struct FieldError: Error, Equatable, Sendable, CustomStringConvertible {
  package let field: String
  package let expected: String

  package init(field: String, expected: String) {
    self.field = field
    self.expected = expected
  }

  package var description: String { "the field “\(field)” is not \(expected)" }
}

/// Typed access to the fields of a message. A message that was checked against its interface has these fields; one
/// that comes from the other side unchecked is refused here.
extension JSONObject {
  package func string(_ name: String) throws(FieldError) -> String {
    guard case .string(let value)? = self[name] else { throw FieldError(field: name, expected: "a string") }
    return value
  }

  package func int(_ name: String) throws(FieldError) -> Int {
    guard case .int(let value)? = self[name] else { throw FieldError(field: name, expected: "a whole number") }
    return Int(value)
  }

  package func bool(_ name: String) throws(FieldError) -> Bool {
    guard case .bool(let value)? = self[name] else { throw FieldError(field: name, expected: "true or false") }
    return value
  }

  package func object(_ name: String) throws(FieldError) -> JSONObject {
    guard case .object(let value)? = self[name] else { throw FieldError(field: name, expected: "an object") }
    return value
  }

  package func objects(_ name: String) throws(FieldError) -> [JSONObject] {
    guard case .array(let values)? = self[name] else { throw FieldError(field: name, expected: "an array") }
    var objects: [JSONObject] = []
    for value in values {
      guard case .object(let object) = value else { throw FieldError(field: name, expected: "an array of objects") }
      objects.append(object)
    }
    return objects
  }

  package func strings(_ name: String) throws(FieldError) -> [String] {
    guard case .array(let values)? = self[name] else { throw FieldError(field: name, expected: "an array") }
    var strings: [String] = []
    for value in values {
      guard case .string(let string) = value else { throw FieldError(field: name, expected: "an array of strings") }
      strings.append(string)
    }
    return strings
  }

  func ints(_ name: String) throws(FieldError) -> [Int] {
    guard case .array(let values)? = self[name] else { throw FieldError(field: name, expected: "an array") }
    var ints: [Int] = []
    for value in values {
      guard case .int(let int) = value else { throw FieldError(field: name, expected: "an array of numbers") }
      ints.append(Int(int))
    }
    return ints
  }

  /// One of a fixed set of words.
  package func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws(FieldError) -> Choice {
    guard case .string(let word)? = self[name], let value = Choice(rawValue: word) else {
      throw FieldError(
        field: name, expected: "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return value
  }

  /// An array of words of a fixed set.
  func choices<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws(FieldError) -> [Choice] {
    var choices: [Choice] = []
    for word in try strings(name) { choices.append(try ([name: .string(word)] as JSONObject).choice(name)) }
    return choices
  }

  /// Whether an optional field is there; null is the same as nothing.
  package func has(_ name: String) -> Bool {
    switch self[name] {
    case nil, .null?: false
    default: true
    }
  }

  package func stringIfPresent(_ name: String) throws(FieldError) -> String? {
    switch self[name] {
    case nil, .null?: nil
    case .string(let value)?: value
    default: throw FieldError(field: name, expected: "a string")
    }
  }

  package func intIfPresent(_ name: String) throws(FieldError) -> Int? {
    switch self[name] {
    case nil, .null?: nil
    case .int(let value)?: Int(value)
    default: throw FieldError(field: name, expected: "a whole number")
    }
  }

  package func boolIfPresent(_ name: String) throws(FieldError) -> Bool? {
    switch self[name] {
    case nil, .null?: nil
    case .bool(let value)?: value
    default: throw FieldError(field: name, expected: "true or false")
    }
  }

  package func stringsIfPresent(_ name: String) throws(FieldError) -> [String]? { has(name) ? try strings(name) : nil }
  func intsIfPresent(_ name: String) throws(FieldError) -> [Int]? { has(name) ? try ints(name) : nil }
  package func choiceIfPresent<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws(FieldError) -> Choice? { has(name) ? try choice(name) : nil }

  /// Sets a field, or leaves it out when the value is nil.
  package mutating func set(_ name: String, _ value: String?) { self[name] = value.map { .string($0) } }
  package mutating func set(_ name: String, _ value: Int?) { self[name] = value.map { JSONValue($0) } }
  package mutating func set(_ name: String, _ value: Bool?) { self[name] = value.map { .bool($0) } }
  package mutating func set(_ name: String, _ value: [String]?) {
    self[name] = value.map { .array($0.map { .string($0) }) }
  }

  mutating func set<Choice: RawRepresentable<String>>(_ name: String, _ value: Choice?) { set(name, value?.rawValue) }
  mutating func set<Choice: RawRepresentable<String>>(_ name: String, _ value: [Choice]) {
    set(name, value.map(\.rawValue))
  }
  mutating func set(_ name: String, _ value: [Int]?) { self[name] = value.map { .array($0.map { JSONValue($0) }) } }
  mutating func set(_ name: String, _ value: [String: String]) { self[name] = .object(JSONObject(value)) }
}
