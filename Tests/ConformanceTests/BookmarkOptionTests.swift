import Foundation
import TestSupport
import Testing

/// Group E of the catalogue: what is stored with a bookmark.
@Suite(.serialized, .waiting)
struct BookmarkOptionTests {
  private func make(_ app: AppRun, _ options: [String], _ more: [String: JSON] = [:]) throws -> JSON {
    try app.tell(
      "bookmark", ["of": "a", "options": .array(options.map { .string($0) })].merging(more) { _, more in more })
  }

  @Test(arguments: TestUser.inTurn([false, true]))
  func `BMK-9, BMK-22: each value is what stat said when the bookmark was made, whatever became of the document`(
    user: TestUser, isFolder: Bool
  ) throws {
    try Workspace.with(user) { world in
      let file = try world.document("Papers/Folder/letter.md", "some text")
      let document = isFolder ? "\(world.home)/Papers/Folder" : file
      let app = try world.probe(picks: [document])
      try app.pick(isFolder ? ["kind": "folder", "readOnly": true] : [:])
      #expect(try app.start())
      func stat() throws -> [Double] {
        let outcome = try world.run(["/usr/bin/stat", "-c", "%s %.9W %.9Y", document])
        return outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
      }
      let before = try stat()
      try #require(before.count == 3 && before[1] > 0, "\(before)")
      let names = [
        "Name", "LocalizedName", "Path", "IsDirectory", "IsRegularFile", "IsPackage", "IsWritable", "FileSize",
        "CreationDate", "ContentModificationDate", "TypeIdentifier", "VolumeName",
      ]
      let keys = JSON.array(names.map { .string("NSURL\($0)Key") })
      let made = try make(app, ["withSecurityScope"], ["keys": keys])
      let bookmark = try #require(made["bookmark"]?.string, "\(made.text)")
      let poor = try #require(try make(app, ["withSecurityScope"])["bookmark"]?.string)
      let minimal = try #require(try make(app, ["minimalBookmark"], ["keys": keys])["bookmark"]?.string)
      #expect(minimal.count < poor.count && poor.count < bookmark.count)
      let path = try #require(try app.tell("copy", ["of": "a"])["path"])
      try world.write("another text, and a longer one", to: file)
      try world.write("new", to: "\(world.home)/Papers/Folder/new.txt")
      #expect(try stat() != before)

      func values(_ bookmark: String) throws -> JSON {
        try app.tell("values", ["bookmark": .string(bookmark), "keys": keys])
      }
      let known = try values(bookmark)
      func value(_ name: String) -> JSON? { known["NSURL\(name)Key"] }
      func isTime(_ name: String, _ expected: Double) -> Bool {
        guard case .number(let seconds)? = value(name) else { return false }
        return abs(seconds - expected) < 1e-5
      }
      #expect(value("Name")?.string == (document as NSString).lastPathComponent && value("Path") == path)
      #expect(value("IsDirectory") == .bool(isFolder) && value("IsRegularFile") == .bool(!isFolder))
      #expect(value("IsPackage") == false && value("IsWritable") == .bool(!isFolder))
      #expect(value("FileSize")?.int == (isFolder ? nil : Int(before[0])))
      #expect(isTime("CreationDate", before[1]) && isTime("ContentModificationDate", before[2]), "\(known.text)")
      let type = isFolder ? "public.folder" : "net.daringfireball.markdown"
      #expect(value("TypeIdentifier")?.string == type, "\(known.text)")
      #expect(value("VolumeName")?.string?.isEmpty == false)
      #expect(!known.text.contains(world.home))
      // One key asked for is one key answered.
      for name in ["Name", "FileSize", "CreationDate"] {
        let one = try app.tell("values", ["bookmark": .string(bookmark), "keys": .array([.string("NSURL\(name)Key")])])
        #expect(one == .object(known.object?.filter { $0.key == "NSURL\(name)Key" } ?? [:]), "\(one.text)")
      }
      // Those that were not asked for, or had no room, are not there.
      for bookmark in [poor, minimal] {
        let known = try values(bookmark)
        #expect(known["NSURLNameKey"] == value("Name") && known["NSURLPathKey"] == path)
        #expect(known["NSURLFileSizeKey"] == nil && known["NSURLContentModificationDateKey"] == nil)
      }
      try FileManager.default.removeItem(atPath: document)
      #expect(try values(bookmark) == known)
      let gone = try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
      #expect(gone["code"] == 4 && gone["sentence"]?.string?.contains("last seen at \(path.string ?? "-")") == true)
      // Of a web address nothing is known but the address.
      _ = try app.tell("fromString", ["string": "https://example.org/a?b=c", "as": "a"])
      let page = try #require(try make(app, ["withSecurityScope"], ["keys": keys])["bookmark"]?.string)
      #expect(try values(page) == .object([:]))
    }
  }
}
