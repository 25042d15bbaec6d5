internal import Wire

/// A value in a profile and where it stands, for messages.
struct OCINode {
  /// Something in the file is not as it has to be.
  struct Fault: Error {
    let place: String
    let reason: String
  }

  let value: JSONValue
  let place: String

  /// - Parameter sentence: the requirement, or the remedy.
  func fault(_ sentence: String) -> Fault { Fault(place: place, reason: sentence) }

  func wrong(_ expected: String) -> Fault { fault("must be \(expected), and is \(Self.describe(value))") }

  /// The fields of an object, of which none may have another name than those `known`. Null is the same as nothing: Go
  /// writes it for lists that are empty.
  func fields(_ known: [String]) throws(Fault) -> [String: OCINode] {
    guard case .object(let object) = value else { throw wrong("an object") }
    var fields: [String: OCINode] = [:]
    for field in object.fields {
      let node = OCINode(
        value: field.value, place: place.isEmpty ? Self.name(field.name) : "\(place).\(Self.name(field.name))")
      guard known.contains(field.name) else {
        throw node.fault("there is no such key; take it out. Known here: \(known.joined(separator: ", "))")
      }
      if case .null = field.value { continue }
      fields[field.name] = node
    }
    return fields
  }

  func elements() throws(Fault) -> [OCINode] {
    guard case .array(let values) = value else { throw wrong("a list") }
    return values.enumerated().map { OCINode(value: $0.element, place: "\(place)[\($0.offset)]") }
  }

  func string() throws(Fault) -> String {
    guard case .string(let text) = value else { throw wrong("a string") }
    return text
  }

  /// A word for which `meaning` knows something.
  func word<Meaning>(_ expected: String, _ meaning: (String) -> Meaning?) throws(Fault) -> Meaning {
    guard case .string(let text) = value, let result = meaning(text) else { throw wrong(expected) }
    return result
  }

  func words<Meaning>(_ expected: String, _ meaning: (String) -> Meaning?) throws(Fault) -> [Meaning] {
    var words: [Meaning] = []
    for element in try elements() { words.append(try element.word(expected, meaning)) }
    return words
  }

  func integer(in range: ClosedRange<Int64>) throws(Fault) -> Int64 {
    guard case .int(let number) = value, range.contains(number) else {
      throw wrong("a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A number of 64 bits, as the kernel has the arguments of calls.
  func word64() throws(Fault) -> UInt64 {
    switch value {
    case .int(let number) where number >= 0: return UInt64(number)
    case .unsigned(let number): return number
    default: throw wrong("a whole number from 0 to \(UInt64.max)")
    }
  }

  private static func describe(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let text): "“\(name(text))”"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// A text of the file as it may stand in a message: not endless, and nothing that changes a terminal.
  private static func name(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(80) {
      let isPlain = scalar.isASCII ? scalar.value >= 0x20 && scalar.value != 0x7f : scalar.properties.isAlphabetic
      result += isPlain ? String(Character(scalar)) : scalar.escaped(asASCII: true)
    }
    return text.unicodeScalars.count > 80 ? result + "…" : result
  }
}
