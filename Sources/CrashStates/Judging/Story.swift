internal import Paths

/// How a crash left a state, as a table: which steps are on the disk, and which are not.
package struct Story: Equatable, Sendable {
  package struct Row: Equatable, Sendable {
    /// The first of the steps, from 0.
    package let step: Int
    package var count: Int
    /// For example “rename .t to letter.txt”.
    package let text: String
    package let fate: StepFate
    /// Whether it is something that is lost, in whole or in part.
    package var isLoss: Bool {
      switch fate {
      case .lost, .contentLost, .sizeLost, .torn: true
      case .kept, .safe, .none: false
      }
    }
  }

  /// Steps up to the crash. Neighbours of one kind and fate are one row.
  package let rows: [Row]
  /// Steps that were begun before the crash.
  package let steps: Int
  /// Steps that are lost, in whole or in part.
  package let losses: Int

  package init(_ state: CrashState) {
    let (steps, fates) = Self.extent(state)
    self.steps = steps
    losses = fates.count { Row(step: 0, count: 1, text: "", fate: $0).isLoss }
    var tree = state.point.trace.initial
    var names: [FileTree.ID: String] = [:]
    for id in tree.reachable { names[id] = tree.path(of: id).map { $0.names.isEmpty ? $0.root : $0.names.last ?? "" } }
    var rows: [Row] = []
    for number in 0..<steps {
      let operation = state.point.trace.steps[number].operation
      let (text, merged) = Self.words(operation, names)
      Self.learn(operation, tree, &names)
      tree.applyNames(operation)
      let key = merged ?? text
      if merged != nil, let last = rows.last, last.text == key, last.fate == fates[number] {
        rows[rows.count - 1].count += 1
      } else {
        rows.append(Row(step: number, count: 1, text: merged == nil ? text : key, fate: fates[number]))
      }
    }
    self.rows = rows
  }

  /// The fewest steps that lead to the state: the last one that is on the disk, and the last acknowledgement. Then how much it has
  /// lost; a state that loses less is the better story.
  static func extent(_ state: CrashState) -> (steps: Int, fates: [StepFate]) {
    let fates = state.fates
    var last = 0
    for (number, fate) in fates.enumerated() {
      switch fate {
      case .kept, .contentLost, .sizeLost, .torn, .safe: last = number + 1
      case .none:
        if case .acknowledge = state.point.trace.steps[number].operation { last = number + 1 }
      case .lost: break
      }
    }
    return (last, Array(fates[..<last]))
  }

  /// How long it is to tell: losses first, then steps.
  package static func length(_ state: CrashState) -> (Int, Int) {
    let (steps, fates) = extent(state)
    return (fates.count { Row(step: 0, count: 1, text: "", fate: $0).isLoss }, steps)
  }

  /// - Returns: the words, and for a step that is like its neighbours the words for all of them.
  private static func words(_ operation: Trace.Operation, _ names: [FileTree.ID: String]) -> (String, String?) {
    func name(_ id: FileTree.ID) -> String { names[id] ?? "a file without a name" }
    switch operation {
    case .create(_, let node, _, let new):
      switch node {
      case .file: return ("create \(new)", nil)
      case .folder: return ("make folder \(new)", nil)
      case .link(let text): return ("link \(new) → \(text)", nil)
      }
    case .appear: return ("create a file without a name", nil)
    case .link(let id, _, let new): return ("name \(name(id)) also \(new)", nil)
    case .unlink(_, let old): return ("remove \(old)", nil)
    case .rename(let from, let old, let to, let new):
      return ("rename \(old) to \(from == to ? new : "\(name(to))/\(new)")", nil)
    case .exchange(_, let one, _, let other): return ("exchange \(one) and \(other)", nil)
    case .write(let id, let offset, let bytes):
      return ("write \(bytes.count) bytes at \(offset) of \(name(id))", nil)
    case .resize(let id, let size): return ("resize \(name(id)) to \(size) bytes", nil)
    case .sync(let id, _): return ("sync \(name(id))", "sync \(name(id))")
    case .syncAll: return ("sync everything", "sync everything")
    case .acknowledge(let text): return ("acknowledge: \(text)", nil)
    }
  }

  private static func learn(_ operation: Trace.Operation, _ tree: FileTree, _ names: inout [FileTree.ID: String]) {
    switch operation {
    case .create(let id, _, _, let name), .link(let id, _, let name): names[id] = name
    case .rename(let folder, let name, _, let new):
      if let id = tree.child(name, of: folder) { names[id] = new }
    case .exchange(let folder, let name, let target, let other):
      let (first, second) = (tree.child(name, of: folder), tree.child(other, of: target))
      if let first { names[first] = other }
      if let second { names[second] = name }
    default: return
    }
  }
}
