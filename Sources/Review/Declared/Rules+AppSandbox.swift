internal import AppModel

/// The abilities that an app loses if it asks for Apple's sandbox without the matching entitlements (`Capabilities.hold(to:)`).
extension Rules {
  func held(_ entry: Entry) -> Entry {
    guard let app, let sandbox = app.entitlements.sandbox, entry.extent.isPossible else { return entry }
    var entry = entry
    guard let missing = Self.missing(for: entry.ability, in: sandbox) else {
      if entry.ability.verb == .makeBookmarks, !sandbox.appBookmarks {
        entry.manner = "only such as go with a document"
        entry.decisions += [app.asks(by: EntitlementKey.sandbox), .notAsked(keys: [AppSandbox.appScope])]
      }
      if entry.ability.verb == .implicitBookmarks, !sandbox.appBookmarks, !sandbox.documentBookmarks {
        // Opening one takes none of these.
        entry.manner = Self.opensOnly
        entry.decisions += [app.asks(by: EntitlementKey.sandbox), .notAsked(keys: sandbox.missingBookmarks)]
      }
      return entry
    }
    entry.extent = .no
    entry.manner = nil
    // Only an app that asks for that sandbox is held to its other entitlements.
    entry.decisions += [
      app.asks(by: EntitlementKey.sandbox), .notAsked(keys: missing.map { "com.apple.security.files.\($0)" }),
    ]
    return entry
  }

  static let opensOnly = "only open those of other apps"

  /// The entitlements of which one would have given it; `nil`: it has it.
  private static func missing(for ability: Ability, in sandbox: AppSandbox) -> [String]? {
    let selection = ["user-selected.read-only", "user-selected.read-write"]
    let bookmarks = ["bookmarks.app-scope", "bookmarks.document-scope"]
    switch ability.verb {
    case .pickDocuments where sandbox.selection == .nothing: return selection
    case .changePicked where sandbox.selection != .readWrite: return [selection[1]]
    case .keepReferences where !sandbox.appBookmarks: return [bookmarks[0]]
    case .makeBookmarks where !sandbox.appBookmarks && !sandbox.documentBookmarks: return bookmarks
    case .documentBookmarks where !sandbox.documentBookmarks: return [bookmarks[1]]
    default: return nil
    }
  }
}
