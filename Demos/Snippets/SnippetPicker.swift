import AmbitKit
import Foundation

/// The snippet picker of the 2014 talk: rows to choose from, and a word to look for.
final class SnippetPicker: UIDocumentPickerExtensionViewController, @unchecked Sendable {
  override func prepareForPresentation(in mode: UIDocumentPickerMode) { show(SnippetStore.load(), word: "") }

  override func submit(_ answers: FPUIFormAnswers) {
    let word = answers.values["word"] ?? ""
    guard answers.button == "choose" else {
      return show(
        SnippetStore.load().filter { word.isEmpty || $0.text.localizedCaseInsensitiveContains(word) }, word: word)
    }
    let chosen = answers.rows("snippet")
    guard !chosen.isEmpty else { return refuse(NSFileProviderError(.noSuchItem, "Choose a snippet first.")) }
    dismissGrantingAccess(
      to: chosen.compactMap { provider?.urlForItem(withPersistentIdentifier: NSFileProviderItemIdentifier($0)) })
  }

  private func show(_ snippets: [Snippet], word: String) {
    let rows = snippets.map { snippet in
      FPUIForm.Field.Row(
        snippet.identifier, snippet.name, detail: snippet.text.split(separator: "\n").first.map(String.init))
    }
    present(
      FPUIForm(
        title: documentPickerMode == .open ? "Snippets to edit" : "Snippets to copy",
        fields: [
          .init("snippet", "Snippets", .rows(rows, several: allowsMultipleSelection)),
          .init("word", "Only those with the word", value: word),
        ], buttons: [.init("choose", "Choose"), .init("search", "Search")]))
  }
}
