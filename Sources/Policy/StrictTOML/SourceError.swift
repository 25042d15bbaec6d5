/// A place in a text file. Lines and columns count from 1; a column is one Unicode scalar, as editors show it
/// for text without tabs.
package struct SourcePosition: Equatable, Hashable, Comparable, Sendable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// What is wrong with a file, and where: `Policies/x.toml:7:1: unknown key "limt" in [scopes]; …`.
package struct SourceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file as the caller named it.
  package let file: String
  package let position: SourcePosition
  package let message: String

  package init(file: String, position: SourcePosition, message: String) {
    self.file = file
    self.position = position
    self.message = message
  }

  package var description: String { "\(file):\(position.line):\(position.column): \(message)" }
}
