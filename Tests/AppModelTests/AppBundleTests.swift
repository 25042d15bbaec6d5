import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct AppBundleTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func message(_ app: URL) -> String {
    do {
      _ = try AppBundle(contentsOf: app)
      return "no error"
    } catch {
      return error.description.replacingOccurrences(of: folder.path, with: "TMP")
    }
  }

  private func failure(_ app: URL) -> AppBundleError? {
    do {
      _ = try AppBundle(contentsOf: app)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a bundle with the least that it needs takes its name from the folder`() throws {
    let bundle = try AppBundle(contentsOf: folder.app())
    #expect(
      bundle.manifest
        == AppManifest(bundleIdentifier: "org.example.notes", executable: "Notes", name: "Notes", version: nil))
    #expect(bundle.entitlements == .none)
    #expect(bundle.name == "Notes.app")
    #expect(bundle.url.path == folder.path + "/Notes.app")
    #expect(bundle.executableURL.path == folder.path + "/Notes.app/Notes")
  }

  @Test func `one of macOS's shape has all in Contents, and its program in MacOS there`() throws {
    let app = folder.path + "/Paper.app"
    for inside in ["", "/Contents", "/Contents/MacOS"] { #expect(unsafe mkdir(app + inside, 0o755) == 0) }
    let list = Fixture.list(
      """
      <key>CFBundleIdentifier</key><string>org.example.paper</string>
      <key>CFBundleExecutable</key><string>Paper</string>
      """)
    try Data(list.utf8).write(to: URL(fileURLWithPath: app + "/Contents/Info.plist"))
    let claims = Fixture.list("<key>com.apple.security.network.client</key><true/>")
    try Data(claims.utf8).write(to: URL(fileURLWithPath: app + "/Contents/archived-expanded-entitlements.xcent"))
    #expect(
      failure(URL(fileURLWithPath: app))
        == .executableMissing(path: app + "/Contents/MacOS/Paper", key: "CFBundleExecutable"))
    try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: app + "/Contents/MacOS/Paper"))
    #expect(unsafe chmod(app + "/Contents/MacOS/Paper", 0o755) == 0)
    let bundle = try AppBundle(contentsOf: URL(fileURLWithPath: app))
    #expect(bundle.executable == "Contents/MacOS/Paper" && bundle.entitlements.networkClient)
    #expect(bundle.executableURL.path == app + "/Contents/MacOS/Paper")
  }

  @Test func `the name and version of the manifest are read, and keys of a real app do no harm`() throws {
    let app = try folder.app(
      plist: Fixture.list(
        """
        <key>CFBundleIdentifier</key><string>org.example.notes</string>
        <key>CFBundleExecutable</key><string>run.sh</string>
        <key>CFBundleName</key><string>Notes &amp; Ideas</string>
        <key>CFBundleVersion</key><string>1.2.3</string>
        <key>LSRequiresIPhoneOS</key><true/>
        <key>UIDeviceFamily</key><array><integer>1</integer></array>
        <key>CFBundleDocumentTypes</key><array><dict><key>CFBundleTypeName</key><string>Text</string></dict></array>
        """), executable: "run.sh")
    let manifest = try AppBundle(contentsOf: app).manifest
    #expect(manifest.name == "Notes & Ideas")
    #expect(manifest.version == "1.2.3")
    #expect(manifest.executable == "run.sh")
  }

  @Test func `a binary property list reads as the XML one does`() throws {
    let app = try folder.app()
    let xml = try AppBundle(contentsOf: app)
    let values = try unsafe PropertyListSerialization.propertyList(from: Data(Fixture.plist.utf8), format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    #expect(binary.starts(with: Data("bplist".utf8)))
    try binary.write(to: app.appendingPathComponent("Info.plist"))
    #expect(try AppBundle(contentsOf: app) == xml)
  }

  @Test func `a byte order mark and leading space before the XML are taken`() throws {
    #expect(try AppBundle(contentsOf: folder.app(plist: "\u{FEFF}" + Fixture.plist)).name == "Notes.app")
  }

  @Test func `a relative path, a slash at the end and a link to the folder mean the folder itself`() throws {
    let app = try folder.app()
    let expected = try AppBundle(contentsOf: app)
    let link = folder.url.appendingPathComponent("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: app)
    let base = URL(fileURLWithPath: folder.path, isDirectory: true)
    #expect(try AppBundle(contentsOf: link) == expected)
    #expect(try AppBundle(contentsOf: URL(fileURLWithPath: app.path + "/")) == expected)
    #expect(try AppBundle(contentsOf: URL(fileURLWithPath: app.path + "/.")) == expected)
    #expect(try AppBundle(contentsOf: URL(fileURLWithPath: "Notes.app", relativeTo: base)) == expected)
    #expect(expected.url.path.hasPrefix("/"))
  }

  @Test func `entitlements are read, and the unknown ones listed`() throws {
    let app = try folder.app(
      entitlements: Fixture.list(
        """
        <key>com.apple.security.network.client</key><true/>
        <key>com.apple.security.network.server</key><false/>
        <key>com.apple.security.files.user-selected.executable</key><true/>
        <key>com.apple.security.print</key><true/>
        <key>com.apple.security.assets.pictures.read-only</key><integer>1</integer>
        """))
    #expect(
      try AppBundle(contentsOf: app).entitlements
        == Entitlements(
          networkClient: true, networkServer: false, executePicked: true,
          unknown: ["com.apple.security.assets.pictures.read-only", "com.apple.security.print"]))
  }

  @Test func `packages are what is declared to be one, directly or by what is declared besides`() throws {
    func type(_ identifier: String, _ conforms: String, _ extensions: String) -> String {
      """
      <dict><key>UTTypeIdentifier</key><string>\(identifier)</string><key>UTTypeConformsTo</key>\(conforms)
      <key>UTTypeTagSpecification</key><dict><key>public.filename-extension</key>\(extensions)</dict></dict>
      """
    }
    let app = try folder.app(
      plist: Fixture.list(
        """
        <key>CFBundleIdentifier</key><string>org.example.notes</string><key>CFBundleExecutable</key><string>Notes</string>
        <key>UTExportedTypeDeclarations</key><array>
        \(type("org.example.book.shelf", "<string>org.example.book</string>", "<string>shelf</string>"))
        \(type("org.example.book", "<array><string>public.content</string><string>com.apple.package</string></array>",
          "<array><string>book</string><string>notebook</string></array>"))
        \(type("org.example.text", "<array><string>public.text</string></array>", "<string>note</string>"))
        \(type("org.example.loop", "<string>org.example.loop</string>", "<string>loop</string>"))
        <integer>7</integer></array>
        <key>UTImportedTypeDeclarations</key><array>
        \(type("com.other.rich", "<string>com.apple.rtfd</string>", "<string>rich</string>"))
        </array>
        <key>CFBundleDocumentTypes</key><array>
        <dict><key>LSTypeIsPackage</key><true/><key>CFBundleTypeExtensions</key><array><string>old</string></array></dict>
        <dict><key>LSTypeIsPackage</key><false/><key>CFBundleTypeExtensions</key><array><string>txt</string></array></dict>
        </array>
        """))
    #expect(try AppBundle(contentsOf: app).manifest.packageTypes == ["book", "notebook", "old", "rich", "shelf"])
    #expect(try AppBundle(contentsOf: try folder.app("Other.app")).manifest.packageTypes == [])
  }

  @Test func `related items are declared by extension, or by a content type that the app declares`() throws {
    let app = try folder.app(
      plist: Fixture.list(
        """
        <key>CFBundleIdentifier</key><string>org.example.player</string><key>CFBundleExecutable</key><string>Notes</string>
        <key>UTImportedTypeDeclarations</key><array>
        <dict><key>UTTypeIdentifier</key><string>org.example.cue</string><key>UTTypeTagSpecification</key>
        <dict><key>public.filename-extension</key><array><string>cue</string></array></dict></dict>
        </array>
        <key>CFBundleDocumentTypes</key><array>
        <dict><key>CFBundleTypeExtensions</key><array><string>mov</string></array></dict>
        <dict><key>NSIsRelatedItemType</key><true/><key>CFBundleTypeExtensions</key><array><string>srt</string></array></dict>
        <dict><key>NSIsRelatedItemType</key><string>YES</string>
        <key>LSItemContentTypes</key><array><string>org.example.cue</string><string>public.text</string></array></dict>
        <dict><key>NSIsRelatedItemType</key><false/><key>CFBundleTypeExtensions</key><array><string>key</string></array></dict>
        <dict><key>NSIsRelatedItemType</key><true/></dict>
        </array>
        """))
    #expect(try AppBundle(contentsOf: app).manifest.relatedTypes == ["cue", "srt"])
    #expect(try AppBundle(contentsOf: try folder.app("Other.app")).manifest.relatedTypes == [])
  }

  // MARK: - What can be wrong

  @Test func `nothing at the path is said so, and ends as a missing command does`() {
    let app = folder.url.appendingPathComponent("Notes.app")
    #expect(message(app) == "There is no app at TMP/Notes.app: check the path.")
    #expect(failure(app)?.exitStatus == 127)
  }

  @Test func `a file, and a folder of another name, are no bundles`() throws {
    try Data().write(to: folder.url.appendingPathComponent("File.app"))
    #expect(
      message(folder.url.appendingPathComponent("File.app"))
        == "TMP/File.app is not an app bundle: expected a folder called Name.app, found a file.")
    #expect(
      message(try folder.app("Notes"))
        == "TMP/Notes is not an app bundle: expected a folder called Name.app, found a folder called \"Notes\".")
    #expect(
      failure(try folder.app(".app")) == .notABundle(path: folder.path + "/.app", found: "a folder called \".app\""))
    #expect(failure(folder.url)?.exitStatus == 125)
  }

  @Test func `a missing manifest is named`() throws {
    #expect(
      message(try folder.app(plist: nil))
        == "TMP/Notes.app/Info.plist is missing: an app bundle needs an Info.plist with CFBundleIdentifier and "
        + "CFBundleExecutable. Add one.")
  }

  @Test(arguments: [
    ("", "it is empty"),
    ("hello", "it begins with neither \"bplist\" nor \"<\""),
    ("{ CFBundleIdentifier = a; CFBundleExecutable = Notes; }", "it begins with neither \"bplist\" nor \"<\""),
    ("((((((((((", "it begins with neither \"bplist\" nor \"<\""),
    ("bplist00", "it begins as a binary one and is damaged: expected at least 40 bytes, and it has 8"),
    ("bplist00 (not one)", ""),
    ("<plist><dict><key>a</key></dict></plist>", "line 1, a: expected a value after its key, and found none"),
    ("<html></html>", "line 1: expected a value, and found <html>, which property lists do not have"),
    ("<plist version=\"1.0\">", "line 1: expected a value in <plist>, and the file ends"),
    ("<plist><array/></plist>", "at its top is an array"),
    ("<plist><string>a</string></plist>", "at its top is a string"),
    ("<plist><true/></plist>", "at its top is a boolean"),
    ("<plist><integer>1</integer></plist>", "at its top is a number"),
  ])
  func `a manifest that is no property list is refused with the reason`(text: String, reason: String) throws {
    let error = failure(try folder.app(plist: text))
    guard case .notAPropertyList(let path, let found) = error else {
      Issue.record("\(text): \(String(describing: error))")
      return
    }
    #expect(path == folder.path + "/Notes.app/Info.plist")
    if !reason.isEmpty { #expect(found == reason) }
    #expect(error?.description.hasSuffix(". Mend or replace the file.") == true)
    #expect(error?.exitStatus == 125)
  }

  @Test func `a manifest nested without end is an error and no crash`() throws {
    let deep = String(repeating: "<array>", count: 50_000) + String(repeating: "</array>", count: 50_000)
    guard case .notAPropertyList = failure(try folder.app(plist: "<plist>\(deep)</plist>")) else {
      Issue.record("taken")
      return
    }
  }

  @Test func `a manifest larger than any is refused unread`() throws {
    #expect(
      message(try folder.app(plist: Fixture.plist + String(repeating: " ", count: 1 << 20)))
        == "TMP/Notes.app/Info.plist cannot be read: it is larger than 1 MiB, which no manifest is.")
  }

  @Test func `a manifest that is a link, a folder or a pipe is refused and not waited for`() throws {
    let app = try folder.app(plist: nil)
    let file = app.appendingPathComponent("Info.plist")
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/etc/hostname")
    #expect(
      message(app) == "TMP/Notes.app/Info.plist cannot be read: expected a regular file, found a symbolic link.")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(message(app) == "TMP/Notes.app/Info.plist cannot be read: expected a regular file, found a folder.")
    try FileManager.default.removeItem(at: file)
    try #require(unsafe mkfifo(file.path, 0o600) == 0)
    #expect(
      message(app)
        == "TMP/Notes.app/Info.plist cannot be read: expected a regular file, found a pipe, socket or device.")
  }

  @Test(arguments: [
    (
      "<key>CFBundleExecutable</key><string>Notes</string>",
      "has no CFBundleIdentifier: expected a string such as \"org.example.notes\". Add the key."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string>",
      "has no CFBundleExecutable: expected a string such as \"Notes\". Add the key."
    ),
    (
      "<key>CFBundleIdentifier</key><integer>1</integer>",
      ": CFBundleIdentifier must be a string, and is a number. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><true/>",
      ": CFBundleIdentifier must be a string, and is a boolean. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><array/>",
      ": CFBundleExecutable must be a string, and is an array. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>Notes</string>"
        + "<key>CFBundleName</key><dict/>",
      ": CFBundleName must be a string, and is a dictionary. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>Notes</string>"
        + "<key>CFBundleName</key><string></string>",
      ": CFBundleName cannot be \"\": it is empty; leave the key out or give it a value. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>Notes</string>"
        + "<key>CFBundleName</key><string>a\u{202E}b</string>",
      ": CFBundleName cannot be \"a\\u{202e}b\": it has control characters. Change the value."
    ),
    (
      "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>Notes</string>"
        + "<key>CFBundleVersion</key><real>1.5</real>",
      ": CFBundleVersion must be a string, and is a number. Change the value."
    ),
  ])
  func `a key that is missing or of another type is named with what was expected`(body: String, rest: String) throws {
    let separator = rest.hasPrefix(":") ? "" : " "
    #expect(message(try folder.app(plist: Fixture.list(body))) == "TMP/Notes.app/Info.plist\(separator)\(rest)")
  }

  @Test(arguments: [
    ("../Notes", "it has a '/', and the name of a file in the bundle is wanted"),
    ("bin/Notes", "it has a '/', and the name of a file in the bundle is wanted"),
    ("/bin/sh", "it has a '/', and the name of a file in the bundle is wanted"),
    ("..", "that is a folder, and the name of a file in the bundle is wanted"),
    (".", "that is a folder, and the name of a file in the bundle is wanted"),
    ("", "it is empty"),
  ])
  func `an executable cannot be outside the bundle`(name: String, problem: String) throws {
    let app = try folder.app(plist: Fixture.list(identifier: "a.b", executable: name))
    #expect(
      message(app)
        == "TMP/Notes.app/Info.plist: CFBundleExecutable cannot be \"\(name)\": \(problem). Change the value.")
    #expect(failure(app)?.exitStatus == 125)
  }

  @Test func `a missing executable ends with 127, one that cannot be run with 126`() throws {
    let missing = try folder.app("A.app", executable: nil)
    #expect(
      message(missing)
        == "TMP/A.app/Notes is missing: CFBundleExecutable in the Info.plist beside it names it. Build or copy the "
        + "program there, or change the key.")
    #expect(failure(missing)?.exitStatus == 127)

    let plain = try folder.app("B.app", mode: 0o644)
    #expect(message(plain) == "TMP/B.app/Notes is not executable (its mode is 0644): run chmod +x on it.")
    #expect(failure(plain) == .notExecutable(path: folder.path + "/B.app/Notes", mode: 0o644))
    #expect(failure(plain)?.exitStatus == 126)

    let nested = try folder.app("C.app", executable: nil)
    try FileManager.default.createDirectory(
      at: nested.appendingPathComponent("Notes"), withIntermediateDirectories: false)
    #expect(
      message(nested)
        == "TMP/C.app/Notes cannot be run: expected a regular file, found a folder. Copy the program into the bundle "
        + "under that name.")
    #expect(failure(nested)?.exitStatus == 126)

    let linked = try folder.app("D.app", executable: nil)
    try FileManager.default.createSymbolicLink(
      atPath: linked.path + "/Notes", withDestinationPath: "/bin/sh")
    #expect(
      failure(linked) == .executableNotAFile(path: folder.path + "/D.app/Notes", found: "a symbolic link"))
  }

  @Test(arguments: [0o100, 0o010, 0o001, 0o755, 0o511])
  func `any execute bit makes a file executable`(mode: Int) throws {
    #expect(failure(try folder.app(mode: mode)) == nil)
  }

  @Test(arguments: [0o000, 0o444, 0o666, 0o4644])
  func `a file without one is not executable`(mode: Int) throws {
    #expect(failure(try folder.app(mode: mode))?.exitStatus == 126)
  }

  @Test func `a bundle cannot take the identifier of a plain program`() throws {
    #expect(
      message(try folder.app(plist: Fixture.list(identifier: "program.vim")))
        == "TMP/Notes.app/Info.plist: CFBundleIdentifier cannot be \"program.vim\": identifiers that begin with "
        + "\"program.\" are kept for plain programs. Change the value.")
  }

  @Test func `a bundle cannot take the identifier of an app that is not the one it says`() throws {
    #expect(
      message(try folder.app(plist: Fixture.list(identifier: "another.io.ambit.Ed-0f0f0f0f0f0f")))
        == "TMP/Notes.app/Info.plist: CFBundleIdentifier cannot be \"another.io.ambit.Ed-0f0f0f0f0f0f\": identifiers that begin with "
        + "\"another.\" are kept for apps that are not the ones they say. Change the value.")
  }

  @Test func `a bad identifier is refused with the rule that it breaks`() throws {
    #expect(
      message(try folder.app(plist: Fixture.list(identifier: "../../etc")))
        == "TMP/Notes.app/Info.plist: CFBundleIdentifier cannot be \"../../etc\": it has the character \"/\", and only "
        + "A-Z, a-z, 0-9, '.' and '-' are allowed. Change the value.")
  }

  @Test func `an entitlement that is no boolean is refused, the number 1 too`() throws {
    for (value, found) in [("<integer>1</integer>", "a number"), ("<string>true</string>", "a string")] {
      let app = try folder.app(
        entitlements: Fixture.list("<key>com.apple.security.network.client</key>\(value)"))
      #expect(
        message(app)
          == "TMP/Notes.app/Entitlements.plist:3: com.apple.security.network.client must be a boolean, and is \(found). "
          + "Write <true/> or <false/>: what claims rights is not guessed at, and the App Store refuses such an app as well."
      )
    }
    #expect(failure(try folder.app(entitlements: "x"))?.description.contains("Entitlements.plist") == true)
  }

  @Test func `no damage to a manifest crashes the reader`() throws {
    var random = Seeded(seed: 41)
    let values = try unsafe PropertyListSerialization.propertyList(from: Data(Fixture.plist.utf8), format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    let app = try folder.app()
    let file = app.appendingPathComponent("Info.plist")
    var taken = 0
    for round in 0..<4000 {
      var bytes = round.isMultiple(of: 2) ? Array(binary) : Array(Fixture.plist.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.remove(at: at)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        }
      }
      try Data(bytes).write(to: file)
      do {
        let bundle = try AppBundle(contentsOf: app)
        // What is taken has to keep the rules, however it came about.
        #expect(BundleIdentifier.check(bundle.manifest.bundleIdentifier) == nil)
        #expect(bundle.manifest.executable == "Notes")
        taken += 1
      } catch {
        #expect(error.description.contains("Notes.app/"))
      }
    }
    #expect(taken > 0, "the damage must leave some manifests whole, or this shows nothing")
  }
}
