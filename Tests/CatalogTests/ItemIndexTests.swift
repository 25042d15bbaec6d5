import Foundation
import TestSupport
import Testing

@testable import Catalog

@Suite struct `The index of apps' items` {
  private let folder: TemporaryFolder
  private let index: ItemIndex

  init() throws {
    folder = try TemporaryFolder()
    index = try ItemIndex(path: "\(folder.path)/search.sqlite")
  }

  private func item(_ identifier: String, _ title: String, app: String = "org.example.a", text: String? = nil)
    -> IndexedItem
  {
    IndexedItem(app: app, identifier: identifier, domain: "d", title: title, text: text, keywords: ["sea"])
  }

  private func found(_ words: String...) throws -> [String] {
    try index.search(words, most: 10).map { "\($0.app) \($0.identifier)" }
  }

  @Test func `Items are found by the beginnings of their words, in title, text and keywords; titles first`() throws {
    try index.put([item("1", "Other", text: "holiday"), item("2", "Holiday in Brésil"), item("3", "Work")])
    #expect(try found("holi") == ["org.example.a 2", "org.example.a 1"])
    #expect(try found("bresil") == ["org.example.a 2"])
    #expect(try found("holiday", "brés") == ["org.example.a 2"])
    #expect(try found("sea").count == 3)
    #expect(try found("oliday").isEmpty)
  }

  @Test func `The same identifier is the same item, and other apps have their own`() throws {
    try index.put([item("1", "First")])
    try index.put([item("1", "Second"), item("1", "Second", app: "org.example.b")])
    #expect(try found("first").isEmpty)
    #expect(Set(try found("second")) == ["org.example.a 1", "org.example.b 1"])
    try index.delete(of: "org.example.a", identifiers: ["1"], domains: nil)
    #expect(try found("second") == ["org.example.b 1"])
    try index.delete(of: "org.example.a", identifiers: nil, domains: nil)
    #expect(try found("second") == ["org.example.b 1"])
    try index.delete(of: "org.example.b", identifiers: nil, domains: ["d"])
    #expect(try found("second").isEmpty)
  }

  @Test func `An app that indexes too much adds nothing more, and keeps what it had`() throws {
    try index.put((0..<ItemIndex.mostItems).map { item("\($0)", "Item \($0)") })
    #expect(throws: ItemIndex.Excess.items) { try index.put([item("more", "Extra")]) }
    #expect(try found("extra").isEmpty)
    #expect(try found("9999") == ["org.example.a 9999"])
  }

  @Test func `An app's texts and names have a limit together, and other apps have their own`() throws {
    let name = String(repeating: "n", count: 1 << 20)
    let count = ItemIndex.mostBytes >> 20
    try index.put([item("kept", "Kept")])
    #expect(throws: ItemIndex.Excess.bytes) { try index.put((0..<count).map { item("\($0) \(name)", "Long") }) }
    #expect(try found("long").isEmpty)
    #expect(try found("kept") == ["org.example.a kept"])
    try index.put([item(name, "Long", app: "org.example.b")])
    #expect(try found("long").count == 1)
  }

  @Test func `Nothing is written when it is no longer wanted`() throws {
    var asked = 0
    let isWanted = {
      asked += 1
      return asked < 3
    }
    #expect(throws: CancellationError.self) { try index.put((1...5).map { item("\($0)", "Item") }, while: isWanted) }
    #expect(try found("item").isEmpty)
    try index.put([item("1", "Item"), item("2", "Item")])
    #expect(throws: CancellationError.self) {
      try index.delete(of: "org.example.a", identifiers: ["1", "2"], domains: nil, while: { false })
    }
    #expect(try found("item").count == 2)
  }

  @Test(arguments: ["\"", "a\" OR title:\"b", "*", "NEAR(", "-", "", "a b", "\u{0}", "'; DROP TABLE item; --"])
  func `No word is a command`(word: String) throws {
    try index.put([item("1", "a b")])
    _ = try index.search([word], most: 10)
    #expect(try found("a") == ["org.example.a 1"])
  }

  @Test func `It is there again after a restart, and damage makes it anew`() throws {
    let path = "\(folder.path)/other.sqlite"
    do { try ItemIndex(path: path).put([item("1", "Kept")]) }
    #expect(try ItemIndex(path: path).search(["kept"], most: 1).count == 1)
    try Data("no database at all, and longer than a header has to be".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try ItemIndex(path: path).search(["kept"], most: 1).isEmpty)
  }
}
