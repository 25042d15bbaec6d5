import Foundation
import PickerUI
import Testing

@testable import WebPicker

/// The page as a value: harmless whatever names say, and a form that says what it means.
struct PickerPageTests {
  private let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    .appendingPathComponent("page-\(UUID().uuidString)").path

  private func page(_ names: [String], _ change: (inout PickerRequest) -> Void = { _ in }) throws -> String {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in names { try "words".write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8) }
    var request = PickerRequest(appName: "<i>App</i>", message: "\" onclick=x", types: ["txt"], startFolder: folder)
    change(&request)
    let listing = try PickerListing(request, at: .folder(folder)) { _ in nil }
    return PickerPage(request, base: "/secret/").folder(listing)
  }

  @Test("names and words of an app are text on the page, and nothing else") func hostileNames() throws {
    let text = try page(["<script>x.txt", "\"><b>.txt", "line\nend.txt", "\u{202E}fdp.txt", "it's&amp;.txt"])
    #expect(!text.contains("<script"))
    #expect(!text.contains("<b>"))
    #expect(!text.contains("<i>"))
    #expect(!text.contains("\" onclick"))
    #expect(!text.contains("\u{202E}"))
    #expect(text.contains("it&#39;s&amp;amp;.txt"))
    #expect(text.components(separatedBy: "name=\"pick\"").count == 6)
  }

  @Test("PCK-7: a document of another type has a reason in place of a button") func otherTypes() throws {
    let text = try page(["letter.txt", "song.mp3"])
    #expect(text.components(separatedBy: "name=\"pick\"").count == 2)
    #expect(text.contains("song.mp3</span>"))
    #expect(text.contains("the app asks for .txt"))
  }

  @Test("PCK-8: one button of many is pressed unless the app takes several") func several() throws {
    #expect(try page(["a.txt"]).contains("type=\"radio\""))
    #expect(try page(["a.txt"]) { $0.multiple = true }.contains("type=\"checkbox\" name=\"pick\""))
  }

  @Test("PCK-18: only a browser whose app makes documents offers a new one") func creation() throws {
    #expect(try !page(["a.txt"]).contains("New document"))
    #expect(try page(["a.txt"]) { ($0.isBrowser, $0.creates) = (true, true) }.contains("New document"))
  }

  @Test("a form's fields are read as a browser writes them") func fields() {
    let fields = FormFields("at=%2Ftmp%2Fa+b&pick=1%3A2+%2Fx&pick=3&empty=&broken=%ZZ&=no")
    #expect(fields.first("at") == "/tmp/a b")
    #expect(fields.all("pick") == ["1:2 /x", "3"])
    #expect(fields.first("empty") == "")
    #expect(fields.first("broken") == nil)
  }
}
