import Foundation
import Testing

@testable import AppModel

@Suite struct `What a manifest shows to other apps` {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func manifest(_ keys: String) throws -> AppManifest {
    let plist = Fixture.list(
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>Notes</string>" + keys)
    return try AppBundle(contentsOf: try folder.app("A\(UUID().uuidString).app", plist: plist)).manifest
  }

  @Test func `SBX-6: the browser's key alone, or sharing and in place together`() throws {
    let (browser, sharing, inPlace) = (
      "<key>UISupportsDocumentBrowser</key>", "<key>UIFileSharingEnabled</key>",
      "<key>LSSupportsOpeningDocumentsInPlace</key>"
    )
    #expect(try !manifest("").sharesDocuments)
    #expect(try manifest("\(browser)<true/>").sharesDocuments)
    #expect(try !manifest("\(browser)<false/>\(sharing)<true/>").sharesDocuments)
    #expect(try !manifest("\(inPlace)<true/>").sharesDocuments)
    #expect(try manifest("\(sharing)<true/>\(inPlace)<true/>").sharesDocuments)
    #expect(try manifest("\(browser)<string>yes</string>").sharesDocuments)
    #expect(try !manifest("\(sharing)<integer>1</integer>\(inPlace)<string>NO</string>").sharesDocuments)
  }

  @Test(
    arguments: [
      ("<true/>", true), ("<string>YES</string>", true), ("<string>Yes</string>", true),
      ("<string>true</string>", true),
      ("<string>1</string>", true), ("<integer>1</integer>", true), ("<false/>", false), ("<string>NO</string>", false),
      ("<string>FALSE</string>", false), ("<string>0</string>", false), ("<integer>0</integer>", false),
      ("<string>maybe</string>", nil), ("<string></string>", nil), ("<string> YES</string>", nil),
      ("<integer>2</integer>", nil), ("<real>1</real>", nil), ("<array/>", nil),
    ] as [(String, Bool?)])
  func `SBX-6: a boolean is read as Apple's systems read it, and what is none is refused with what would be one`(
    value: String, expected: Bool?
  ) throws {
    for key in ["UISupportsDocumentBrowser", "UIFileSharingEnabled", "LSSupportsOpeningDocumentsInPlace"] {
      if let expected {
        // Of the two that count together, the other one is there.
        let pair = ["UIFileSharingEnabled", "LSSupportsOpeningDocumentsInPlace"]
        let rest = pair.contains(key) ? pair.filter { $0 != key }.map { "<key>\($0)</key><true/>" }.joined() : ""
        #expect(try manifest("<key>\(key)</key>\(value)\(rest)").sharesDocuments == expected, "\(key)")
      } else {
        #expect {
          try manifest("<key>\(key)</key>\(value)")
        } throws: { error in
          "\(error)".contains("\(key) must be a boolean, or YES, NO, true, false, 1 or 0, and is ")
        }
      }
    }
  }

  @Test func `what shows its Documents is named with its line, as far as it does`() throws {
    func keys(_ body: String) throws -> [String] {
      let list = try PropertyListFile(bytes: Array("<plist><dict>\n\(body)\n</dict></plist>".utf8), path: "Info.plist")
      return DeclaredKeys(manifest: list, entitlements: nil).sharing.map { "\($0.line ?? 0) \($0.path)" }
    }
    let both =
      "<key>UIFileSharingEnabled</key><string>YES</string>\n<key>LSSupportsOpeningDocumentsInPlace</key><true/>"
    #expect(try keys(both) == ["2 UIFileSharingEnabled", "3 LSSupportsOpeningDocumentsInPlace"])
    #expect(try keys("\(both)\n<key>UISupportsDocumentBrowser</key><true/>") == ["4 UISupportsDocumentBrowser"])
    #expect(try keys("<key>UIFileSharingEnabled</key><true/>") == [])
    let container =
      "<key>NSUbiquitousContainers</key><dict><key>iCloud.a</key><dict>\n"
      + "<key>NSUbiquitousContainerIsDocumentScopePublic</key><true/></dict></dict>"
    let name = "NSUbiquitousContainers[\"iCloud.a\"].NSUbiquitousContainerIsDocumentScopePublic"
    #expect(try keys(container) == ["3 \(name)"])
  }

  @Test func `SBX-7: a public scope of any container`() throws {
    func scope(_ value: String) -> String {
      """
      <key>NSUbiquitousContainers</key><dict><key>iCloud.a.b</key><dict>
      <key>NSUbiquitousContainerIsDocumentScopePublic</key>\(value)</dict></dict>
      """
    }
    #expect(try manifest(scope("<true/>")).hasPublicScope && !manifest(scope("<true/>")).sharesDocuments)
    #expect(try !manifest(scope("<false/>")).hasPublicScope && manifest(scope("<integer>1</integer>")).hasPublicScope)
    #expect(try !manifest(scope("<string>perhaps</string>")).hasPublicScope)
    #expect(try !manifest("<key>NSUbiquitousContainers</key><array/>").hasPublicScope)
  }

  @Test(
    arguments: [
      (nil, "1"), ("", "1"), ("1", "2"), ("9", "10"), ("1.9", "1.10"), ("1.2", "1.2.1"), ("1.2b3", "1.3"), ("x", "0.1"),
    ] as [(String?, String)])
  func `SBX-7: a version increases by its numbers`(old: String?, new: String) {
    #expect(BundleVersion(old) < BundleVersion(new) && !(BundleVersion(new) < BundleVersion(old)))
  }

  @Test(arguments: [("1", "1.0"), ("1.2", "1.2.0.0"), ("2a", "2b"), ("", "x")])
  func `SBX-7: and these are the same`(left: String, right: String) {
    #expect(BundleVersion(left) == BundleVersion(right))
  }
}
