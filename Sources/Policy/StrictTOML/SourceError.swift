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

/// An error in a file, with its place: `Policies/x.toml:7:1: unknown key "limt" in [scopes]; …`.
package struct SourceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file as the caller named it.
  package let file: String
  package let position: SourcePosition
  package let message: String
  /// The other errors in it, by place.
  package internal(set) var further: [SourceError] = []

  package init(file: String, position: SourcePosition, message: String) {
    self.file = file
    self.position = position
    self.message = message
  }

  /// This one alone, and each of the others.
  package var all: [SourceError] { [SourceError(file: file, position: position, message: message)] + further }

  package var description: String {
    let sentence = "\(file):\(position.line):\(position.column): \(message)"
    guard !further.isEmpty else { return sentence }
    let lines = further.map { "\($0.position.line)" }.joined(separator: ", ")
    return
      "\(sentence)\(sentence.hasSuffix(".") ? "" : ".") More is wrong in line\(further.count == 1 ? "" : "s") \(lines)."
  }
}

/// Gathers the errors in a file, so that all of them are named at once. For a file that is not a source at all, it gathers only as
/// many as a person reads.
package struct SourceFaults {
  static let most = 100
  private var faults: [SourceError] = []

  package init() {}

  /// - Returns: nil if it is wrong.
  @discardableResult
  package mutating func gather<Value>(_ body: () throws(SourceError) -> Value) -> Value? {
    do { return try body() } catch {
      add(error)
      return nil
    }
  }

  package mutating func add(_ error: SourceError) {
    for fault in error.all where faults.count < Self.most && !faults.contains(fault) { faults.append(fault) }
  }

  /// Throws the gathered errors, by place.
  package func check() throws(SourceError) {
    let sorted = faults.sorted { $0.position < $1.position }
    guard var first = sorted.first else { return }
    first.further = Array(sorted.dropFirst())
    throw first
  }
}
