import Foundation

/// A JSON value, as far as expectations look into one.
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// nil: the text is not JSON.
  package init?(parsing text: String) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
    self = value
  }

  /// The value at a dotted path: names of an object's keys and positions in an array, from 0. A key that has dots of its own is
  /// found by its whole name first.
  package subscript(path path: String) -> JSONValue? {
    if case .object(let members) = self, let value = members[path] { return value }
    guard let dot = path.firstIndex(of: ".") else { return self[step: path] }
    return self[step: String(path[..<dot])]?[path: String(path[path.index(after: dot)...])]
  }

  private subscript(step step: String) -> JSONValue? {
    switch self {
    case .object(let members): return members[step]
    case .array(let elements):
      guard let index = Int(step), elements.indices.contains(index) else { return nil }
      return elements[index]
    default: return nil
    }
  }

  /// The value as expectations write it: text without quotes, numbers without a needless `.0`.
  package var text: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let value): return Int64(exactly: value).map(String.init) ?? String(value)
    case .string(let value): return value
    case .array(let elements): return "[\(elements.map(\.text).joined(separator: ", "))]"
    case .object(let members):
      return "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }.joined(separator: ", "))}"
    }
  }
}

extension JSONValue: Decodable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }
}
