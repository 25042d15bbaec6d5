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

  @Test("a notice stands above the list until something else has happened") func notice() throws {
    let page = try page(["a.txt"]) { $0.notice = "<The provider> did not answer." }
    #expect(page.contains("<p role=\"alert\">&lt;The provider&gt; did not answer.</p>"))
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

/// The page of actions on one file.
struct ActionPageTests {
  private let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    .appendingPathComponent("actions-\(UUID().uuidString)").path

  /// The list and the actions of one file in it.
  private func pages(_ name: String, _ change: (inout PickerRequest) -> Void) throws -> (list: String, actions: String)
  {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "words".write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
    var request = PickerRequest(appName: "App", startFolder: folder)
    change(&request)
    let listing = try PickerListing(request, at: .folder(folder)) { _ in nil }
    let row = try #require(listing.rows.first)
    let page = PickerPage(request, base: "/secret/")
    let document = try PickerListing.openForAct(row.path, file: try #require(row.file))
    return (page.folder(listing), page.actions("x y", document, at: listing.place))
  }

  @Test("a row leads to its actions, and those of an app's picker start no other app") func safeActions() throws {
    let (list, actions) = try pages("Essay.txt") { $0.acts = .safe }
    #expect(list.contains("/secret/actions?at="))
    for act in ["rename", "duplicate", "trash", "tag", "favourite", "move"] {
      #expect(actions.contains("name=\"act\" value=\"\(act)\""), "\(act)")
    }
    #expect(!actions.contains("value=\"open\"") && !actions.contains("value=\"share\""))
    #expect(actions.contains("name=\"line\" value=\"Essay.txt\""))
    #expect(try pages("Essay.txt") { $0.acts = .all }.actions.contains("value=\"open\""))
    #expect(try !pages("Essay.txt") { _ in }.list.contains("Actions"))
  }

  @Test("PCK-33: an app's actions are its words, and only for its types") func ownActions() throws {
    let own = PickerRequest.Action(
      identifier: "\"><i>", title: "<b>Count</b>", documents: true, types: ["txt"], multiple: false)
    let text = try pages("a.txt") { $0.actions = [own] }.actions
    #expect(text.contains("&lt;b&gt;Count&lt;/b&gt;, by the app") && !text.contains("<b>") && !text.contains("<i>"))
    #expect(try !pages("a.png") { $0.actions = [own] }.actions.contains("by the app"))
  }

  @Test("PCK-31: a file that has been replaced has no actions") func replaced() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/a.txt"
    try "one".write(toFile: path, atomically: false, encoding: .utf8)
    let listing = try PickerListing(PickerRequest(appName: "App", startFolder: folder), at: .folder(folder)) { _ in nil
    }
    let file = try #require(listing.rows.first?.file)
    try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/kept")
    try "two".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(throws: PickerError.self) { try PickerListing.openForAct(path, file: file) }
  }
}
