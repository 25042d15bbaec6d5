import AppModel
import Testing

@testable import Policy

@Suite struct `An app that asks for Apple's sandbox is held to what that lets it have` {
  private static func capabilities(
    _ sandbox: AppSandbox?, _ change: (inout PolicySettings) -> Void = { _ in }
  ) -> Capabilities {
    var settings = PolicySettings.closed
    change(&settings)
    let policy = Policy(name: "p", file: "p.toml", description: nil, lineage: [], settings: settings)
    return Capabilities(policy: policy, entitlements: Entitlements(sandbox: sandbox))
  }

  @Test func `one that does not ask for it has what the policy gives`() {
    let capabilities = Self.capabilities(nil)
    #expect(capabilities.access == .readWrite && capabilities.picker.modes == PickerMode.allCases)
    #expect(capabilities.bookmarks == BookmarkRules() && capabilities.references)
  }

  @Test(arguments: [
    (AppSandbox.Selection.readWrite, GrantedAccess.readWrite, PickerMode.allCases),
    (.readOnly, .readOnly, [.open, .import]), (.nothing, .readOnly, []),
  ])
  func `what its user selects is read, written, or nothing`(
    selection: AppSandbox.Selection, access: GrantedAccess, modes: [PickerMode]
  ) {
    let capabilities = Self.capabilities(AppSandbox(selection: selection))
    #expect(capabilities.access == access)
    #expect(capabilities.picker.modes == modes)
  }

  @Test(arguments: [
    (false, false, false, false, false), (true, false, true, false, true), (false, true, true, true, false),
    (true, true, true, true, true),
  ])
  func `it keeps bookmarks of the kinds that it asks to keep, and references with those of its own`(
    app: Bool, document: Bool, create: Bool, documentScoped: Bool, references: Bool
  ) {
    let capabilities = Self.capabilities(
      AppSandbox(selection: .readWrite, appBookmarks: app, documentBookmarks: document))
    #expect(capabilities.bookmarks.create == create)
    #expect(capabilities.bookmarks.documentScoped == documentScoped)
    #expect(capabilities.references == references)
  }

  @Test func `nothing that the policy forbids is opened by it`() {
    for selection in AppSandbox.Selection.allCases {
      let all = AppSandbox(selection: selection, appBookmarks: true, documentBookmarks: true)
      let capabilities = Self.capabilities(all) { settings in
        settings.access = .readOnly
        settings.picker.modes = []
        settings.bookmarks.create = false
        settings.bookmarks.documentScoped = false
        settings.references = false
      }
      #expect(capabilities.access == .readOnly && capabilities.picker.modes.isEmpty)
      #expect(!capabilities.bookmarks.create && !capabilities.bookmarks.documentScoped && !capabilities.references)
    }
  }
}
