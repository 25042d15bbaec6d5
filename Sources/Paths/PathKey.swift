/// A path or a name where many are kept: two are equal, and in order, by their bytes.
package struct PathKey: Hashable, Comparable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool {
    // Most of a look-up's time would go to the views of the two texts.
    var (left, right) = (left.text, right.text)
    guard left.utf8.count == right.utf8.count else { return false }
    return left.withUTF8 { left in right.withUTF8 { right in unsafe left.elementsEqual(right) } }
  }

  package static func < (left: Self, right: Self) -> Bool {
    var (left, right) = (left.text, right.text)
    return left.withUTF8 { left in right.withUTF8 { right in unsafe left.lexicographicallyPrecedes(right) } }
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
