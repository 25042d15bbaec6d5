/// The form of a listing command's output: for people, or for programs (one JSON object a line).
package enum OutputFormat: String, CaseIterable, Sendable {
  case table
  case json
}
