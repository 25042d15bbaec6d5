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

  @Test func `The last word about an item counts`() {
    var changes = FolderChanges()
    changes.add(updated: [ProviderItem(identifier: "x", filename: "x")], deleted: [])
    changes.add(updated: [], deleted: ["x"])
    #expect(changes.verdicts == ["x": nil])
    changes.add(updated: [ProviderItem(identifier: "x", filename: "y")], deleted: [])
    #expect(changes.verdicts["x"] == ProviderItem(identifier: "x", filename: "y"))
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
