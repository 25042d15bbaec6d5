/// A value of a TOML file together with where it stands. All that the scenario reader knows of TOML.
package struct Node: Equatable, Sendable {
  package enum Value: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case bool(Bool)
    /// Dates and times, which no scenario uses.
    case other(String)
    case array([Node])
    case table([String: Node])
  }

  package var value: Value
  package var place: Place

  /// The kind of value, as a message names it.
  package var kind: String {
    switch value {
    case .string: "a string"
    case .integer: "a whole number"
    case .float: "a number"
    case .bool: "true or false"
    case .other(let kind): kind
    case .array: "an array"
    case .table: "a table"
    }
  }
}
