import AmbitKit
import Foundation

/// A line of text that the user wants to have at hand.
struct Snippet: Codable {
  var identifier: String
  var name: String
  var text: String
  var version: Int
  var modified: Date
}

/// The snippets as they are at the provider: a file in the extension's own container, which stands for a server.
struct SnippetStore {
  private static let file = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("snippets.json")

  static func load() -> [Snippet] {
    guard let data = try? Data(contentsOf: file), let kept = try? JSONDecoder().decode([Snippet].self, from: data)
    else { return first }
    return kept
  }

  static func save(_ snippets: [Snippet]) throws {
    try JSONEncoder().encode(snippets).write(to: file, options: .atomic)
  }

  private static let first = [
    Snippet(identifier: "greeting", name: "Greeting.txt", text: "Dear friend,\n", version: 1, modified: date),
    Snippet(identifier: "closing", name: "Closing.txt", text: "With kind regards\n", version: 1, modified: date),
    Snippet(identifier: "address", name: "Address.txt", text: "12 Harbour Road\n", version: 1, modified: date),
  ]
  private static let date = Date(timeIntervalSince1970: 1_400_000_000)
}

/// A snippet as a document.
struct SnippetItem: NSFileProviderItem {
  let snippet: Snippet
  var itemIdentifier: NSFileProviderItemIdentifier { .init(snippet.identifier) }
  var parentItemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var filename: String { snippet.name }
  var contentType: UTType { .plainText }
  var capabilities: NSFileProviderItemCapabilities {
    [.allowsReading, .allowsWriting, .allowsRenaming, .allowsDeleting, .allowsEvicting]
  }
  var documentSize: NSNumber? { NSNumber(value: snippet.text.utf8.count) }
  var contentModificationDate: Date? { snippet.modified }
  var versionIdentifier: Data? { Data("\(snippet.version)".utf8) }
}
