internal import Wire

/// The conditions on a text. All conditions given must hold; none given holds for any text.
package struct TextExpectation: Equatable, Sendable {
  package var equals: Template?
  package var contains: [Template] = []
  package var lacks: [Template] = []
  package var starts: Template?
  /// A regular expression that must match somewhere; `save` keeps its first group. Variables stand for their text, not for a
  /// pattern.
  package var matches: Template?
  /// Number of lines.
  package var lines: Int?
  /// Fields of the text read as JSON, by dotted path (`holders.0.name`).
  package var json: [JSONField] = []

  package struct JSONField: Equatable, Sendable {
    package var path: String
    package var value: Template
  }

  package static let anything = TextExpectation()

  package static func equal(to text: String) -> TextExpectation { TextExpectation(equals: Template(text: text)) }

  package init(equals: Template? = nil) { self.equals = equals }
}

extension TextExpectation {
  /// The mismatch of a text, in two halves that a report sets side by side.
  package struct Mismatch: Error, Equatable, Sendable {
    package var expected: String
    package var seen: String
  }

  /// Judges a text, without its last line end.
  ///
  /// - Returns: the text that `save` keeps: the first group of `matches`, or the whole text.
  /// - Throws: ``Mismatch``, or ``Variables/Undefined``.
  @discardableResult
  package func judge(_ text: String, _ variables: Variables) throws -> String {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    if let equals {
      var wanted = try variables.expand(equals)
      if wanted.hasSuffix("\n") { wanted.removeLast() }
      guard text == wanted else { throw Mismatch(expected: wanted, seen: text) }
    }
    if let starts {
      let wanted = try variables.expand(starts)
      guard text.hasPrefix(wanted) else {
        throw Mismatch(expected: "something that begins with: \(wanted)", seen: text)
      }
    }
    for part in contains {
      let wanted = try variables.expand(part)
      guard text.contains(wanted) else { throw Mismatch(expected: "something that contains: \(wanted)", seen: text) }
    }
    for part in lacks {
      let unwanted = try variables.expand(part)
      guard !text.contains(unwanted) else { throw Mismatch(expected: "nothing that contains: \(unwanted)", seen: text) }
    }
    if let lines {
      let count = text.isEmpty ? 0 : text.split(separator: "\n", omittingEmptySubsequences: false).count
      guard count == lines else { throw Mismatch(expected: "\(lines) lines", seen: "\(count) lines:\n\(text)") }
    }
    if !json.isEmpty { try judgeFields(of: text, variables) }
    return try matched(in: text, variables)
  }

  private func matched(in text: String, _ variables: Variables) throws -> String {
    guard let matches else { return text }
    let pattern = try Self.pattern(matches) { (name) throws(Variables.Undefined) in
      try variables.expand(Template(variable: name))
    }
    guard let match = try Regex(pattern).firstMatch(in: text) else {
      throw Mismatch(expected: "something that matches: \(pattern)", seen: text)
    }
    return match.output.count > 1 ? match.output[1].substring.map(String.init) ?? "" : text
  }

  private func judgeFields(of text: String, _ variables: Variables) throws {
    guard let value = JSONValue(line: text) else { throw Mismatch(expected: "a JSON value", seen: text) }
    for field in json {
      let wanted = try variables.expand(field.value)
      guard let found = value[path: field.path]?.plainText else {
        throw Mismatch(expected: "\(field.path) = \(wanted)", seen: "no such field in \(text)")
      }
      guard found == wanted else {
        throw Mismatch(expected: "\(field.path) = \(wanted)", seen: "\(field.path) = \(found)")
      }
    }
  }

  /// The regular expression of a template, in which variables stand for their text.
  package static func pattern<Failure: Error>(
    _ template: Template, _ value: (String) throws(Failure) -> String
  ) throws(Failure) -> String {
    try template.expanded { (name) throws(Failure) in
      try value(name).map { $0.isLetter || $0.isNumber || $0 == "_" ? String($0) : "\\\($0)" }.joined()
    }
  }
}

extension Template {
  fileprivate init(variable: String) {
    self.init(text: "")
    parts = [.variable(variable)]
  }
}
