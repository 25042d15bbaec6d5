import Foundation
import TestSupport
import Testing

/// `ambit app inspect` and `ambit audit lint`, as programs.
@Suite(.serialized, .waiting)
struct LintCommandTests {
  private static let editor = """
    <plist version="1.0"><dict>
    <key>CFBundleIdentifier</key><string>org.example.ed</string>
    <key>CFBundleExecutable</key><string>Ed</string>
    <key>CFBundleDocumentTypes</key><array><dict>
    <key>LSItemContentTypes</key><array><string>public.data</string></array>
    </dict></array>
    </dict></plist>
    """
  private static let entitlements = """
    <plist version="1.0"><dict>
    <key>com.apple.security.app-sandbox</key><true/>
    <key>com.apple.security.files.user-selected.read-only</key><true/>
    <key>com.apple.security.network.client</key><true/>
    </dict></plist>
    """

  @Test func `ambit app inspect lists every key with what it comes to, of either system's bundle and of one file`()
    throws
  {
    try Workspace.with(.root) { world in
      // As macOS has it: everything in one folder within the bundle, and no Linux program.
      let contents = "\(world.home)/Ed.app/Contents"
      try FileManager.default.createDirectory(atPath: contents, withIntermediateDirectories: true)
      try world.write(Self.editor, to: "\(contents)/Info.plist")
      try world.write(Self.entitlements, to: "\(contents)/Entitlements.plist")
      let outcome = try world.ambit("app", "inspect", "--format", "json", "Ed.app")
      #expect(outcome.exit == .status(0), "\(outcome)")
      let files = try #require(JSON(outcome.output)?["files"]?.array)
      #expect(files.map { $0["kind"] } == ["manifest", "entitlements"])
      #expect(
        files.first?["keys"]?.array?.map { $0["path"] } == [
          "CFBundleIdentifier", "CFBundleExecutable", "CFBundleDocumentTypes",
          "CFBundleDocumentTypes[0].LSItemContentTypes",
        ])
      #expect(files.first?["keys"]?.array?.first?["status"] == "mapped")
      let text = try world.ambit("app", "inspect", "--only", "mapped", "Ed.app/Contents/Entitlements.plist")
      #expect(text.output.contains("com.apple.security.network.client"))
      try world.write("<plist><dict><key>A</key></dict></plist>", to: "\(contents)/Info.plist")
      let wrong = try world.run([try Products.path("ambit"), "app", "inspect", "Ed.app"])
      #expect(
        wrong.exit == .status(125) && wrong.errors.contains("line 1, A: expected a value after its key"), "\(wrong)")
    }
  }

  @Test func `ambit audit lint ends with 1 from the severity on that it was told, and names place and rule`() throws {
    try Workspace.with(.root) { world in
      try world.write(Self.editor, to: "\(world.home)/Info.plist")
      try world.write("inherits = \"default\"\n[network]\naccess = \"host\"\n", to: "\(world.home)/mine.toml")
      func lint(_ words: String...) throws -> (exit: ChildProcess.Exit, json: JSON?) {
        let outcome = try world.run([try Products.path("ambit"), "audit", "lint", "--format", "json"] + words)
        return (outcome.exit, JSON(outcome.output))
      }
      let app = try lint("Info.plist")
      #expect(app.exit == .status(1))
      let finding = try #require(app.json?["findings"]?.array?.first)
      #expect(finding["name"] == "over-broad-type" && finding["severity"] == "warning")
      #expect(finding["place"] == "Info.plist:5: CFBundleDocumentTypes[0].LSItemContentTypes[0]")
      #expect(try lint("--fail-on", "error", "Info.plist").exit == .status(0))
      #expect(try lint("--ignore", "over-broad-type", "Info.plist").exit == .status(0))
      let policy = try lint("mine.toml")
      #expect(policy.exit == .status(1))
      #expect(policy.json?["findings"]?.array?.first?["place"] == "mine.toml:3: network.access")
      #expect(try lint("default", "strict").exit == .status(0))
      let both = try lint("Info.plist@mine.toml", "--ignore", "over-broad-type")
      #expect(both.json?["findings"]?.array?.map { $0["name"] } == ["unasked-network"])
      #expect(try lint("nowhere").exit == .status(125))
      #expect(try lint("Nowhere.app").exit == .status(127))
    }
  }
}
