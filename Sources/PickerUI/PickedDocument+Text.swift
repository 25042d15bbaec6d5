internal import UserFiles

/// Harmless texts of a document, for a face that draws by itself.
extension PickedDocument {
  package var label: String { DisplayText.quoted(name) }
  package var shownPath: String { DisplayText(path).plain }
  package var tagNames: [String] { descriptor.fileTags.tags.map { DisplayText($0.name).plain } }
}

extension FileActReply {
  /// Its sentence, harmless.
  package var words: String { DisplayText(sentence).plain }
}

extension PickerRequest.Action {
  package var label: String { DisplayText(title, limit: 40).plain }
}

extension PickerRequest {
  /// Whether a document is of the types that an action takes, and may be chosen at all.
  package func takes(_ document: PickedDocument, for action: Action) -> Bool {
    ChoiceRule(self).refusal(of: document) == nil && action.takes(.entry(FileName(document.name)))
  }
}
