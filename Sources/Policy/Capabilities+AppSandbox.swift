package import AppModel

extension Capabilities {
  /// Takes away the rights that Apple's sandbox does not give an app with these entitlements. The policy's own prohibitions stay.
  package mutating func hold(to sandbox: AppSandbox) {
    let allowed = picker.modes
    switch sandbox.selection {
    case .readWrite: break
    case .readOnly:
      access = .readOnly
      // These two write where the user says.
      picker.modes.removeAll { [.export, .move].contains($0) }
    case .nothing:
      access = .readOnly
      picker.modes = []
    }
    if picker.modes != allowed { missingSelections = sandbox.missingSelections }
    missingBookmarks = sandbox.missingBookmarks
    if !sandbox.documentBookmarks { bookmarks.documentScoped = false }
    if !sandbox.appBookmarks {
      // A reference is a bookmark that the broker keeps for it.
      references = false
      if !sandbox.documentBookmarks { bookmarks.create = false }
    }
  }
}
