internal import Kernel
internal import Policy

/// Reads TOML into nodes. All that the scenario language takes of the policy room is its TOML with places.
package enum TOMLFile {
  /// - Throws: ``ScenarioError`` with the place of the text that is not TOML.
  package static func parse(_ text: String, file: String) throws(ScenarioError) -> Node {
    do {
      return node(try StrictTOML.parse(text, file: file).node)
    } catch {
      throw ScenarioError(file: file, place: Place(error.position), message: error.message)
    }
  }

  /// Reads a file of at most 4 MiB.
  ///
  /// - Throws: ``ScenarioError``.
  package static func read(path: String) throws(ScenarioError) -> Node {
    let bytes: [UInt8]
    do throws(KernelError) { bytes = try Descriptor.content(ofFile: path, limit: 1 << 22) } catch {
      throw ScenarioError(file: path, place: nil, message: "cannot be read: \(error.fileFault)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ScenarioError(file: path, place: nil, message: "cannot be read: it is not readable UTF-8 text")
    }
    return try parse(text, file: path)
  }

  private static func node(_ node: TOMLNode, at key: SourcePosition? = nil) -> Node {
    let value: Node.Value =
      switch node.value {
      case .string(let text): .string(text)
      case .integer(let number): .integer(number)
      case .float(let number): .float(number)
      case .boolean(let flag): .bool(flag)
      case .date: .other("a date or time")
      case .array(let elements): .array(elements.map { self.node($0) })
      case .table(let entries):
        .table(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, self.node($0.node, at: $0.position)) }))
      }
    // An error in the value of a key is reported at the key: that is where a reader looks.
    return Node(value: value, place: Place(key ?? node.position))
  }
}

extension Place {
  fileprivate init(_ position: SourcePosition) { self.init(line: position.line, column: position.column) }
}
