/// The battery could not be run: a sentence.
package struct BatteryError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
