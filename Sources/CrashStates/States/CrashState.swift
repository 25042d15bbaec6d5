/// One state that a crash may leave.
package struct CrashState: Sendable {
  package let point: CrashPoint
  let choice: [Int]

  /// Saves that the program had acknowledged.
  package var acknowledged: Int { point.acknowledged }

  /// Equal for states with the same names, kinds, links and contents.
  package var digest: ContentDigest {
    let shape = point.shape(choice)
    return ContentDigest(shape.files.reduce(into: shape.digest.bytes) { $0 += point.digest(of: $1, choice).bytes })
  }

  /// All of it, with contents.
  package var tree: FileTree {
    let shape = point.shape(choice)
    var tree = shape.tree
    let reachable = tree.reachable
    tree.nodes = tree.nodes.filter { reachable.contains($0.key) }
    for file in shape.files { tree.nodes[file] = .file(point.content(of: file, choice)) }
    return tree
  }

  /// The size of a file; `nil` for anything else.
  package func size(of id: FileTree.ID) -> Int? {
    guard case .file? = point.shape(choice).tree.nodes[id] else { return nil }
    return point.content(of: id, choice).count
  }

  /// What became of each step before the crash.
  package var fates: [StepFate] { point.fates(choice) }

  /// What stands at a path, which a program would read.
  package func observation(at path: TreePath) -> Observation {
    let shape = point.shape(choice)
    return Observation(shape.tree, at: path) { point.digest(of: $0, choice) }
  }
}

/// What a reader finds at a document's path.
package enum Observation: Hashable, Sendable {
  case absent
  /// The reader gave up, with a reason.
  case unreadable(String)
  case content(ContentDigest)

  /// - Parameter content: the digest of a file's content.
  init(_ tree: FileTree, at path: TreePath, content: (FileTree.ID) -> ContentDigest) {
    switch tree.find(path) {
    case .nothing: self = .absent
    case .linkElsewhere: self = .unreadable("a link leads out of the watched folders")
    case .node(let id):
      if case .file? = tree.nodes[id] {
        self = .content(content(id))
      } else {
        // A package: its names, kinds, links and contents.
        let inner = CrashPoint.Shape(FileTree(roots: [.init("", id)], nodes: tree.nodes))
        self = .content(ContentDigest(inner.files.reduce(into: inner.digest.bytes) { $0 += content($1).bytes }))
      }
    }
  }

  /// Of a tree with contents.
  package init(_ tree: FileTree, at path: TreePath) {
    self.init(tree, at: path) { id in
      if case .file(let content)? = tree.nodes[id] { ContentDigest(content) } else { ContentDigest([]) }
    }
  }
}
