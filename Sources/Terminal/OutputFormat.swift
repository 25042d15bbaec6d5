/// How a command that lists writes what it lists: for people, or for programs (one JSON object a line).
package enum OutputFormat: String, CaseIterable, Sendable {
  case table
  case json
}
