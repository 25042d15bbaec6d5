import FileProviders
import Testing

/// The tree of a provider, as values.
struct ProviderTreeTests {
  private func folder(_ identifier: String, in parent: String = "root") -> ProviderItem {
    ProviderItem(
      identifier: identifier, parent: parent, filename: identifier.uppercased(), isFolder: true,
      capabilities: [.contentEnumerating])
  }

  private func document(_ identifier: String, in parent: String = "root", version: String = "1") -> ProviderItem {
    ProviderItem(identifier: identifier, parent: parent, filename: "\(identifier).txt", size: 3, version: version)
  }

  private func shown(_ item: ProviderItem, _ path: String, changed: Bool = false) -> ProvidedFile {
    .init(provider: "org.example.cloud", item: item, path: path, isHere: true, isChanged: changed)
  }

  @Test("folders come before what is in them") func order() {
    let tree = ProviderTree([document("b", in: "a"), folder("a"), document("c")])
    #expect(tree.placed.map(\.path) == ["A", "A/b.txt", "c.txt"])
    #expect(tree.faults.isEmpty)
  }

  @Test("a circle of folders hangs on nothing") func circle() {
    let tree = ProviderTree([folder("a", in: "b"), folder("b", in: "a"), document("c")])
    #expect(tree.placed.map(\.path) == ["c.txt"])
    #expect(tree.faults.map(\.identifier) == ["a", "b"])
  }

  @Test("of two items with one name, the second is not shown") func names() {
    var other = document("b")
    other.filename = "a.txt"
    let tree = ProviderTree([document("a"), other])
    #expect(tree.placed.map(\.item.identifier) == ["a"])
    #expect(tree.faults.map(\.reason) == ["another item of its folder has its name"])
  }

  @Test(
    "an item that cannot be a file is left out",
    arguments: ["", ".", "..", "a/b", "a\nb", "a\u{0}b", "a\u{85}b", String(repeating: "x", count: 256), ".ambit-x"])
  func badNames(name: String) {
    var item = document("a")
    item.filename = name
    #expect(item.fault?.field == "filename")
    #expect(ProviderTree([item]).placed.isEmpty)
  }

  @Test("capabilities are told by words; unknown ones are none") func words() {
    let all = ProviderItem.Capabilities(words: ProviderItem.Capabilities.words)
    #expect(all.words == ProviderItem.Capabilities.words.sorted())
    #expect(ProviderItem.Capabilities(words: ["writing", "flying", "evicting"]) == [.evicting, .writing])
    #expect("\(ProviderItem.Capabilities.reparenting)" == "reparenting")
    #expect(ProviderItem.Marks(words: ["trashed", "recent"]) == [.recent, .trashed])
  }

  @Test("PRV-16: a version has 1,000 bytes at most") func versions() {
    #expect(document("a", version: String(repeating: "v", count: 1000)).fault == nil)
    #expect(document("a", version: String(repeating: "v", count: 1001)).fault?.field == "version")
  }

  @Test("the steps lead from what is shown to what there is") func steps() {
    let tree = ProviderTree([
      document("kept"), document("new"), document("other", version: "2"), document("mine", version: "2"),
      document("absent", version: "2"),
    ])
    var absent = shown(document("absent"), "absent.txt")
    absent.isHere = false
    let steps = ProviderChange.steps(
      from: [
        shown(document("kept"), "old name.txt"), shown(document("other"), "other.txt"),
        shown(document("mine"), "mine.txt", changed: true), shown(document("gone"), "gone.txt"),
        shown(document("unsent"), "unsent.txt", changed: true), absent,
      ], to: tree)
    #expect(
      steps == [
        .remove(shown(document("gone"), "gone.txt")),
        .renew(tree.placed.first { $0.path == "absent.txt" }!, was: document("absent"), mayBeLeftOver: true),
        .move(document("kept"), from: "old name.txt", to: "kept.txt"),
        .add(tree.placed.first { $0.path == "new.txt" }!),
        .renew(tree.placed.first { $0.path == "other.txt" }!, was: document("other"), mayBeLeftOver: false),
      ])
  }

  @Test("what is in a folder that gets another place is there already, and only what leaves it moves") func folders() {
    func folder(_ id: String, _ name: String, in parent: String = ProviderItem.root) -> ProviderItem {
      ProviderItem(identifier: id, parent: parent, filename: name, isFolder: true)
    }
    var (inner, leaving) = (document("x"), document("y"))
    inner.parent = "deep"
    let was = [
      shown(folder("f", "A"), "A"), shown(folder("deep", "D", in: "f"), "A/D"), shown(inner, "A/D/x.txt"),
      shown(leaving, "A/D/y.txt"),
    ]
    leaving.parent = ProviderItem.root
    let tree = ProviderTree([folder("f", "B"), folder("deep", "E", in: "f"), inner, leaving])
    let steps = ProviderChange.steps(from: was, to: tree)
    var places = ["A": "f", "A/D": "deep", "A/D/x.txt": "x", "A/D/y.txt": "y"]
    for step in steps {
      guard case .move(let item, let from, let to) = step, from != to else { continue }
      #expect(places[from] == item.identifier, "\(step)")
      for (path, id) in places where path == from || path.hasPrefix(from + "/") {
        places[path] = nil
        places[to + path.dropFirst(from.count)] = id
      }
    }
    #expect(places == ["B": "f", "B/E": "deep", "B/E/x.txt": "x", "y.txt": "y"])
    // Each that has another path by now is told, also where nothing has to be moved.
    #expect(steps.count { if case .move = $0 { true } else { false } } == 4)
  }

  @Test("an item with the same content and other rights is described anew, also one that was changed here")
  func rights() {
    var now = document("a")
    now.capabilities.remove(.writing)
    let tree = ProviderTree([now])
    for isChanged in [false, true] {
      let steps = ProviderChange.steps(from: [shown(document("a"), "a.txt", changed: isChanged)], to: tree)
      #expect(steps == [.describe(tree.placed[0], was: document("a"))])
    }
    #expect(ProviderChange.steps(from: [shown(now, "a.txt")], to: tree) == [])
  }
}
