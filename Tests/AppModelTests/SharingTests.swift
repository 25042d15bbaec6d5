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
    #expect(throws: AppBundleError.self) { try manifest("\(browser)<string>yes</string>") }
  }

  @Test func `SBX-7: a public scope of any container`() throws {
    func scope(_ value: String) -> String {
      """
      <key>NSUbiquitousContainers</key><dict><key>iCloud.a.b</key><dict>
      <key>NSUbiquitousContainerIsDocumentScopePublic</key>\(value)</dict></dict>
      """
    }
    #expect(try manifest(scope("<true/>")).hasPublicScope && !manifest(scope("<true/>")).sharesDocuments)
    #expect(try !manifest(scope("<false/>")).hasPublicScope && !manifest(scope("<integer>1</integer>")).hasPublicScope)
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
