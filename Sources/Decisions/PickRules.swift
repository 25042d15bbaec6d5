internal import Policy

/// Whether an app may be given what it picks.
extension DocumentRules {
  /// Whether the picker may be shown at all (`PCK-1`, `PCK-10`).
  ///
  /// - Parameters:
  ///   - mode: of the picker, by name.
  ///   - folder: the app asks for a whole folder.
  package func refusal(ofAsking mode: String, folder: Bool) -> Refusal? {
    guard modes.contains(mode) else { return refusal(ofMode: mode) }
    return folder && !folders ? noFolders : nil
  }

  private func refusal(ofMode mode: String) -> Refusal {
    guard missingSelections.isEmpty else {
      let isAlone = missingSelections.count == 1
      return Refusal(
        field: "picker.modes", rule: "PCK-1",
        reason: "the app asks for Apple's sandbox \(isAlone ? "without" : "with neither") "
          + missingSelections.joined(separator: " nor "))
    }
    let allowed = modes.isEmpty ? "none" : modes.joined(separator: ", ")
    return Refusal(
      field: "picker.modes", rule: "PCK-1",
      reason: "the app's policy does not allow the picker to \(mode) (it allows: \(allowed))")
  }

  private var noFolders: Refusal {
    Refusal(field: "picker.folders", rule: "PCK-10", reason: "the app's policy does not allow whole folders")
  }

  /// Whether a document may be given (`PCK-7`, `PCK-10`).
  ///
  /// - Parameters:
  ///   - folder: it is a folder, and no package.
  ///   - name: that it has now.
  package func refusal(ofFolder folder: Bool, named name: String) -> Refusal? {
    if folder { return folders ? nil : noFolders }
    guard let types, !PickedTypes.only(types).allows(name) else { return nil }
    let allowed = types.isEmpty ? "none" : types.joined(separator: ", ")
    return Refusal(
      field: "picker.types", rule: "PCK-7",
      reason: "the app's policy does not allow documents of this type (it allows: \(allowed))")
  }
}
