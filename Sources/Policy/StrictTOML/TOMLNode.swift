internal import AppModel
internal import TOMLKit

/// A TOML value with the place where it stands.
package struct TOMLNode: Equatable, Sendable {
  package indirect enum Value: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time or both, as text.
    case date(String)
    case array([TOMLNode])
    case table([TOMLEntry])
  }

  package let value: Value
  package let position: SourcePosition

  /// The value's kind, with its article: `a string ("vi")`.
  package var description: String {
    switch value {
    case .string(let text): "a string (\(text.quoted))"
    case .integer(let number): "an integer (\(number))"
    case .float(let number): "a number with a fraction (\(number))"
    case .boolean(let flag): "a boolean (\(flag))"
    case .date: "a date or time"
    case .array: "an array"
    case .table: "a table"
    }
  }
}

/// A key of a table, with its value.
package struct TOMLEntry: Equatable, Sendable {
  package let key: String
  package let position: SourcePosition
  package let node: TOMLNode
}

/// One step of the way to a table, as messages write it.
package struct TOMLPathElement: Equatable, Sendable, CustomStringConvertible {
  package let key: String
  /// The number, from 1, of a member of an array of tables.
  package let number: Int?

  /// `scopes`, `step[3]`, `"a key"`.
  package var description: String {
    let isBare =
      !key.isEmpty
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
      }
    return (isBare ? key : key.quoted) + (number.map { "[\($0)]" } ?? "")
  }
}

/// Joins the parser's values with the scanner's positions.
struct TOMLDocument {
  let scanner: TOMLScanner

  func table(_ table: TOMLTable, at path: [PathStep], from position: SourcePosition) -> TOMLNode {
    var entries: [TOMLEntry] = []
    for (key, value) in table {
      let path = path + [.key(key)]
      let keyPosition = scanner.keys[path] ?? position
      entries.append(TOMLEntry(key: key, position: keyPosition, node: node(value, at: path, from: keyPosition)))
    }
    // The parser sorts by name. People read from the top.
    entries.sort { ($0.position, $0.key) < ($1.position, $1.key) }
    return TOMLNode(value: .table(entries), position: position)
  }

  private func node(
    _ value: any TOMLValueConvertible, at path: [PathStep], from keyPosition: SourcePosition
  ) -> TOMLNode {
    let position = scanner.values[path] ?? keyPosition
    if let members = value.table { return table(members, at: path, from: position) }
    let result: TOMLNode.Value
    if let elements = value.array {
      var nodes: [TOMLNode] = []
      for (index, element) in elements.enumerated() {
        let path = path + [.index(index)]
        nodes.append(node(element, at: path, from: scanner.keys[path] ?? position))
      }
      result = .array(nodes)
    } else if let text = value.string {
      result = .string(text)
    } else if let number = value.int {
      result = .integer(number)
    } else if let number = value.double {
      result = .float(number)
    } else if let flag = value.bool {
      result = .boolean(flag)
    } else {
      result = .date(value.debugDescription)
    }
    return TOMLNode(value: result, position: position)
  }
}
