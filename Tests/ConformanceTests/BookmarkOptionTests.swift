import Audit
import Foundation
import TestSupport
import Testing

/// Group E of the catalogue: who may resolve a bookmark, and with which rights.
@Suite(.serialized, .waiting)
struct BookmarkOptionTests {
  private func make(_ app: AppRun, _ options: [String], _ more: [String: JSON] = [:]) throws -> JSON {
    try app.tell(
      "bookmark", ["of": "a", "options": .array(options.map { .string($0) })].merging(more) { _, more in more })
  }

  private func resolve(_ app: AppRun, _ bookmark: String, _ more: [String: JSON] = [:]) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"].merging(more) { _, more in more })
  }

  /// An app that has picked `letter.txt` and started its scope.
  private func withDocument(
    _ user: TestUser, picks: [String] = [], _ body: (Workspace, AppRun, _ document: String) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document] + (try picks.map { try world.document($0, $0) }))
      try app.pick()
      #expect(try app.start())
      try body(world, app, document)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-8: an implicit bookmark opens the document to another app, with a grant of its own and no more rights`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick(["readOnly": true])
      #expect(try app.start())
      let implicit = try #require(try make(app, [])["bookmark"]?.string)
      let without = try #require(try make(app, ["withoutImplicitSecurityScope"])["bookmark"]?.string)
      let scoped = try #require(try make(app, ["withSecurityScope"])["bookmark"]?.string)
      #expect(try app.finish() == .status(0))

      let other = try world.probe("Other")
      for closed in [without, scoped] {
        #expect(try resolve(other, closed)["code"] == 259)
        #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-4")
      }
      #expect(try world.audit(.grant).count == 1)
      let found = try resolve(other, implicit)
      #expect(found["started"] == true)
      #expect(try other.read("b").content == "text")
      #expect(try other.tell("append", ["of": "b", "text": "+"]).errno == "EROFS")
      let grants = try world.audit(.grant)
      #expect(grants.map(\.app) == [Workspace.identifier("Probe"), Workspace.identifier("Other")])
      #expect(grants.last?.how == "bookmark")
      #expect(grants.last?.detail["from"] == Workspace.identifier("Probe"))
      #expect(grants.last?.detail[AuditEvent.Fact.access] == "readOnly")
      // A second time it is the same grant.
      _ = try resolve(other, implicit)
      #expect(try world.audit(.grant).count == 2)
      // Another app's policy follows for that app alone: the maker's grant stays with the file that it was for.
      try world.write("second version", to: "\(document).new")
      try world.rename("\(document).new", to: document)
      #expect(try other.finish() == .status(0))
      let third = try world.probe("Third")
      #expect(try resolve(third, implicit)["matchedBy"] == "path")
      #expect(try third.read("b").content == "second version")
      #expect(try world.audit(.replaced).allSatisfy { $0.app != Workspace.identifier("Probe") })
      let strict = try world.probe(options: ["--policy", "apple-identity"])
      #expect(try resolve(strict, scoped).url == nil)
      // And the app that made it opens all of them.
      let own = try world.probe()
      for bookmark in [implicit, without, scoped] { #expect(try resolve(own, bookmark).url != nil) }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `LIM-7: resolving an implicit bookmark takes a slot, unless told not to, and a stop gives it back`(
    user: TestUser
  ) throws {
    try withDocument(user) { (world, app, _) throws in
      let implicit = try #require(try make(app, [])["bookmark"]?.string)
      let scoped = try #require(try make(app, ["withSecurityScope"])["bookmark"]?.string)
      let next = try world.probe()
      func used() throws -> JSON? { try next.tell("status")["used"] }
      #expect(try resolve(next, scoped)["started"] == false)
      #expect(try used() == 0)
      let quiet: [String: JSON] = ["options": .array(["withoutImplicitStartAccessing"])]
      #expect(try resolve(next, implicit, quiet)["started"] == false)
      #expect(try used() == 0)
      #expect(try next.read("b").errno == refused)
      #expect(try resolve(next, implicit)["started"] == true)
      #expect(try used() == 1)
      #expect(try next.read("b").content == "text")
      #expect(try world.audit(.start).last?.how == "bookmark")
      try next.stop("b")
      #expect(try used() == 0)
      #expect(try next.read("b").errno == refused)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `LIM-1, LIM-7: with every slot taken an implicit bookmark resolves, and is not started`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let documents = try (0..<9).map { try world.document("\($0).txt", "text") }
      let app = try world.probe(picks: documents, options: ["--policy", "teach"])
      var bookmark = ""
      for index in documents.indices {
        try app.pick(as: "a\(index)")
        #expect(try app.start("a\(index)") == (index < 8))
        if index == 0 { bookmark = try #require(try make(app, [], ["of": "a0"])["bookmark"]?.string) }
      }
      // Its own document is started already: that nests, and needs no slot.
      #expect(try resolve(app, bookmark)["started"] == true)
      try app.stop("b")
      try app.stop("a0")
      #expect(try app.start("a8"))
      let found = try resolve(app, bookmark)
      #expect(found["started"] == false && found.url != nil)
      #expect(try world.audit(.start).last?.rule == "LIM-1")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-5: a bookmark made relative to a document opens for whoever has that document, and for nobody else`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (letter, index) = (try world.document("letter.txt", "text"), try world.document("index.txt", "index"))
      let stranger = try world.document("stranger.txt", "stranger")
      let app = try world.probe(picks: [letter, index])
      try app.pick(as: "a")
      try app.pick(as: "doc")
      #expect(try app.start())
      // Neither document may be closed when it is made.
      #expect(try make(app, ["withSecurityScope"], ["relativeTo": "doc"])["bookmark"] == nil)
      #expect(try app.start("doc"))
      let bookmark = try #require(try make(app, ["withSecurityScope"], ["relativeTo": "doc"])["bookmark"]?.string)
      #expect(try app.finish() == .status(0))

      let other = try world.probe("Other", picks: [stranger, index])
      try other.pick(as: "stranger")
      for more in [[:], ["relativeTo": "stranger"]] as [[String: JSON]] {
        let answer = try resolve(other, bookmark, more)
        #expect(answer.url == nil && answer["posix"] == "EPERM")
        #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-5")
      }
      #expect(try world.audit(.grant).count == 3)
      try other.pick(as: "doc")
      let found = try resolve(other, bookmark, ["relativeTo": "doc"])
      #expect(found["name"] == "letter.txt")
      #expect(found["started"] == false)
      #expect(try other.start("b"))
      #expect(try other.read("b").content == "text")
      #expect(try world.audit(.grant).last?.how == "bookmark")
      #expect(try other.finish() == .status(0))

      // A program that keeps bookmarks in its documents saves them anew.
      try world.write("index, second version", to: "\(index).new")
      try world.rename("\(index).new", to: index)
      let third = try world.probe("Third", picks: [index])
      try third.pick(as: "doc")
      #expect(try resolve(third, bookmark, ["relativeTo": "doc"])["name"] == "letter.txt")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-5: without the document that it was made relative to a bookmark opens for nobody, nor for its maker`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (letter, index) = (try world.document("letter.txt", "text"), try world.document("index.txt", "index"))
      let app = try world.probe(picks: [letter, index])
      try app.pick(as: "a")
      try app.pick(as: "doc")
      #expect(try app.start() && app.start("doc"))
      let bookmark = try #require(try make(app, ["withSecurityScope"], ["relativeTo": "doc"])["bookmark"]?.string)
      let relative: [String: JSON] = ["relativeTo": "doc"]
      // The control: with the document it opens for both.
      #expect(try resolve(app, bookmark, relative)["name"] == "letter.txt")
      let other = try world.probe("Other", picks: [index, index])
      try other.pick(as: "doc")
      #expect(try resolve(other, bookmark, relative)["name"] == "letter.txt")
      #expect(try other.start("b"))
      #expect(try other.read("b").content == "text")
      try other.stop("b")

      #expect(try world.ambit("revoke", "--document", index).exit == .status(0))
      for (each, name) in [(app, "Probe"), (other, "Other")] {
        for more in [relative, [:]] {
          let answer = try resolve(each, bookmark, more)
          #expect(answer.url == nil && answer["posix"] == "EPERM", "\(name): \(answer.text)")
          let refusal = try #require(try world.audit(.bookmarkResolved).last)
          #expect(refusal.result == .refused && refusal.rule == "BMK-5", "\(name): \(refusal)")
          #expect(refusal.app == Workspace.identifier(name))
        }
      }
      // Picked anew it is the document again.
      try other.pick(as: "doc")
      #expect(try resolve(other, bookmark, relative)["name"] == "letter.txt")
      #expect(try resolve(app, bookmark, relative).url == nil)
      #expect(try app.finish() == .status(0))
      // The maker's next launch, which has nothing of it.
      let next = try world.probe()
      #expect(try resolve(next, bookmark)["posix"] == "EPERM")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-19: the bookmark of a web address holds the address`(user: TestUser) throws {
    try withDocument(user, picks: ["doc.txt"]) { (world, app, _) throws in
      _ = try app.tell("fromString", ["string": "https://example.org/a?b=c", "as": "a"])
      let bookmark = try #require(
        try make(app, ["withSecurityScope", "minimalBookmark"], ["keys": .array(["NSURLNameKey"])])["bookmark"]?.string)
      let other = try world.probe("Other")
      #expect(try resolve(other, bookmark).url == "https://example.org/a?b=c")
      // Nothing is known of it but the address; and no document stands between.
      let keys = JSON.array(["NSURLNameKey", "NSURLPathKey", "NSURLFileSizeKey", "NSURLIsDirectoryKey"])
      #expect(try other.tell("values", ["bookmark": .string(bookmark), "keys": keys]) == .object([:]))
      try app.pick(as: "doc")
      #expect(try app.start("doc"))
      let relative = try #require(
        try make(app, ["withSecurityScope"], ["relativeTo": "doc"])["bookmark"]?.string)
      for each in [bookmark, relative] {
        for more in [[:], ["relativeTo": "doc"]] as [[String: JSON]] {
          #expect(try resolve(app, each, more).url == "https://example.org/a?b=c")
        }
        #expect(try resolve(other, each).url == "https://example.org/a?b=c")
      }
      #expect(try world.audit(.bookmarkCreated).isEmpty && world.audit(.bookmarkResolved).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-9, BMK-22: values can be read without resolving, also when the document is gone`(user: TestUser) throws {
    try withDocument(user) { (world, app, document) throws in
      let keys = JSON.array([
        "NSURLNameKey", "NSURLPathKey", "NSURLFileSizeKey", "NSURLIsDirectoryKey", "NSURLContentModificationDateKey",
        "NSURLTypeIdentifierKey", "NSURLVolumeNameKey",
      ])
      let full = try #require(try make(app, ["withSecurityScope"], ["keys": keys])["bookmark"]?.string)
      let poor = try #require(try make(app, ["withSecurityScope"])["bookmark"]?.string)
      let minimal = try #require(try make(app, ["minimalBookmark"], ["keys": keys])["bookmark"]?.string)
      #expect(minimal.count < poor.count && poor.count < full.count)
      let path = try #require(try app.tell("resolve", ["bookmark": .string(full), "as": "b"])["path"])
      try FileManager.default.removeItem(atPath: document)
      #expect(try resolve(app, full)["code"] == 4)
      #expect(try resolve(app, full)["sentence"]?.string?.contains("last seen at \(path.string ?? "-")") == true)
      #expect(try world.audit(.bookmarkResolved).last?.reason?.contains("last seen at \(document)") == true)

      func values(_ bookmark: String, _ app: AppRun) throws -> JSON {
        try app.tell("values", ["bookmark": .string(bookmark), "keys": keys])
      }
      let known = try values(full, app)
      #expect(known["NSURLNameKey"] == "letter.txt")
      #expect(known["NSURLPathKey"] == path)
      #expect(known["NSURLFileSizeKey"] == 4)
      #expect(known["NSURLIsDirectoryKey"] == false)
      #expect(known["NSURLTypeIdentifierKey"] == "public.plain-text")
      #expect(known["NSURLContentModificationDateKey"] != nil)
      #expect(known["NSURLVolumeNameKey"]?.string?.contains("/") == false || known["NSURLVolumeNameKey"] == "/")
      for bookmark in [poor, minimal] {
        let known = try values(bookmark, app)
        #expect(known["NSURLNameKey"] == "letter.txt" && known["NSURLPathKey"] != nil)
        #expect(known["NSURLFileSizeKey"] == nil)
      }
      // What another app may not resolve it may not read either, and nothing of the host is told.
      #expect(try values(full, try world.probe("Other"))["none"] == true)
      #expect(!known.text.contains(world.home))
      #expect(Data(base64Encoded: full)?.range(of: Data("letter".utf8)) == nil)
    }
  }

  @Test(arguments: TestUser.all, [false, true])
  func `BMK-22: each value is what stat said when the bookmark was made, whatever became of the document`(
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
      let path = try #require(try app.tell("copy", ["of": "a"])["path"])
      try world.write("another text, and a longer one", to: file)
      try world.write("new", to: "\(world.home)/Papers/Folder/new.txt")
      #expect(try stat() != before)

      let known = try app.tell("values", ["bookmark": .string(bookmark), "keys": keys])
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
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-20: 10,000 bookmarks changed and cut at random are refused, and the broker goes on`(user: TestUser) throws {
    try withDocument(user) { (world, app, _) throws in
      let whole = try #require(Data(base64Encoded: try app.bookmark()))
      let broker = try #require(try world.brokerProcess())
      var generator = Seeded(seed: 20)
      for _ in 0..<10_000 {
        var bytes = Data(whole.prefix(Int.random(in: 1...whole.count, using: &generator)))
        for _ in 0..<Int.random(in: bytes.count == whole.count ? 1...4 : 0...4, using: &generator) {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= .random(in: 1...255, using: &generator)
        }
        if bytes == whole { continue }
        let answer = try resolve(app, bytes.base64EncodedString())
        guard answer.url == nil, answer["code"] == 259 else {
          Issue.record("\(bytes.base64EncodedString()): \(answer.text)")
          break
        }
      }
      #expect(try resolve(app, whole.base64EncodedString()).url != nil)
      #expect(try world.brokerProcess() == broker)
    }
  }
}
