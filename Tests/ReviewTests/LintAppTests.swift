import AppModel
import Policy
import TestSupport
import Testing

@testable import Review

@Suite struct `What lint finds in apps` {
  static func list(_ body: String, _ path: String = "Info.plist") throws -> PropertyListFile {
    try PropertyListFile(
      bytes: Array("<plist><dict>\n\(body)\n</dict></plist>".utf8), path: path)
  }

  static let identity =
    "<key>CFBundleIdentifier</key><string>org.example.a</string><key>CFBundleExecutable</key><string>A</string>\n"

  private static func manifest(_ body: String) throws -> [LintFinding] {
    Lint.findings(manifest: try list(identity + body), entitlements: nil)
  }

  private static func entitlements(_ keys: [String], manifest body: String? = nil) throws -> [LintFinding] {
    let text = keys.map { key in
      let parts = key.split(separator: "=", maxSplits: 1).map(String.init)
      return "<key>com.apple.security.\(parts[0])</key>\(parts.count == 1 ? "<true/>" : parts[1])\n"
    }.joined()
    return Lint.findings(
      manifest: try body.map { try list(identity + $0) }, entitlements: try list(text, "Entitlements.plist"))
  }

  private static func names(_ findings: [LintFinding]) -> [String] { findings.map(\.rule.rawValue) }

  @Test func `an app that says what it is and no more has nothing to look at`() throws {
    #expect(try Self.manifest("") == [])
    #expect(
      try Self.entitlements(["app-sandbox", "files.user-selected.read-write", "files.bookmarks.app-scope"]) == [])
  }

  @Test func `what keeps an app from being launched is an error, and said once`() throws {
    for key in ["network.client=<integer>1</integer>", "app-sandbox=<string>YES</string>"] {
      let findings = try Self.entitlements([key])
      let ofKey = findings.filter { $0.place.key?.hasSuffix(key.prefix { $0 != "=" }) ?? false }
      #expect(ofKey.count { $0.rule == .notLaunchable && $0.severity == .error } == 1, "\(findings)")
      #expect(!ofKey.contains { $0.rule == .wrongType })
    }
    #expect(throws: AppBundleError.self) {
      try Entitlements(Self.list("<key>com.apple.security.network.client</key><integer>1</integer>"))
    }
    // A value may stand on the line after its key; and the place is said once.
    let apart = try Self.entitlements(["network.client=\n<string>YES</string>"])
    #expect(apart.filter { $0.severity != .note }.map(\.rule) == [.notLaunchable], "\(apart)")
    #expect(
      apart.first?.what.hasPrefix("com.apple.security.network.client must be a boolean, and is a string.") == true)
    let manifest = try Self.manifest("<key>UIFileSharingEnabled</key><integer>2</integer>")
    #expect(manifest.count { $0.place.line == 3 } == 1, "\(manifest)")
    #expect(throws: AppBundleError.self) {
      try AppManifest(
        Self.list(Self.identity + "<key>UIFileSharingEnabled</key><integer>2</integer>"), folderName: "App")
    }
    #expect(manifest.contains { $0.rule == .notLaunchable })
    // What changes nothing is no error.
    let other = try Self.manifest("<key>CFBundleDocumentTypes</key><string>none</string>")
    #expect(other.contains { $0.rule == .wrongType } != other.contains { $0.rule == .notLaunchable })
  }

  @Test(arguments: ["public.data", "public.item", "public.content", "public.folder"])
  func `TYP-5: a claim on nearly everything`(type: String) throws {
    let findings = try Self.manifest(
      """
      <key>CFBundleDocumentTypes</key><array><dict>
      <key>LSItemContentTypes</key><array><string>public.text</string>
      <string>\(type)</string></array></dict></array>
      """)
    #expect(Self.names(findings) == ["over-broad-type"])
    #expect(findings.first?.place.description == "Info.plist:5: CFBundleDocumentTypes[0].LSItemContentTypes[1]")
    #expect(findings.first?.severity == .warning && findings.first?.what.contains(type) == true)
  }

  @Test func `TYP-5: an extension that every name has, also written as the one`() throws {
    let findings = try Self.manifest(
      "<key>CFBundleDocumentTypes</key><array><dict><key>CFBundleTypeExtensions</key><string>*</string></dict></array>")
    #expect(findings.map { "\($0.place)" } == ["Info.plist:3: CFBundleDocumentTypes[0].CFBundleTypeExtensions"])
  }

  private static func exported(_ identifier: String, _ conforms: String...) -> String {
    """
    <dict><key>UTTypeIdentifier</key><string>\(identifier)</string><key>UTTypeConformsTo</key><array>
    \(conforms.map { "<string>\($0)</string>" }.joined())</array></dict>
    """
  }

  private static func types(_ declarations: String...) throws -> [String] {
    names(try manifest("<key>UTExportedTypeDeclarations</key><array>\(declarations.joined())</array>"))
  }

  @Test func `TYP-1: a type conforms to data or to packages, and to content to be found`() throws {
    #expect(try Self.types(Self.exported("org.example.x", "public.data", "public.content")) == [])
    #expect(try Self.types(Self.exported("org.example.x", "public.json")) == [])
    #expect(try Self.types(Self.exported("org.example.x", "com.apple.package")) == ["type-not-in-search"])
    #expect(try Self.types(Self.exported("org.example.x", "public.data")) == ["type-not-in-search"])
    #expect(try Self.types(Self.exported("org.example.x", "public.content")) == ["type-without-base"])
    #expect(try Self.types(Self.exported("org.example.x")) == ["type-without-base"])
    #expect(try Self.types(Self.exported("org.example.x", "org.other.unknown")) == [], "which may be either")
    #expect(
      try Self.types(Self.exported("org.example.x", "org.example.y"), Self.exported("org.example.y", "public.text"))
        == [])
    #expect(
      try Self.types(Self.exported("org.example.x", "org.example.y"), Self.exported("org.example.y", "org.example.x"))
        == ["circular-type", "circular-type"])
  }

  @Test(arguments: [
    ("public.mine", ["reserved-type"]), ("dyn.mine", ["reserved-type"]), ("com.apple.mine", ["reserved-type"]),
    ("org.example/x", ["bad-type-identifier"]), ("org.example x", ["bad-type-identifier"]),
    ("org.example.x-1", []),
  ])
  func `TYP-6: identifiers of types have few characters, and some beginnings are not an app's`(
    name: String, expected: [String]
  ) throws {
    #expect(try Self.types(Self.exported(name, "public.text")) == expected)
  }

  @Test func `types that are named and declared nowhere, that name nothing, and that are declared twice`() throws {
    #expect(
      try Self.names(
        Self.manifest(
          """
          <key>CFBundleDocumentTypes</key><array><dict><key>LSItemContentTypes</key>
          <array><string>org.example.a.document</string></array></dict><dict><key>CFBundleTypeName</key>
          <string>Nothing</string></dict></array>
          """)) == ["undeclared-type", "empty-type"])
    let type = Self.exported("org.example.x", "public.text")
    #expect(try Self.types(type, type) == ["repeated-type"])
  }

  @Test func `opening in place, browsing and sharing need each other and types`() throws {
    let (inPlace, browser, sharing) = (
      "<key>LSSupportsOpeningDocumentsInPlace</key>", "<key>UISupportsDocumentBrowser</key>",
      "<key>UIFileSharingEnabled</key>"
    )
    let types =
      "<key>CFBundleDocumentTypes</key><array><dict><key>LSItemContentTypes</key><string>public.text</string></dict></array>"
    #expect(try Self.names(Self.manifest("\(inPlace)<true/>")) == ["in-place-without-types"])
    #expect(try Self.names(Self.manifest("\(inPlace)<true/>\(types)")) == [])
    #expect(try Self.names(Self.manifest("\(inPlace)<true/>\(sharing)<true/>")) == [])
    #expect(try Self.names(Self.manifest("\(sharing)<true/>")) == ["sharing-without-in-place"])
    #expect(try Self.names(Self.manifest("\(browser)<true/>")) == ["browser-without-types"])
    #expect(
      try Self.names(Self.manifest("\(browser)<true/>\(inPlace)<false/>\(types)")) == ["browser-without-in-place"])
  }

  @Test func `keys that are nearly right, and those that nobody knows`() throws {
    let findings = try Self.entitlements([
      "app-sandbox", "app-sanbox", "network.clent", "files.user-selected.reed-only",
    ])
    #expect(Self.names(findings) == ["mistyped-key", "mistyped-key", "mistyped-key"])
    #expect(findings[0].what.contains("com.apple.security.app-sandbox is"))
    #expect(findings[1].what.contains("com.apple.security.network.client is"))
    #expect(try Self.names(Self.manifest("<key>CFBundelName</key><string>A</string>")) == ["mistyped-key"])
    let inner = try Self.manifest(
      """
      <key>CFBundleDocumentTypes</key><array><dict><key>CFBundleTypeExtensions</key><string>x</string>
      <key>LSItemContentType</key><string>org.example.x</string></dict></array>
      """)
    #expect(inner.map { "\($0.place)" } == ["Info.plist:4: CFBundleDocumentTypes[0].LSItemContentType"])
    let unknown = try Self.manifest("<key>OurOwnSetting</key><dict><key>a</key><true/></dict>")
    #expect(unknown.map(\.rule) == [.unknownKey] && unknown.first?.severity == .note)
  }

  @Test func `wrong types, a missing executable and what a build was to put in`() throws {
    #expect(try Self.names(Self.manifest("<key>CFBundleDocumentTypes</key><true/>")) == ["wrong-type"])
    #expect(
      try Self.names(Self.manifest("<key>UIFileSharingEnabled</key><string>maybe</string>")) == ["not-launchable"])
    let loose = try Self.manifest("<key>UIFileSharingEnabled</key><string>YES</string>")
    #expect(Self.names(loose) == ["loose-boolean", "sharing-without-in-place"])
    #expect(loose.first?.what == "UIFileSharingEnabled is written as a string; read as true.")
    let bare = Lint.findings(
      manifest: try Self.list("<key>CFBundleIdentifier</key><string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>"),
      entitlements: nil)
    #expect(Set(Self.names(bare)) == ["not-launchable", "unexpanded-variable"])
  }

  // MARK: - Entitlements

  @Test(
    arguments: [
      (
        ["app-sandbox", "files.user-selected.read-only", "files.user-selected.read-write"], ["read-only-and-read-write"]
      ),
      (["app-sandbox", "files.bookmarks.app-scope"], ["bookmarks-without-user-selected"]),
      (["app-sandbox", "files.bookmarks.document-scope"], ["bookmarks-without-user-selected"]),
      (["app-sandbox", "files.user-selected.executable"], ["executable-without-user-selected", "risky-entitlement"]),
      (["network.client"], ["sandbox-not-requested"]),
      // Each of them keeps the app from being launched.
      (
        ["app-sandbox=<string>YES</string>", "network.client=<integer>1</integer>"],
        ["not-launchable", "not-launchable", "sandbox-not-requested"]
      ),
      (
        [
          "app-sandbox", "temporary-exception.files.absolute-path.read-only=<array><integer>5</integer><dict/></array>",
        ],
        ["wrong-type", "wrong-type"]
      ),
      (["app-sandbox=<false/>", "files.user-selected.read-only"], ["sandbox-not-requested"]),
      (["app-sandbox", "inherit"], []),
      (["app-sandbox", "inherit", "network.client"], ["inherit-with-others"]),
      (
        ["app-sandbox", "inherit", "network.client", "files.all", "print"],
        ["inherit-with-others", "risky-entitlement"]
      ),
      (["app-sandbox", "files.downloads.read-only", "files.downloads.read-write"], ["read-only-and-read-write"]),
      (["app-sandbox", "assets.music.read-write", "assets.music.read-only"], ["read-only-and-read-write"]),
      (["app-sandbox", "files.downloads.read-only", "assets.music.read-write"], []),
      (["app-sandbox", "files.downloads.read-only=<false/>", "files.downloads.read-write"], []),
      (["app-sandbox", "cs.disable-library-validation"], ["risky-entitlement"]),
      (["app-sandbox", "network.client", "network.server"], []),
    ] as [([String], [String])])
  func `entitlements that contradict each other, or open much`(keys: [String], expected: [String]) throws {
    #expect(try Self.names(Self.entitlements(keys)) == expected)
  }

  @Test func `what stands beside an inherited sandbox is named all at once`() throws {
    let finding = try #require(
      try Self.entitlements(["app-sandbox", "network.client", "inherit", "network.server"])
        .first { $0.rule == .inheritWithOthers })
    #expect(finding.what.contains("com.apple.security.network.client, com.apple.security.network.server"))
    #expect(finding.place.line == 4 && finding.remedy.contains("the 2 others"))
  }

  @Test(arguments: [
    ("sbpl=<array><string>(allow file*)</string></array>", "risky-exception", "error"),
    ("mach-lookup.global-name=<array><string>a</string></array>", "risky-exception", "warning"),
    ("apple-events=<array><string>com.apple.finder</string></array>", "risky-exception", "error"),
    ("apple-events=<array><string>org.example.other</string></array>", "risky-exception", "warning"),
    ("shared-preference.read-only=<array><string>a</string></array>", "risky-exception", "note"),
    ("something-new=<true/>", "risky-exception", "warning"),
    ("files.absolute-path.read-write=<array><string>/</string></array>", "over-broad-path", "error"),
    ("files.absolute-path.read-only=<array><string>/Volumes/</string></array>", "over-broad-path", "warning"),
    ("files.absolute-path.read-only=<array><string>/Users/someone/</string></array>", "over-broad-path", "warning"),
    ("files.absolute-path.read-only=<array><string>/opt/tool/share/</string></array>", "risky-exception", "note"),
    ("files.home-relative-path.read-write=<array><string>/</string></array>", "over-broad-path", "error"),
    ("files.home-relative-path.read-only=<array><string>/.ssh/</string></array>", "secret-path", "error"),
    (
      "files.home-relative-path.read-write=<array><string>/Library/Logs/A/</string></array>", "risky-exception",
      "warning"
    ),
  ])
  func `each exception is named with why it is one`(key: String, name: String, severity: String) throws {
    let findings = try Self.entitlements(["app-sandbox", "temporary-exception.\(key)"])
    #expect(Self.names(findings) == [name])
    #expect(findings.first?.severity.rawValue == severity)
    #expect(findings.first?.place.key?.hasPrefix("com.apple.security.temporary-exception.") == true)
  }

  @Test func `each path of a list is a finding of its own`() throws {
    let findings = try Self.entitlements([
      "app-sandbox",
      "temporary-exception.files.absolute-path.read-only=<array><string>/opt/a/b</string>\n<string>/</string></array>",
    ])
    #expect(findings.map { $0.place.key?.suffix(3) } == ["[0]", "[1]"] && findings.map(\.place.line) == [3, 4])
  }

  @Test func `what a manifest promises and its entitlements do not permit`() throws {
    let editor = """
      <key>CFBundleDocumentTypes</key><array><dict><key>LSItemContentTypes</key><string>public.text</string>
      <key>CFBundleTypeRole</key><string>Editor</string></dict></array>
      """
    let (sandbox, read, write) = ("app-sandbox", "files.user-selected.read-only", "files.user-selected.read-write")
    #expect(try Self.names(Self.entitlements([sandbox, read], manifest: editor)) == ["editor-without-writing"])
    #expect(try Self.names(Self.entitlements([sandbox, write], manifest: editor)) == [])
    #expect(try Self.names(Self.entitlements([sandbox], manifest: editor)) == ["types-without-user-selected"])
    #expect(try Self.names(Self.entitlements(["cs.allow-jit"], manifest: editor)) == ["risky-entitlement"])
  }

  // MARK: - All of them

  @Test(arguments: try ManifestFixtures.names())
  func `every fixture is looked through, alone and under every built-in policy`(name: String) throws {
    let list = try PropertyListFile(bytes: try ManifestFixtures.bytes(name), path: name)
    let isManifest = ManifestListing.Kind(of: list) == .manifest
    let library = PolicyLibrary(directories: [])
    for policy in [nil] + library.names {
      let findings = Lint.findings(
        manifest: isManifest ? list : nil, entitlements: isManifest ? nil : list,
        policy: try policy.map { try library.resolve($0) })
      for finding in findings {
        #expect(finding.place.file == name)
        #expect(finding.what.hasSuffix(".") && finding.remedy.hasSuffix("."), "\(finding)")
        #expect(finding.rule != .wrongType && finding.rule != .unreadable)
      }
      #expect(findings == Lint.sorted(findings))
    }
  }

  @Test func `names of rules are of small letters and hyphens, and each is one`() {
    let names = LintRule.allCases.map(\.rawValue)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz-".utf8.contains($0) } })
  }

  @Test func `no mutation of a fixture ends lint`() throws {
    var random = Seeded(seed: 11)
    let files = try ManifestFixtures.names().filter { $0 != "big.Info.plist" }.map { try ManifestFixtures.bytes($0) }
    let policy = try PolicyLibrary(directories: []).resolve("strict")
    var looked = 0
    for round in 0..<Rounds.few(500, of: 2000) {
      var bytes = files[round % files.count]
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
      }
      guard let list = try? PropertyListFile(bytes: bytes, path: "F") else { continue }
      looked += 1
      _ = Lint.findings(manifest: list, entitlements: list, policy: policy)
    }
    #expect(looked > 50)
  }
}
