import Audit
import Foundation
import TestSupport
import Testing

/// Thumbnails by an app's extension, in real sandboxes.
@Suite(.serialized, .waiting)
struct ThumbnailTests {
  /// One pixel.
  private static let picture =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

  /// An app that exports a type and draws it. The extension does what the document says.
  private func bundle(_ world: Workspace) throws -> String {
    let bundle = try world.bundle(
      "Notes", identifier: "org.example.notes", script: "#!/bin/sh\n",
      manifest: """
        <key>UTExportedTypeDeclarations</key><array><dict>
          <key>UTTypeIdentifier</key><string>org.example.note</string>
          <key>UTTypeConformsTo</key><array><string>public.data</string><string>public.content</string></array>
          <key>UTTypeTagSpecification</key><dict><key>public.filename-extension</key><array><string>exnote</string></array></dict>
        </dict></array>
        """)
    let folder = "\(bundle)/PlugIns/Thumbs.appex"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>CFBundleExecutable</key><string>draw</string>
      <key>NSExtension</key><dict>
        <key>NSExtensionPointIdentifier</key><string>com.apple.quicklook.thumbnail</string>
        <key>NSExtensionAttributes</key><dict>
          <key>QLSupportedContentTypes</key><array><string>org.example.note</string></array>
          <key>QLThumbnailMinimumDimension</key><integer>200</integer>
        </dict>
      </dict>
    </dict></plist>
    """.write(toFile: "\(folder)/Info.plist", atomically: false, encoding: .utf8)
    let script = """
      #!/bin/sh
      # --thumbnail --document FILE --size N --output PICTURE
      read -r word < "$3"
      case $word in
        draw) echo '\(Self.picture)' | base64 -d > "$7" ;;
        linger) (sleep 300; touch ~/late) & echo '\(Self.picture)' | base64 -d > "$7" ;;
        error) echo "there is nothing to draw" >&2; exit 1 ;;
      esac
      """
    try world.write(script, to: "\(folder)/draw")
    _ = unsafe chmod("\(folder)/draw", 0o755)
    return bundle
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `THM-1, THM-2, THM-3, THM-6: an extension draws its app's own type, at its size, and nothing of it stays`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let bundle = try bundle(world)
      func draw(_ name: String, _ content: String, size: String = "256", retry: Bool = false) throws -> (
        output: String, errors: String, isDone: Bool
      ) {
        let document = "\(world.home)/Papers/\(name)"
        // Written once: a change would make it another document.
        if !FileManager.default.fileExists(atPath: document) { _ = try world.document(name, content) }
        let run = try world.ambit(
          "thumbnail", "--apps", bundle, "--format", "json", "--size", size, retry ? "--retry" : "--timeout=20",
          document)
        return (run.output, run.errors, run.exit == .status(0))
      }
      let drawn = try draw("a.exnote", "draw\n")
      #expect(drawn.isDone && drawn.output.contains(#""thumbnailer":"org.example.notes""#), "\(drawn)")
      // THM-2: a request below its least dimension does not call it.
      let small = try draw("a.exnote", "draw\n", size: "128")
      #expect(!small.isDone && small.output.contains("nothing smaller than 200 pixels"), "\(small)")
      // THM-1: a type that it does not name is not its own.
      let other = try draw("a.exother", "draw\n")
      #expect(!other.isDone && other.output.contains(#""layer":"choice""#), "\(other)")
      // THM-3: an error is no thumbnail; neither is no answer.
      let failed = try draw("b.exnote", "error\n")
      #expect(!failed.isDone && failed.output.contains("there is nothing to draw"), "\(failed)")
      let silent = try draw("c.exnote", "silence\n")
      #expect(!silent.isDone && silent.output.contains(#""layer":"picture""#), "\(silent)")
      // A failure is known, until it is asked to try again.
      #expect(try draw("b.exnote", "error\n").output.contains(#""known":true"#))
      #expect(try draw("b.exnote", "error\n", retry: true).output.contains(#""known":false"#))

      // THM-6: what it leaves running ends with its answer, and its container goes.
      let began = ContinuousClock.now
      let lingering = try draw("d.exnote", "linger\n")
      #expect(lingering.isDone, "\(lingering)")
      #expect(ContinuousClock.now - began < .seconds(60))
      #expect(!(try world.ambit("app", "list").output.contains("thumbnail.r")))
      #expect(try world.audit(.launch).filter { $0.app?.hasPrefix("thumbnail.r") == true }.count >= 5)
      #expect(
        try world.audit(.grant).filter { $0.app?.hasPrefix("thumbnail.r") == true }.allSatisfy {
          $0.detail["access"] == "readOnly"
        })
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `THM-4: a picture is written with a document that the app has made, and with no other`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let letter = try world.document("Letter.txt", "dear")
      let app = try world.probe("Editor", picks: [world.home, letter])
      func save(_ document: String, _ text: String) throws {
        _ = try app.tell("typeText", ["document": .string(document), "text": .string(text)])
        let saved = try app.tell("saveDocument", ["document": .string(document), "picture": true])
        #expect(saved["done"]?.bool == true, "\(saved.text)")
      }
      func thumbnail(_ path: String) throws -> String {
        try world.ambit("thumbnail", "--format", "json", "--size", "128", path).output
      }
      let byApp = "\"thumbnailer\":\"\(Workspace.identifier("Editor"))\""
      // In its own container.
      let own = "/home/user/Documents/Essay.txt"
      _ = try app.tell("newDocument", ["document": "own", "file": .string(own)])
      try save("own", "a")
      let container = "\(world.container(Workspace.identifier("Editor")))/Documents/Essay.txt"
      let first = try thumbnail(container)
      #expect(first.contains(byApp), "\(first)")
      // Moved to another place by its user. A picture is of one content.
      _ = try app.tell("closeDocument", ["document": "own"])
      let moved = try app.tell("pick", ["mode": "move", "sources": JSON.array([.string(own)]), "as": "essay"])
      #expect(moved["done"]?.bool == true, "\(moved.text)")
      _ = try app.tell("openDocument", ["of": "essay", "document": "moved"])
      try save("moved", "abc")
      let place = "\(world.home)/Essay.txt"
      let second = try thumbnail(place)
      #expect(second.contains(byApp) && second.contains(".png"), "\(second)")
      try world.write("written by another program", to: place)
      #expect(try !thumbnail(place).contains(byApp))
      // The user's own document stays without.
      _ = try app.tell("pick", ["as": "letter"])
      _ = try app.tell("openDocument", ["of": "letter", "document": "letter"])
      try save("letter", "dear reader")
      #expect(try world.read(letter) == "dear reader")
      #expect(try !thumbnail(letter).contains(byApp))
      #expect(try app.finish() == .status(0))
    }
  }
}
