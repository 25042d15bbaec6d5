internal import AppModel

/// One table of a document, read key by key; it remembers the keys that it was asked for.
///
/// Accessors answer `nil` for a key that is not there and an error for a value of another type. After all reads, ``finish()`` on
/// the top table complains about the keys that were never asked for. A class, because the tables handed out belong to the one that
/// ends by finishing them all.
package final class TOMLReader {
  /// The file's name in errors.
  package let file: String
  /// Where the table is in the document.
  package let path: [TOMLPathElement]
  /// The table with its place.
  package let node: TOMLNode

  private let entries: [TOMLEntry]
  /// The keys that were asked for, in that order, which is the order in which messages list them.
  private var known: [String] = []
  var asked: [String] { known }
  private var children: [TOMLReader] = []
  private var isAbandoned = false

  init(_ node: TOMLNode, path: [TOMLPathElement], file: String) {
    self.node = node
    self.path = path
    self.file = file
    if case .table(let entries) = node.value { self.entries = entries } else { entries = [] }
  }

  /// Where the table begins.
  package var position: SourcePosition { node.position }

  /// The keys that are there, in the order of the file. Asking for them does not make them known.
  package var keys: [String] { entries.map(\.key) }

  /// A key's value of any type; marks the key as known.
  package func value(_ key: String) -> TOMLNode? {
    if !known.contains(key) { known.append(key) }
    return entries.first { $0.key == key }?.node
  }

  // MARK: - Typed values

  package func string(_ key: String) throws(SourceError) -> String? {
    guard let node = value(key) else { return nil }
    guard case .string(let text) = node.value else { throw wrong(key, node, "a string") }
    return text
  }

  /// A string that is one of a few words.
  package func choice(_ key: String, of words: [String]) throws(SourceError) -> String? {
    guard let node = value(key) else { return nil }
    let expected = oneOf(words)
    guard case .string(let text) = node.value else { throw wrong(key, node, expected) }
    guard words.contains(text) else {
      let hint = words.nearest(to: text).map { "; did you mean \($0.quoted)?" } ?? ""
      throw wrong(key, node, expected, hint: hint)
    }
    return text
  }

  package func integer(_ key: String, in range: ClosedRange<Int> = Int.min...Int.max) throws(SourceError) -> Int? {
    guard let node = value(key) else { return nil }
    let expected =
      range == Int.min...Int.max ? "an integer" : "an integer from \(range.lowerBound) to \(range.upperBound)"
    guard case .integer(let number) = node.value, range.contains(number) else { throw wrong(key, node, expected) }
    return number
  }

  /// A number with or without a fraction.
  package func number(_ key: String) throws(SourceError) -> Double? {
    guard let node = value(key) else { return nil }
    switch node.value {
    case .integer(let number): return Double(number)
    case .float(let number) where number.isFinite: return number
    default: throw wrong(key, node, "a number")
    }
  }

  package func boolean(_ key: String) throws(SourceError) -> Bool? {
    guard let node = value(key) else { return nil }
    guard case .boolean(let flag) = node.value else { throw wrong(key, node, "true or false") }
    return flag
  }

  /// An array of strings.
  package func strings(_ key: String) throws(SourceError) -> [String]? {
    try stringNodes(key)?.map(\.text)
  }

  /// An array of strings, each with its place, for callers that check them further.
  package func stringNodes(_ key: String) throws(SourceError) -> [(text: String, position: SourcePosition)]? {
    guard let node = value(key) else { return nil }
    guard case .array(let elements) = node.value else { throw wrong(key, node, "an array of strings") }
    var result: [(text: String, position: SourcePosition)] = []
    for element in elements {
      guard case .string(let text) = element.value else {
        throw error(
          at: element.position, "\(name(key)) must be an array of strings, and has in it \(element.description)")
      }
      result.append((text, element.position))
    }
    return result
  }

  /// A table with free keys and strings as values, in the order of the file.
  package func stringTable(
    _ key: String
  ) throws(SourceError) -> [(key: String, value: String, position: SourcePosition)]? {
    guard let table = try table(key) else { return nil }
    var result: [(key: String, value: String, position: SourcePosition)] = []
    for entry in table.entries {
      guard let text = try table.string(entry.key) else { continue }
      result.append((entry.key, text, entry.position))
    }
    return result
  }

  package func table(_ key: String) throws(SourceError) -> TOMLReader? {
    guard let node = value(key) else { return nil }
    guard case .table = node.value else { throw wrong(key, node, "a table") }
    return child(node, TOMLPathElement(key: key, number: nil))
  }

  /// An array of tables, `[[step]]`.
  package func tables(_ key: String) throws(SourceError) -> [TOMLReader]? {
    guard let node = value(key) else { return nil }
    guard case .array(let elements) = node.value else { throw wrong(key, node, "an array of tables ([[\(key)]])") }
    var result: [TOMLReader] = []
    for (number, element) in elements.enumerated() {
      guard case .table = element.value else {
        throw error(
          at: element.position, "\(name(key)) must hold tables ([[\(key)]]), and has in it \(element.description)")
      }
      result.append(child(element, TOMLPathElement(key: key, number: number + 1)))
    }
    return result
  }

  /// Turns a value that may be missing into one that must be there.
  ///
  /// ```swift
  /// let name = try step.require("name", step.string("name"))
  /// ```
  package func require<Value>(_ key: String, _ value: Value?) throws(SourceError) -> Value {
    guard let value else {
      let others = entries.filter { !known.contains($0.key) }
      guard let other = others.map(\.key).nearest(to: key),
        let place = others.first(where: { $0.key == other })?.position
      else { throw error(at: position, "\(name(key)) is missing; add it") }
      throw error(at: place, "\(name(key)) is missing; is it meant by \(other.quoted)?")
    }
    return value
  }

  // MARK: - Errors

  /// Complains about keys, here and in every table handed out from here, that were not asked for.
  package func finish() throws(SourceError) {
    var faults = SourceFaults()
    for error in unknown().sorted(by: { $0.position < $1.position }).prefix(SourceFaults.most) { faults.add(error) }
    try faults.check()
  }

  /// It was not read to its end, because something in it is wrong: nothing is known of the keys that were not asked for.
  package func abandon() { isAbandoned = true }

  /// An error of the caller's own about a key's value (or about the table, when the key is not there).
  package func error(_ key: String, _ message: String) -> SourceError {
    let place = entries.first { $0.key == key }?.node.position ?? position
    return error(at: place, "\(name(key)) \(message)")
  }

  package func error(at position: SourcePosition, _ message: String) -> SourceError {
    SourceError(file: file, position: position, message: message)
  }

  /// A key with the tables that it is in: `scopes.limit`, `step[3].open`.
  package func name(_ key: String) -> String {
    (path + [TOMLPathElement(key: key, number: nil)]).map(\.description).joined(separator: ".")
  }

  /// An error about a value of a wrong kind; `expected` has its article.
  package func wrong(_ key: String, _ node: TOMLNode, _ expected: String, hint: String = "") -> SourceError {
    error(at: node.position, "\(name(key)) must be \(expected), and is \(node.description)\(hint)")
  }

  private func unknown() -> [SourceError] {
    if isAbandoned { return [] }
    var errors = children.flatMap { $0.unknown() }
    for entry in entries where !known.contains(entry.key) {
      var isTable = false
      if case .table = entry.node.value { isTable = true }
      let place = path.isEmpty ? "at the top of the file" : "in \(heading)"
      var message = "unknown \(isTable ? "table" : "key") \(entry.key.quoted) \(place)"
      message += known.nearest(to: entry.key).map { "; did you mean \($0.quoted)?" } ?? "."
      message += known.isEmpty ? " No keys are known here." : " Known keys: \(known.joined(separator: ", "))."
      errors.append(error(at: entry.position, message))
    }
    return errors
  }

  /// The table as its header has it; a member of an array of tables with its number: `[[step]] 3`.
  private var heading: String {
    let inside = path.dropLast().map { $0.description + "." }.joined()
    guard let last = path.last else { return "[]" }
    let key = TOMLPathElement(key: last.key, number: nil).description
    return last.number.map { "[[\(inside)\(key)]] \($0)" } ?? "[\(inside)\(key)]"
  }

  private func child(_ node: TOMLNode, _ element: TOMLPathElement) -> TOMLReader {
    let reader = TOMLReader(node, path: path + [element], file: file)
    children.append(reader)
    return reader
  }

  private func oneOf(_ words: [String]) -> String {
    let quoted = words.map(\.quoted)
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}
