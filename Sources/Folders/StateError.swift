/// Something that could not be kept, as a sentence that names the file and the remedy.
package struct StateError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
