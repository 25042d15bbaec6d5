/// Why there was no picker, or why a script's answer was not one. Reads as a sentence.
package struct PickerError: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String
  package init(_ sentence: String) { description = sentence }
}
