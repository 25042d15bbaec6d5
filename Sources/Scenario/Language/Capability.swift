/// A part of scoped access that a system may have or lack. A scenario that needs one that the system lacks is not applicable.
package enum Capability: String, Equatable, Hashable, Sendable, CaseIterable {
  // Parts that other systems have as well: the words of docs/reference/adapters.md.
  case folders
  case readOnly = "read-only"
  case later
  case revoke
  case scopes
  case container
  case processes
  // Parts of the model that only Ambit has, so far.
  case picker
  case bookmarks
  case references
  case transfer
  case restoration
  case coordination
  case documents
  case queries
  case suspension
  case policies
  case log
  case commands

  /// The part in words, after “has no”.
  package var words: String {
    switch self {
    case .folders: "grants of whole folders"
    case .readOnly: "grants for reading alone"
    case .later: "grants to an app that runs"
    case .revoke: "way to take a grant back while the app runs"
    case .scopes: "start and stop"
    case .container: "folder of the app's own"
    case .processes: "programs that an app starts"
    case .picker: "picker"
    case .bookmarks: "bookmarks"
    case .references: "document references"
    case .transfer: "way to pass a right on"
    case .restoration: "state restoration"
    case .coordination: "file coordination"
    case .documents: "a document class"
    case .queries: "metadata queries"
    case .suspension: "way to suspend an app"
    case .policies: "policies"
    case .log: "log of decisions"
    case .commands: "`ambit` command"
    }
  }
}
