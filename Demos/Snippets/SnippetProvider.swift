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

  override func documentPicker() -> UIDocumentPickerExtensionViewController? { SnippetPicker() }

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

  override func importDocument(
    at fileURL: URL, toParentItemIdentifier parent: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    change(completionHandler) { snippets in
      try free(fileURL.lastPathComponent, snippets)
      guard let text = try? String(contentsOf: fileURL, encoding: .utf8) else {
        throw NSFileProviderError(.cannotSynchronize, "A snippet is text.")
      }
      snippets.append(
        Snippet(
          identifier: UUID().uuidString, name: fileURL.lastPathComponent, text: text, version: 1, modified: Date()))
      return snippets.count - 1
    }
  }

  override func renameItem(
    withIdentifier identifier: NSFileProviderItemIdentifier, toName name: String,
    completionHandler: @escaping @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void
  ) {
    change(completionHandler) { snippets in
      guard let index = snippets.firstIndex(where: { $0.identifier == identifier.rawValue }) else {
        throw NSFileProviderError(.noSuchItem)
      }
      try free(name, snippets)
      snippets[index].name = name
      return index
    }
  }

  override func deleteItem(
    withIdentifier identifier: NSFileProviderItemIdentifier,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    do {
      try SnippetStore.save(SnippetStore.load().filter { $0.identifier != identifier.rawValue })
      completionHandler(nil)
    } catch { completionHandler(error) }
  }

  private func free(_ name: String, _ snippets: [Snippet]) throws {
    guard !snippets.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
      throw NSFileProviderError(.filenameCollision, "There is a snippet with this name.")
    }
  }

  private func change(
    _ completionHandler: @Sendable ((any NSFileProviderItem)?, (any Error)?) -> Void,
    _ body: (inout [Snippet]) throws -> Int
  ) {
    do {
      var snippets = SnippetStore.load()
      let index = try body(&snippets)
      try SnippetStore.save(snippets)
      completionHandler(SnippetItem(snippet: snippets[index]), nil)
    } catch { completionHandler(nil, error) }
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
