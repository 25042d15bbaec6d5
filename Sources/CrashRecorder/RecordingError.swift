/// Why a program could not be recorded, as a sentence that says what to do.
package struct RecordingError: Error, CustomStringConvertible, Equatable {
  package let description: String
  package init(_ description: String) { self.description = description }
}
