import FileProviders
import Testing

/// The items of a provider, listed anew or changed.
struct ListedItemsTests {
  private static let known = [
    ProviderItem(identifier: "a", filename: "a"), ProviderItem(identifier: "f", filename: "F", isFolder: true),
    ProviderItem(identifier: "inner", parent: "f", filename: "inner"),
  ]

  private func all(_ body: (inout ListedItems) -> Void) -> [String] {
    var items = ListedItems(Self.known)
    body(&items)
    return items.all.map { "\($0.parent)/\($0.identifier)" }.sorted()
  }

  private func changes(_ updated: [ProviderItem] = [], gone: [String] = []) -> FolderChanges {
    var changes = FolderChanges()
    changes.add(updated: updated, deleted: gone)
    return changes
  }

  @Test func `A folder that is listed has exactly these items, and others stay`() {
    #expect(
      all { $0.list([ProviderItem(identifier: "f", filename: "F", isFolder: true)], of: "root") } == [
        "f/inner", "root/f",
      ])
    #expect(all { _ in } == ["f/inner", "root/a", "root/f"])
  }

  @Test func `PRV-9: changes add, replace and remove; a folder that is gone takes its items along`() {
    #expect(
      all { $0.change(changes([ProviderItem(identifier: "b", filename: "b")], gone: ["a"])) } == [
        "f/inner", "root/b", "root/f",
      ])
    #expect(all { $0.change(changes(gone: ["f"])) } == ["root/a"])
  }

  @Test func `An item that goes to another folder stays, whichever folder tells first`() {
    let moved = ProviderItem(identifier: "a", parent: "f", filename: "a")
    let expected = ["f/a", "f/inner", "root/f"]
    #expect(
      all {
        $0.change(changes(gone: ["a"]))
        $0.change(changes([moved]))
      } == expected)
    #expect(
      all {
        $0.change(changes([moved]))
        $0.change(changes(gone: ["a"]))
      } == expected)
  }

  @Test func `Nothing is changed only if all items are there, once each, and shown as they are`() {
    let (folder, inner) = (Self.known[1], Self.known[2])
    func isUnchanged(_ top: [ProviderItem], _ content: [ProviderItem] = [inner]) -> Bool {
      var items = ListedItems(Self.known)
      items.list(top, of: "root")
      items.list(content, of: "f")
      return items.isUnchanged
    }
    var (larger, renamed, shared, touched) = (Self.known[0], Self.known[0], Self.known[0], Self.known[0])
    (larger.size, renamed.filename, touched.modified) = (1, "b", 1)
    shared.marks = [.recent]
    #expect(isUnchanged([folder, Self.known[0]]) && isUnchanged([touched, folder]))
    for other in [larger, renamed, shared] { #expect(!isUnchanged([other, folder])) }
    #expect(!isUnchanged([folder]), "one is gone")
    #expect(!isUnchanged([folder, Self.known[0], Self.known[0]]), "one is told twice")
    #expect(!isUnchanged([folder, Self.known[0]], []))
    var items = ListedItems(Self.known)
    #expect(items.isUnchanged, "no folder tells of a change")
    items.change(changes(gone: ["inner"]))
    #expect(!items.isUnchanged)
  }

  @Test func `The last word about an item counts`() {
    var changes = FolderChanges()
    changes.add(updated: [ProviderItem(identifier: "x", filename: "x")], deleted: [])
    changes.add(updated: [], deleted: ["x"])
    #expect(changes.verdicts == ["x": nil])
    changes.add(updated: [ProviderItem(identifier: "x", filename: "y")], deleted: [])
    #expect(changes.verdicts["x"] == ProviderItem(identifier: "x", filename: "y"))
  }

  @Test func `Folders that tell of the same items again and again are read at once, and the last word counts`() {
    var items = ListedItems([])
    for round in 1...3 {
      items.change(changes((0..<2000).map { ProviderItem(identifier: "\($0)", filename: "\(round)-\($0)") }))
    }
    #expect(items.count == 2000 && items.all.count == 2000)
    #expect(items.all.allSatisfy { $0.filename == "3-\($0.identifier)" })
    // All that was said takes memory until the end.
    #expect(items.bytes > 3 * 2000 * 192)
  }

  @Test func `An item that is listed twice stays twice, for the fault to be named, until a change tells of it`() {
    let item = ProviderItem(identifier: "x", filename: "x")
    var items = ListedItems([])
    items.list([item, item], of: "root")
    #expect(items.count == 2 && items.all == [item, item])
    items.change(changes([item]))
    #expect(items.count == 1 && items.all == [item])
  }

  @Test func `The memory of changes is that of the last words`() {
    var changes = FolderChanges()
    let item = ProviderItem(identifier: "xyz", filename: "x")
    changes.add(updated: [item, item], deleted: ["abcd"])
    #expect(changes.bytes == item.bytes + 4)
    changes.add(updated: [], deleted: ["xyz"])
    #expect(changes.bytes == 7)
  }

  @Test func `PRV-16: texts of an item have bounds`() {
    let long = String(repeating: "é", count: 513)
    #expect(ProviderItem(identifier: "x", parent: long, filename: "x").fault?.field == "parent")
    #expect(ProviderItem(identifier: "x", filename: "x", contentType: long).fault?.field == "contentType")
    #expect(ProviderItem(identifier: long, filename: "x").fault?.field == "identifier")
    let longest = String(repeating: "é", count: 512)
    #expect(ProviderItem(identifier: longest, parent: longest, filename: "x", contentType: longest).fault == nil)
  }

  @Test func `PRV-10: the reserved identifiers are no item's; what is in the trash is not shown, and is no fault`() {
    for identifier in ProviderItem.reserved {
      #expect(ProviderItem(identifier: identifier, filename: "x").fault?.field == "identifier")
    }
    let tree = ProviderTree([
      ProviderItem(identifier: "t", parent: ProviderItem.trash, filename: "T", isFolder: true),
      ProviderItem(identifier: "in", parent: "t", filename: "in"), ProviderItem(identifier: "a", filename: "a"),
    ])
    #expect(tree.placed.map(\.path) == ["a"])
    #expect(tree.faults.isEmpty)
  }

  @Test func `PRV-11: items of the working set are there, once, and the folders of others too`() {
    let plan = ProviderItem(identifier: "plan", parent: "deep", filename: "Plan", marks: [.recent])
    #expect(
      all {
        $0.list(Self.known.filter { $0.parent == "root" }, of: "root")
        $0.add([plan, Self.known[0]])
        $0.add([ProviderItem(identifier: "deep", filename: "Deep", isFolder: true)])
      } == ["deep/plan", "f/inner", "root/a", "root/deep", "root/f"])
  }
}
