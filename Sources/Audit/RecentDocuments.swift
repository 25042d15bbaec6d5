package import Foundation
internal import Paths

/// The documents that were used last, as the log tells it (`THM-7`).
package struct RecentDocuments: Sendable {
  /// How a document came to be among them.
  package enum Use: String, Sendable, CaseIterable {
    case opened, imported, modified, shared
  }

  package struct Item: Equatable, Sendable {
    /// Where it was when it was used last, on the host.
    package var path: String
    /// Of its last use.
    package var time: Date
    /// The app of its last use.
    package var app: String?
    package var uses: Set<Use>

    package init(path: String, time: Date, app: String?, uses: Set<Use>) {
      (self.path, self.time, self.app, self.uses) = (path, time, app, uses)
    }
  }

  /// The last one first.
  package private(set) var items: [Item] = []
  package static let most = 200
  /// Events of the log that are enough to begin with.
  package static let enoughEvents = 2_000

  package init() {}

  package init(_ events: some Sequence<AuditEvent>) { for event in events { take(event) } }

  package mutating func take(_ event: AuditEvent) {
    guard event.result == .allowed, let document = event.document else { return }
    guard let use = Self.use(of: event) else { return }
    var item = Item(path: document.path, time: event.time, app: event.app, uses: [use])
    if let index = items.firstIndex(where: { $0.path.isSamePath(as: document.path) }) {
      item.uses.formUnion(items.remove(at: index).uses)
    }
    items.insert(item, at: 0)
    if items.count > Self.most { items.removeLast() }
  }

  /// - Returns: `nil` for what is no use of a document by a person: folders, and what is only about rights.
  private static func use(of event: AuditEvent) -> Use? {
    if event.detail[AuditEvent.Fact.documentKind] == "folder" { return nil }
    switch event.kind {
    case .pick:
      switch event.detail[AuditEvent.Fact.mode] {
      case "import": return .imported
      // The folder was chosen, and no document.
      case "export", "move": return nil
      default: return .opened
      }
    case .start, .bookmarkResolved, .referenceResolved: return .opened
    case .grant: return event.how == "passed" ? .shared : .opened
    case .passed: return .shared
    case .replaced: return .modified
    case .version: return event.how == "kept" ? .modified : nil
    default: return nil
    }
  }
}
