import Foundation

/// A folder that is removed with everything in it when the last reference goes.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("ambit-appmodel-\(UUID().uuidString)").resolvingSymlinksInPath()
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var path: String { url.path }

  /// Writes an app bundle; a `nil` part is left out.
  func app(
    _ name: String = "Notes.app", plist: String? = Fixture.plist, entitlements: String? = nil,
    executable: String? = "Notes", mode: Int = 0o755
  ) throws -> URL {
    let app = url.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
    if let plist { try Data(plist.utf8).write(to: app.appendingPathComponent("Info.plist")) }
    if let entitlements { try Data(entitlements.utf8).write(to: app.appendingPathComponent("Entitlements.plist")) }
    if let executable {
      let file = app.appendingPathComponent(executable)
      try Data("#!/bin/sh\n".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
    return app
  }
}

enum Fixture {
  static let plist = list(
    """
    <key>CFBundleIdentifier</key><string>org.example.notes</string>
    <key>CFBundleExecutable</key><string>Notes</string>
    """)

  static func list(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>\(body)</dict></plist>
    """
  }

  static func list(identifier: String, executable: String = "Notes") -> String {
    list(
      "<key>CFBundleIdentifier</key><string>\(identifier)</string>"
        + "<key>CFBundleExecutable</key><string>\(executable)</string>")
  }
}
