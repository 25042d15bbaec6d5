internal import Foundation

/// The JSON Schema of a policy file (draft 2020-12), as editors of TOML use it.
///
/// It states the form and the range of a value. The decoder checks that a path may be shown, and that a policy has the name.
package enum PolicySchema {
  package static let text: String = {
    var tables: [String: Any] = [:]
    for table in PolicyField.tables {
      let fields = PolicyField.all.filter { $0.table == table }
      tables[table] = object(fields)
    }
    var schema = object(PolicyField.all.filter { $0.table == nil })
    schema["properties"] = (schema["properties"] as? [String: Any] ?? [:]).merging(tables) { $1 }
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A policy of Ambit's"
    schema["description"] = "What apps may do. docs/reference/policy.md says it in words."
    let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? JSONSerialization.data(withJSONObject: schema, options: options) else { return "" }
    return String(decoding: data, as: UTF8.self) + "\n"
  }()

  private static func object(_ fields: [PolicyField]) -> [String: Any] {
    var properties: [String: Any] = [:]
    for field in fields { properties[field.key] = property(field) }
    return ["type": "object", "additionalProperties": false, "properties": properties]
  }

  private static func property(_ field: PolicyField) -> [String: Any] {
    let forms = field.forms.map { schema($0) }
    var property = forms.count == 1 ? forms[0] : ["anyOf": forms]
    property["description"] = field.meaning
    if let value = PolicyReference.closed(field), let json = json(value) { property["default"] = json }
    return property
  }

  /// A value as TOML has it, as JSON has it.
  private static func json(_ value: String) -> Any? {
    guard let node = try? StrictTOML.parse("value = \(value)", file: "").value("value") else { return nil }
    return json(node)
  }

  private static func json(_ node: TOMLNode) -> Any? {
    switch node.value {
    case .string(let text): text
    case .integer(let number): number
    case .float(let number): number
    case .boolean(let flag): flag
    case .date: nil
    case .array(let nodes): nodes.compactMap(json)
    case .table(let entries):
      [String: Any](entries.compactMap { entry in json(entry.node).map { (entry.key, $0) } }) { $1 }
    }
  }

  private static func schema(_ form: PolicyForm) -> [String: Any] {
    switch form {
    case .boolean: return ["type": "boolean"]
    case .integer(let range):
      var schema: [String: Any] = ["type": "integer", "minimum": range.lowerBound]
      if range.upperBound != Int.max { schema["maximum"] = range.upperBound }
      return schema
    case .number(let range): return ["type": "number", "minimum": range.lowerBound, "maximum": range.upperBound]
    case .words(let words): return ["enum": words.map(\.name)]
    case .text(_, let pattern):
      var schema: [String: Any] = ["type": "string"]
      if let pattern { schema["pattern"] = pattern }
      return schema
    case .list(let of):
      let forms: [[String: Any]] = of.map { schema($0) }
      let items: [String: Any] = forms.count == 1 ? forms[0] : ["anyOf": forms]
      return ["type": "array", "uniqueItems": true, "items": items]
    case .table(let of, let keys):
      let names: [String: Any] = ["pattern": keys]
      return ["type": "object", "propertyNames": names, "additionalProperties": schema(of)]
    }
  }
}
