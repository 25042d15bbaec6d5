/// A JSON document, or a part of one (RFC 8259).
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number written without fraction and exponent that fits.
  case int(Int64)
  /// One that needs all 64 bits. No message has such; files for the kernel may.
  case unsigned(UInt64)
  /// Any other number; always finite.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .int(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }

  package init(_ value: Int) { self = .int(Int64(value)) }
  package init(_ value: String) { self = .string(value) }
  package init(_ value: Bool) { self = .bool(value) }
}

/// The fields of a JSON object, in the order in which they were written. Names occur once.
///
/// An array and not a dictionary: messages have a handful of fields, and order makes the sent bytes reproducible.
package struct JSONObject: Sendable {
  package struct Field: Sendable, Equatable {
    package let name: String
    package var value: JSONValue
  }

  package private(set) var fields: [Field] = []

  package init() {}

  /// - Parameter fields: names occur once; the parser has seen to it.
  init(unique fields: [Field]) { self.fields = fields }

  package var isEmpty: Bool { fields.isEmpty }

  private func index(of name: String) -> Int? {
    // By a span: a copy of a field would count its name and its value.
    let fields = fields.span
    for index in fields.indices where fields[index].name == name { return index }
    return nil
  }

  /// The value of a field; nil when there is none. Assigning nil removes the field.
  package subscript(name: String) -> JSONValue? {
    get { index(of: name).map { fields[$0].value } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let value?): fields[index].value = value
      case (let index?, nil): fields.remove(at: index)
      case (nil, let value?): fields.append(Field(name: name, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: Equatable {
  /// Objects are equal in any order of their fields.
  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    if left.fields == right.fields { return true }
    guard left.fields.count == right.fields.count else { return false }
    let other = Dictionary(uniqueKeysWithValues: right.fields.map { ($0.name, $0.value) })
    return left.fields.allSatisfy { other[$0.name] == $0.value }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// A literal that names a field twice keeps the last value.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}
