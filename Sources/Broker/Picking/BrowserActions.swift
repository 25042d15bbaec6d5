internal import Audit
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// An app's own actions in its browser (`PCK-33`).
extension PickService {
  private static let mostActions = 16
  private static let longestIdentifier = 128
  private static let longestTitle = 80

  /// Refuses a browser that cannot be shown, before the user is asked.
  static func check(_ browser: PickerInterface.Browser?) throws {
    guard let browser else { return }
    let actions = browser.actions ?? []
    guard actions.count <= mostActions, Set(actions.map(\.identifier)).count == actions.count,
      actions.allSatisfy({ action in
        (1...longestIdentifier).contains(action.identifier.utf8.count)
          && (1...longestTitle).contains(action.title.utf8.count) && (action.types?.count ?? 0) <= 256
          && (action.types ?? []).allSatisfy { $0.isExtension }
      })
    else { throw ErrorReply.invalidParameter("browser") }
    guard browser.tint.map({ $0.utf8.count == 7 && $0.hasPrefix("#") }) ?? true else {
      throw ErrorReply.invalidParameter("tint")
    }
  }

  /// The user's side has shown only actions that fit; its answer is checked all the same.
  ///
  /// - Returns: `nil`: the choice goes on as a pick, which judges the documents.
  func refusal(
    of identifier: String, _ chosen: Result<[Chosen], any Error>, _ pick: PendingPick, _ instance: Instance
  ) throws -> String? {
    let found = (try? chosen.get()) ?? []
    let reason: String
    if let action = pick.call.browser?.actions?.first(where: { $0.identifier == identifier }) {
      if action.documents == found.isEmpty {
        reason = "the action \(identifier) \(found.isEmpty ? "needs a document" : "takes no documents")"
      } else if found.count > 1, !action.multiple {
        reason = "the action \(identifier) takes one document, and \(found.count) came"
      } else if let types = action.types,
        let other = found.compactMap(\.document.path).first(where: { path in
          !path.lastPathName.hasExtension(in: types.map { $0.lowercased() })
        })
      {
        reason = "\(other) is of a type that the action \(identifier) does not take"
      } else {
        return nil
      }
    } else {
      reason = "the app has no action \(identifier)"
    }
    try decideRefusal(reason, instance)
    return reason
  }
}
