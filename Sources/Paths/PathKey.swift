/// A path or a name where many are kept: two are equal, and in order, by their bytes.
package struct PathKey: Hashable, Comparable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool { left.text.isSamePath(as: right.text) }

  package static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
