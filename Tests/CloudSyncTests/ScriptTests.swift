import Foundation
import Testing

/// Each file in `Scripts` shows one rule. With `AMBIT_REWRITE=1` the states in the files are written anew; look at the difference.
@Suite struct ScriptTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts")

  static var scripts: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".txt") }.sorted()
  }

  @Test func thereAreManyScripts() { #expect(Self.scripts.count >= 25) }

  @Test(arguments: scripts) func script(_ name: String) throws {
    let file = Self.folder.appending(path: name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let played = try Script.play(text)
    if ProcessInfo.processInfo.environment["AMBIT_REWRITE"] != nil {
      try played.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(played == text)
  }
}
