/// The test itself could not go on: a sentence, with what had been seen until then.
package struct HarnessError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
