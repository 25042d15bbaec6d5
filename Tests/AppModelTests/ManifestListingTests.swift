import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct `What each key of a manifest comes to` {
  private static func list(_ name: String) throws -> PropertyListFile {
    try PropertyListFile(bytes: try ManifestFixtures.bytes(name), path: name)
  }

  /// Foundation's reading of the same file, for comparison; without the header of a signature.
  private static func oracle(_ name: String) throws -> [String: Any] {
    var data = Data(try ManifestFixtures.bytes(name))
    if data.starts(with: [0xFA, 0xDE]) { data = data.dropFirst(8) }
    let top = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
    return try #require(top as? [String: Any])
  }

  private static func paths(_ value: Any, _ path: KeyPath = KeyPath()) -> [KeyPath] {
    if let entries = value as? [String: Any] {
      return entries.flatMap { [path.key($0.key)] + paths($0.value, path.key($0.key)) }
    }
    guard let members = value as? [Any] else { return [] }
    return members.enumerated().flatMap { paths($0.element, path.index($0.offset)) }
  }

  @Test func `there are more than thirty of varied shape`() throws {
    let names = try ManifestFixtures.names()
    #expect(names.count >= 30)
    #expect(try names.contains { try ManifestFixtures.bytes($0).starts(with: Array("bplist".utf8)) })
    #expect(try names.contains { try ManifestFixtures.bytes($0).starts(with: [0xFF, 0xFE]) })
    #expect(try names.contains { try ManifestFixtures.bytes($0).starts(with: [0xFA, 0xDE, 0x71, 0x71]) })
  }

  @Test(arguments: try ManifestFixtures.names())
  func `every key is listed, at every depth, and none besides`(name: String) throws {
    let listing = ManifestListing(try Self.list(name))
    let listed = listing.rows.map(\.path)
    let expected = Set(Self.paths(try Self.oracle(name)))
    #expect(Set(listed) == expected)
    #expect(listed.count == expected.count, "each once")
    #expect(Set(listed.map(\.description)).count == expected.count, "each by a name of its own")
    for row in listing.rows where row.meaning != .unknown {
      if case .mapped(let text) = row.meaning { #expect(!text.isEmpty) }
      if case .idle(let text) = row.meaning { #expect(!text.isEmpty) }
    }
  }

  @Test func `a boolean that is written as something else is listed with what it is read as`() throws {
    let list = try PropertyListFile(
      bytes: Array(
        """
        <plist><dict><key>CFBundleIdentifier</key><string>1</string>
        <key>UIFileSharingEnabled</key><string>YES</string>
        <key>LSSupportsOpeningDocumentsInPlace</key><integer>0</integer>
        <key>UISupportsDocumentBrowser</key><true/>
        <key>CFBundleDocumentTypes</key><array><dict><key>LSTypeIsPackage</key><string>maybe</string></dict></array>
        <key>LSUIElement</key><string>1</string>
        <key>com.apple.security.app-sandbox</key><string>YES</string></dict></plist>
        """.utf8), path: "Info.plist")
    let notes = ManifestListing(list, as: .manifest).rows.compactMap { row in row.note.map { "\(row.path): \($0)" } }
    #expect(
      notes == [
        "UIFileSharingEnabled: written as a string; read as true",
        "LSSupportsOpeningDocumentsInPlace: written as a number; read as false",
      ])
    #expect(
      ShapeFault.all(in: list, as: .manifest).map(\.sentence) == [
        "CFBundleDocumentTypes[0].LSTypeIsPackage must be a boolean, or YES, NO, true, false, 1 or 0, and is a string."
      ])
    #expect(ManifestListing(list, as: .entitlements).rows.allSatisfy { $0.note == nil })
  }

  @Test(arguments: try ManifestFixtures.names())
  func `whether a file is a manifest or entitlements is told from what is in it`(name: String) throws {
    let list = try PropertyListFile(bytes: try ManifestFixtures.bytes(name), path: "somewhere")
    let isNamed = name.hasSuffix(".entitlements")
    // Nothing is in an empty one to tell it by.
    let expected: ManifestListing.Kind = isNamed && !list.entries.isEmpty ? .entitlements : .manifest
    #expect(ManifestListing.Kind(of: list) == expected)
    #expect(ManifestListing(try Self.list(name)).kind == (isNamed ? .entitlements : .manifest))
  }

  @Test func `a known key is mapped or says why not, a key within it as well, and others are unknown`() throws {
    func meaning(_ file: String, _ path: String) throws -> KeyMeaning? {
      ManifestListing(try Self.list(file)).rows.first { "\($0.path)" == path }?.meaning
    }
    func isMapped(_ file: String, _ path: String) throws -> Bool {
      if case .mapped = try meaning(file, path) { true } else { false }
    }
    func isIdle(_ file: String, _ path: String) throws -> Bool {
      if case .idle = try meaning(file, path) { true } else { false }
    }
    #expect(try isMapped("ios-document-browser.Info.plist", "UISupportsDocumentBrowser"))
    #expect(try isMapped("packages.Info.plist", "CFBundleDocumentTypes[0].LSTypeIsPackage"))
    #expect(try isIdle("packages.Info.plist", "CFBundleDocumentTypes[0].CFBundleTypeRole"))
    let container = "NSUbiquitousContainers[\"iCloud.org.example.ledger\"]"
    #expect(try isMapped("icloud-editor.Info.plist", "\(container).NSUbiquitousContainerIsDocumentScopePublic"))
    #expect(try isIdle("icloud-editor.Info.plist", "\(container).NSUbiquitousContainerName"))
    #expect(try isIdle("catalyst.Info.plist", "NSMainNibFile-macos"))
    #expect(try isIdle("ios-browser.Info.plist", "CFBundleIcons~ipad.CFBundlePrimaryIcon.CFBundleIconFiles"))
    #expect(try isMapped("mac-browser.entitlements", "com.apple.security.network.client"))
    #expect(try isIdle("archiver.entitlements", "com.apple.security.temporary-exception.sbpl"))
    #expect(try meaning("nonsense.entitlements", "com.apple.security.app-sanbox") == .unknown)
    #expect(try meaning("nonsense.entitlements", "org.example.own-thing.a[2].b") == .unknown)
    #expect(try meaning("odd-values.Info.plist", "OddNested.a.b") == .unknown)
  }

  @Test func `keys of the fixtures that real apps have are known`() throws {
    let strange = ["nonsense.entitlements", "odd-values.Info.plist", "hand-written.Info.plist"]
    for name in try ManifestFixtures.names() where !strange.contains(name) {
      let unknown = ManifestListing(try Self.list(name)).rows.filter { $0.meaning == .unknown }.map { "\($0.path)" }
      #expect(unknown == (name == "localized-be.Info.plist" ? ["CFBundleTypeNameX"] : []), "\(name)")
    }
  }

  @Test func `lines are the file's`() throws {
    let rows = ManifestListing(try Self.list("hand-written.Info.plist")).rows
    #expect(rows.first { "\($0.path)" == "CFBundleIdentifier" }?.line == 6)
    #expect(rows.first { "\($0.path)" == "CFBundleVersion" }?.line == 10)
    #expect(rows.first { "\($0.path)" == "OddEmpty" }?.line == 15)
    #expect(ManifestListing(try Self.list("watch.Info.plist")).rows.allSatisfy { $0.line == nil })
  }

  @Test func `a key path tells keys with dots, quotes and nothing in them apart`() {
    let top = KeyPath().key("a.b")
    #expect("\(top)" == "a.b" && "\(KeyPath().key("a").key("b.c").index(2).key("d"))" == "a[\"b.c\"][2].d")
    #expect("\(KeyPath().key("a").key(""))" == "a[\"\"]" && "\(KeyPath().key(""))" == "\"\"")
    #expect("\(KeyPath().key("a\u{1b}"))" == "\"a\\u{1b}\"")
  }
}
