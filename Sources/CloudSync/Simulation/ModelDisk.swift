/// A device's folder, and its temporaries.
struct ModelDisk {
  struct Node: Hashable {
    var id: String
    var parent: String
    var name: String
    var kind: CloudItem.Kind
    var content: String?
    var version: Int

    var item: LocalItem { LocalItem(id: id, parent: parent, name: name, kind: kind, stamp: "\(version)") }
  }

  var nodes: [Node] = []
  var temporaries: [Node] = []
  private var lastID = 0
  private var lastVersion = 0

  var items: [LocalItem] { nodes.map(\.item) }

  mutating func newID() -> String {
    lastID += 1
    return "\(lastID)"
  }

  /// A stamp holds a change time, which a move changes too.
  mutating func newVersion() -> Int {
    lastVersion += 1
    return lastVersion
  }

  func position(of id: String) -> Int? { nodes.firstIndex { $0.id == id } }

  /// A Linux folder tells "a" and "A" apart.
  func isFree(_ name: String, in parent: String) -> Bool { !nodes.contains { $0.parent == parent && $0.name == name } }

  func isFolder(_ id: String) -> Bool {
    id == LocalItem.root || nodes.contains { $0.id == id && $0.kind == .folder }
  }

  func isInside(_ id: String, _ ancestor: String) -> Bool {
    var folder = id
    while folder != LocalItem.root {
      if folder == ancestor { return true }
      guard let i = position(of: folder) else { return false }
      folder = nodes[i].parent
    }
    return false
  }

  mutating func add(_ kind: CloudItem.Kind, _ name: String, in parent: String, content: String?) {
    nodes.append(
      Node(id: newID(), parent: parent, name: name, kind: kind, content: content, version: newVersion()))
  }

  mutating func stage(_ kind: CloudItem.Kind, content: String?) -> LocalItem {
    let node = Node(id: newID(), parent: "", name: "", kind: kind, content: content, version: newVersion())
    temporaries.append(node)
    return node.item
  }

  mutating func takeTemporary(_ id: String) -> Node? {
    temporaries.firstIndex { $0.id == id }.map { temporaries.remove(at: $0) }
  }

  /// The nodes of a folder, itself included.
  func subtree(of id: String) -> [Node] { nodes.filter { isInside($0.id, id) } }
}
