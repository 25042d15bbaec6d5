package import Folders
internal import Policy
package import Wire

/// Whether an app may be given what it picks.
extension LauncherInterface.GrantRules {
  /// Whether the picker may be shown at all, for what the app asks (`PCK-1`, `PCK-10`).
  package func refusal(of call: PickerInterface.PickCall) -> Refusal? {
    if !modes.contains(call.mode.rawValue) {
      if !missingSelections.isEmpty {
        let isAlone = missingSelections.count == 1
        return Refusal(
          rule: "PCK-1",
          reason: "the app asks for Apple's sandbox \(isAlone ? "without" : "with neither") "
            + missingSelections.joined(separator: " nor "))
      }
      let modes = modes.isEmpty ? "none" : modes.joined(separator: ", ")
      return Refusal(
        rule: "PCK-1", reason: "the app's policy does not allow the picker to \(call.mode) (it allows: \(modes))")
    }
    if call.kind == .folder, !folders {
      return Refusal(rule: "PCK-10", reason: "the app's policy does not allow whole folders")
    }
    return nil
  }

  /// Whether a document may be given, by its kind and its name now (`PCK-7`, `PCK-10`).
  package func refusal(of kind: Folders.DocumentKind, named name: String) -> Refusal? {
    if kind == .folder {
      return folders ? nil : Refusal(rule: "PCK-10", reason: "the app's policy does not allow whole folders")
    }
    guard let types, !PickedTypes.only(types).allows(name) else { return nil }
    let allowed = types.isEmpty ? "none" : types.joined(separator: ", ")
    return Refusal(
      rule: "PCK-7", reason: "the app's policy does not allow documents of this type (it allows: \(allowed))")
  }
}
