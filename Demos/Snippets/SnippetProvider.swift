import AmbitKit
import Foundation

/// Offers snippets as documents, as the snippet provider of the 2014 talk does (`S14:L529-547`).
@main final class SnippetProvider: NSFileProviderExtension {
  private func snippet(_ identifier: NSFileProviderItemIdentifier?) throws -> Snippet {
    guard let snippet = SnippetStore.load().first(where: { $0.identifier == identifier?.rawValue }) else {
      throw NSFileProviderError(.noSuchItem, "There is no such snippet.")
    }
    return snippet
  }

  override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    SnippetItem(snippet: try snippet(identifier))
  }

  override func enumerator(for container: NSFileProviderItemIdentifier) throws -> any NSFileProviderEnumerator {
    guard container == .rootContainer else { throw NSFileProviderError(.noSuchItem, "There are no folders.") }
    return SnippetEnumerator()
  }

  override func startProvidingItem(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    do {
      try snippet(persistentIdentifierForItem(at: url)).text.write(to: url, atomically: true, encoding: .utf8)
      completionHandler(nil)
    } catch { completionHandler(error) }
  }

  override func itemChanged(at url: URL) {
    var snippets = SnippetStore.load()
    guard let identifier = persistentIdentifierForItem(at: url),
      let index = snippets.firstIndex(where: { $0.identifier == identifier.rawValue }),
      let text = try? String(contentsOf: url, encoding: .utf8)
    else { return }
    snippets[index].text = text
    snippets[index].version += 1
    snippets[index].modified = Date()
    try? SnippetStore.save(snippets)
  }
}

/// All snippets on one page.
final class SnippetEnumerator: NSFileProviderEnumerator {
  func invalidate() {}

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    observer.didEnumerate(SnippetStore.load().map(SnippetItem.init))
    observer.finishEnumerating(upTo: nil)
  }
}
