import AppModel
import Policy
import Testing

@testable import Review

@Suite struct `What is said of an app that asks for Apple's sandbox` {
  private static func extents(_ sandbox: AppSandbox?) -> [Ability.Verb: Extent] {
    let explanation = Explanation(PolicySettings.closed, app: .test(Entitlements(sandbox: sandbox)))
    let verbs: [Ability.Verb] = [.changePicked, .keepReferences, .makeBookmarks, .documentBookmarks]
    var extents = Dictionary(uniqueKeysWithValues: verbs.map { ($0, explanation.extent(of: Ability($0))) })
    extents[.pickDocuments] = explanation.extent(of: Ability(.pickDocuments, PickerMode.open.rawValue))
    return extents
  }

  /// The same by what a launch carries out.
  private static func carried(_ sandbox: AppSandbox?) -> [Ability.Verb: Extent] {
    let policy = Policy(name: "p", file: "p.toml", description: nil, lineage: [], settings: .closed)
    let capabilities = Capabilities(policy: policy, entitlements: Entitlements(sandbox: sandbox))
    return [
      .pickDocuments: Extent(capabilities.picker.modes.contains(.open)),
      .changePicked: Extent(capabilities.access == .readWrite), .keepReferences: Extent(capabilities.references),
      .makeBookmarks: Extent(capabilities.bookmarks.create),
      .documentBookmarks: Extent(capabilities.bookmarks.documentScoped),
    ]
  }

  @Test func `it is what a launch carries out, whatever its entitlements are`() {
    var different: Set<[Ability.Verb: Extent]> = []
    for selection in AppSandbox.Selection.allCases {
      for (app, document) in [(false, false), (false, true), (true, false), (true, true)] {
        let sandbox = AppSandbox(selection: selection, appBookmarks: app, documentBookmarks: document)
        #expect(Self.extents(sandbox) == Self.carried(sandbox), "\(sandbox)")
        different.insert(Self.extents(sandbox))
      }
    }
    #expect(different.count == 12)
    #expect(Self.extents(nil) == Self.carried(nil) && Self.extents(nil).values.allSatisfy { $0 == .yes })
  }

  @Test func `the entitlement that would have given it is named`() {
    let explanation = Explanation(
      PolicySettings.closed, app: .test(Entitlements(sandbox: AppSandbox(selection: .readOnly))))
    #expect(
      explanation[.changePicked].first?.decisions.last
        == .notAsked(keys: ["com.apple.security.files.user-selected.read-write"]))
  }

  @Test func `BMK-8: without either entitlement for bookmarks it opens those that others have made, and makes none`() {
    for (app, document) in [(false, false), (true, false), (false, true)] {
      let sandbox = AppSandbox(selection: .readWrite, appBookmarks: app, documentBookmarks: document)
      let entry = Explanation(PolicySettings.closed, app: .test(Entitlements(sandbox: sandbox)))[.implicitBookmarks]
        .first
      #expect(entry?.extent == .yes)
      #expect((entry?.manner == "only open those of other apps") == (!app && !document), "\(entry?.manner ?? "")")
    }
  }
}
