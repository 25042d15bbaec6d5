// Words that the interfaces leave open, as strings: there may be more of them later.

extension PickerInterface {
  /// The meaning of a choice. This version knows the original, not a copy.
  package enum Mode: String, CaseIterable, Sendable { case open, `import`, export, move }
}

extension BookmarksInterface {
  /// The place of a document, if that has to be said.
  package enum Location: String, CaseIterable, Sendable { case trash }
}
