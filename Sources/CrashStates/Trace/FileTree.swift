package import Paths

/// Folders with everything in them, as a value.
package struct FileTree: Equatable, Sendable {
  /// A file, folder or link, whichever names it has. Numbers are never used again.
  package struct ID: Hashable, Comparable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
  }

  package enum Node: Equatable, Sendable {
    case file([UInt8])
    case folder([PathKey: ID])
    case link(String)
  }

  /// A folder that is watched. Its own name is none of its parent's entries here.
  package struct Root: Equatable, Sendable {
    /// One name, which no other root has.
    package let name: String
    package let id: ID

    package init(_ name: String, _ id: ID) { (self.name, self.id) = (name, id) }
  }

  package var roots: [Root]
  package var nodes: [ID: Node]

  package init(roots: [Root], nodes: [ID: Node]) { (self.roots, self.nodes) = (roots, nodes) }

  /// The size of a file; 0 for anything else.
  package func size(of id: ID) -> Int {
    if case .file(let content)? = nodes[id] { content.count } else { 0 }
  }

  package func entries(of id: ID) -> [PathKey: ID]? {
    if case .folder(let entries)? = nodes[id] { entries } else { nil }
  }

  package func child(_ name: String, of folder: ID) -> ID? { entries(of: folder)?[PathKey(name)] }

  /// About as many bytes as it takes on a disk.
  package var extent: Int { nodes.keys.reduce(0) { $0 + size(of: $1) + 4096 } }

  /// The nodes that names lead to, from the roots.
  package var reachable: Set<ID> {
    var found: Set<ID> = []
    var waiting = roots.map(\.id)
    while let id = waiting.popLast() {
      guard found.insert(id).inserted else { continue }
      if let entries = entries(of: id) { waiting += entries.values }
    }
    return found
  }
}

/// A place in a tree: a root, and names from there.
package struct TreePath: Equatable, Sendable, CustomStringConvertible {
  package let root: String
  package let names: [String]

  package init(root: String, _ names: [String] = []) { (self.root, self.names) = (root, names) }

  /// Relative to the folder that holds the roots.
  package var description: String { ([root] + names).joined(separator: "/") }
}

extension FileTree {
  /// How many links a path may lead through (`path_resolution(7)`).
  private static let mostLinks = 40

  package enum Found: Equatable, Sendable {
    case node(ID)
    case nothing
    /// A link at the way's end or within it leads out of the tree, or to itself.
    case linkElsewhere
  }

  /// The node at a path, with relative links followed as long as they stay below their root.
  package func find(_ path: TreePath) -> Found {
    guard let root = roots.first(where: { $0.name.isSamePath(as: path.root) }) else { return .nothing }
    var folders = [root.id]
    var rest = Array(path.names.reversed())
    var links = 0
    while let name = rest.popLast() {
      guard let here = folders.last, let entries = entries(of: here) else { return .nothing }
      if name == "." { continue }
      if name == ".." {
        guard folders.count > 1 else { return .linkElsewhere }
        folders.removeLast()
        continue
      }
      guard let id = entries[PathKey(name)], let node = nodes[id] else { return .nothing }
      guard case .link(let text) = node else {
        folders.append(id)
        continue
      }
      links += 1
      guard links <= Self.mostLinks, !text.isAbsolutePath else { return .linkElsewhere }
      rest += text.pathNames.reversed()
    }
    return folders.last.map { .node($0) } ?? .nothing
  }

  /// A path that leads to a node, if a name does.
  package func path(of id: ID) -> TreePath? {
    for root in roots {
      if root.id == id { return TreePath(root: root.name) }
      if let names = names(to: id, from: root.id) { return TreePath(root: root.name, names) }
    }
    return nil
  }

  private func names(to id: ID, from folder: ID, depth: Int = 0) -> [String]? {
    guard depth < 64, let entries = entries(of: folder) else { return nil }
    if let name = entries.lazy.filter({ $0.value == id }).map(\.key).min() { return [name.text] }
    for (name, child) in entries.filter({ self.entries(of: $0.value) != nil }).sorted(by: { $0.key < $1.key }) {
      if let rest = names(to: id, from: child, depth: depth + 1) { return [name.text] + rest }
    }
    return nil
  }
}
