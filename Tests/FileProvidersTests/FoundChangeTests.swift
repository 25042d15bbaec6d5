import FileProviders
import Testing

/// What was done in a provider's folder, as values.
struct FoundChangeTests {
  private func known(_ path: String, _ node: String, folder: Bool = false) -> ProvidedFile {
    let item = ProviderItem(identifier: path, filename: path, isFolder: folder)
    return ProvidedFile(provider: "p", item: item, path: path, node: node)
  }

  private func found(_ path: String, _ node: String, folder: Bool = false) -> FoundFile {
    FoundFile(path: path, node: node, isFolder: folder)
  }

  @Test("nothing happened") func nothing() {
    #expect(FoundChange.changes(from: [known("a", "1")], to: [found("a", "1")]).isEmpty)
  }

  @Test("a new folder comes before its contents") func made() {
    let new = [found("F/b", "2"), found("F", "1", folder: true)]
    #expect(FoundChange.changes(from: [], to: new) == [.made(new[1]), .made(new[0])])
  }

  @Test("a file that no mode opens is no new document") func shut() {
    #expect(FoundChange.changes(from: [], to: [.init(path: "a", node: "1", isFolder: false, isShut: true)]).isEmpty)
  }

  @Test("a folder moves in one step, with what is in it") func folder() {
    let before = [known("F", "1", folder: true), known("F/a", "2"), known("F/b", "3")]
    let after = [found("G", "1", folder: true), found("G/a", "2"), found("G/c", "3")]
    #expect(
      FoundChange.changes(from: before, to: after) == [.moved(before[0], to: "G"), .moved(before[2], to: "G/c")])
  }

  @Test("a save by rename replaces the file of the same item") func replaced() {
    #expect(
      FoundChange.changes(from: [known("a", "1")], to: [found("a", "2")])
        == [.replaced(known("a", "1"), by: found("a", "2"))])
  }

  @Test("two files change places") func exchanged() {
    let before = [known("a", "1"), known("b", "2")]
    #expect(
      FoundChange.changes(from: before, to: [found("a", "2"), found("b", "1")])
        == [.moved(before[1], to: "a"), .moved(before[0], to: "b")])
  }

  @Test("a new file at the place of a moved one is new") func movedAside() {
    let before = known("a", "1")
    #expect(
      FoundChange.changes(from: [before], to: [found("a", "2"), found("b", "1")])
        == [.moved(before, to: "b"), .made(found("a", "2"))])
  }

  @Test("what is deepest is removed first") func removed() {
    let before = [known("F", "1", folder: true), known("F/a", "2")]
    #expect(FoundChange.changes(from: before, to: []) == [.removed(before[1]), .removed(before[0])])
  }

  @Test func `What the provider itself has hidden is still there, though no look finds it`() {
    let hidden = [known(".git", "1", folder: true), known(".git/config", "2"), known("F/.ignore", "3")]
    let seen = [known("F", "4", folder: true), known("a", "5")]
    let present = [found("F", "4", folder: true), found("a", "5")]
    #expect(FoundChange.changes(from: hidden + seen, to: present).isEmpty)
    #expect(FoundChange.changes(from: hidden + seen, to: [present[0]]) == [.removed(seen[1])])
    // It goes with its folder, and comes back under a name that is not hidden.
    #expect(
      FoundChange.changes(from: hidden + seen, to: [present[1]]) == [.removed(hidden[2]), .removed(seen[0])])
    #expect(
      FoundChange.changes(from: hidden + seen, to: present + [found("F/ignore", "3")])
        == [.moved(hidden[2], to: "F/ignore")])
  }

  @Test("a folder at the place of a document is another item") func kinds() {
    let before = known("a", "1")
    let now = found("a", "1", folder: true)
    #expect(FoundChange.changes(from: [before], to: [now]) == [.made(now), .removed(before)])
  }
}
