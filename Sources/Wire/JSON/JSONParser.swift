internal import Paths

/// Why bytes are not a JSON document that Ambit takes.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Where, in bytes from the beginning.
  package let offset: Int
  package let reason: String
  package var description: String { "\(reason), at byte \(offset)" }
}

extension JSONValue {
  /// Reads one JSON document that fills the bytes, as RFC 8259 has it, and stricter than most parsers, since this is
  /// where an app's words enter the broker: UTF-8 only; no field twice in an object; no half of a surrogate pair;
  /// numbers fit in Int64 or UInt64 or, written with fraction or exponent or too large for those, in a finite Double;
  /// nested at most `depth` deep.
  ///
  /// Work and memory are linear in the number of bytes, which the caller bounds.
  package init(parsing bytes: [UInt8], depth: Int = 32) throws(JSONError) {
    try self.init(parsing: bytes[...], depth: depth)
  }

  package init(parsing bytes: ArraySlice<UInt8>, depth: Int = 32) throws(JSONError) {
    var parser = JSONParser(bytes: bytes)
    parser.skipSpace()
    self = try parser.value(depth: depth)
    parser.skipSpace()
    guard parser.position == bytes.endIndex else { throw parser.error("something follows the end of the document") }
  }
}

/// Recursive descent over bytes; `depth` bounds the recursion.
private struct JSONParser {
  let bytes: ArraySlice<UInt8>
  var position: Int

  init(bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  func error(_ reason: String) -> JSONError { JSONError(offset: position - bytes.startIndex, reason: reason) }

  /// The next byte; nil at the end.
  var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard let byte = next else { throw error("the document ends too early") }
    switch byte {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("a value was expected")
    }
  }

  mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw error("a value was expected") }
    position += word.utf8.count
    return value
  }

  mutating func object(depth: Int) throws(JSONError) -> JSONObject {
    guard depth > 0 else { throw error("nested too deeply") }
    position += 1
    var fields: [JSONObject.Field] = []
    // Few names are compared one by one; many by a set, so that time stays linear.
    var names: Set<String> = []
    skipSpace()
    if take(UInt8(ascii: "}")) { return JSONObject() }
    fields.reserveCapacity(4)
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("the name of a field was expected") }
      let start = position
      let name = try string()
      if fields.count == 16 { names = Set(fields.map(\.name)) }
      let isNew = fields.count < 16 ? !fields.contains { $0.name == name } : names.insert(name).inserted
      guard isNew else {
        position = start
        throw error("a field occurs twice")
      }
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw error("a colon was expected") }
      skipSpace()
      fields.append(JSONObject.Field(name: name, value: try value(depth: depth - 1)))
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "}")) else { throw error("a comma or a closing brace was expected") }
      return JSONObject(unique: fields)
    }
  }

  mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    guard depth > 0 else { throw error("nested too deeply") }
    position += 1
    var values: [JSONValue] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return values }
    while true {
      skipSpace()
      values.append(try value(depth: depth - 1))
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "]")) else { throw error("a comma or a closing bracket was expected") }
      return values
    }
  }

  mutating func digits() throws(JSONError) {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    if position == start { throw error("a digit was expected") }
  }

  mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    _ = take(UInt8(ascii: "-"))
    // A zero in front stands alone.
    if !take(UInt8(ascii: "0")) { try digits() }
    var isInteger = true
    if take(UInt8(ascii: ".")) {
      isInteger = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isInteger = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let value = Int64(text) { return .int(value) }
    if isInteger, let value = UInt64(text) { return .unsigned(value) }
    guard let value = Double(text), value.isFinite else {
      position = start
      throw error("a number is too large")
    }
    return .double(value)
  }

  mutating func string() throws(JSONError) -> String {
    let start = position
    position += 1
    let first = position
    // Most strings hold no escapes: those are one slice.
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    if take(UInt8(ascii: "\"")) {
      return try text(bytes[first..<(position - 1)], startingAt: start)
    }
    var content = Array(bytes[first..<position])
    while true {
      guard let byte = next else { throw error("a string does not end") }
      guard byte >= 0x20 else { throw error("a control character stands in a string") }
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(content[...], startingAt: start)
      case UInt8(ascii: "\\"): try escape(into: &content)
      default: content.append(byte)
      }
    }
  }

  func text(_ content: ArraySlice<UInt8>, startingAt start: Int) throws(JSONError) -> String {
    guard let valid = try? UTF8Span(validating: content.span) else {
      throw JSONError(offset: start - bytes.startIndex, reason: "a string is not UTF-8")
    }
    let text = String(copying: valid)
    if text.hasLongMarkRow {
      throw JSONError(
        offset: start - bytes.startIndex, reason: "a string has more combining marks in a row than any text")
    }
    return text
  }

  mutating func escape(into content: inout [UInt8]) throws(JSONError) {
    guard let byte = next else { throw error("a string does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"):
      let first = try hexadecimal()
      var code = UInt32(first)
      if UTF16.isLeadSurrogate(first) {
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw error("half of a surrogate pair") }
        let second = try hexadecimal()
        guard UTF16.isTrailSurrogate(second) else { throw error("half of a surrogate pair") }
        code = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
      }
      guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair") }
      content.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default:
      position -= 1
      throw error("an escape that JSON does not have")
    }
  }

  mutating func hexadecimal() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        throw error("four hexadecimal digits were expected")
      }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }
}
