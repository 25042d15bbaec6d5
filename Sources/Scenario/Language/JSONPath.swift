package import Wire

extension JSONValue {
  /// nil: the text is not JSON.
  package init?(line text: String) {
    guard let value = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
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
  package var plainText: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .int(let value): return String(value)
    case .unsigned(let value): return String(value)
    case .double(let value): return Int64(exactly: value).map(String.init) ?? String(value)
    case .string(let value): return value
    case .array(let elements): return "[\(elements.map(\.plainText).joined(separator: ", "))]"
    case .object(let members):
      let fields = members.fields.sorted { $0.name < $1.name }
      return "{\(fields.map { "\($0.name): \($0.value.plainText)" }.joined(separator: ", "))}"
    }
  }
}
