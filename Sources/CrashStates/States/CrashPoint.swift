internal import Paths
internal import Synchronization

/// All states that a crash before one step may leave.
package final class CrashPoint: Sendable {
  let trace: Trace
  /// The first step that was not begun.
  let step: Int
  /// Saves that were acknowledged before it.
  package let acknowledged: Int
  let names: NameChoices
  /// Files that were changed; and those among them that are not all on the disk, in order.
  private let contents: [FileTree.ID: ContentChoices]
  let unsettled: [ContentChoices]
  /// How many choices each axis has: of names first, then of each unsettled file. A choice of zeros loses nothing.
  let axes: [Int]
  private let cache = Mutex(Cache())

  private struct Cache {
    var shapes: [[Int]: Shape] = [:]
    var digests: [FileTree.ID: [[Int]: ContentDigest]] = [:]
  }

  /// A tree without contents, and the way through it.
  struct Shape: Sendable {
    let tree: FileTree
    /// The regular files in the order of their paths.
    let files: [FileTree.ID]
    /// Of names, kinds and links.
    let digest: ContentDigest
  }

  init(_ trace: Trace, before step: Int) {
    (self.trace, self.step) = (trace, step)
    acknowledged = trace.acknowledgements(before: step)
    names = NameChoices(trace, before: step)
    let index = ContentChoices.Index(trace, before: step)
    contents = Dictionary(
      uniqueKeysWithValues: index.steps.keys.map { ($0, ContentChoices(of: $0, trace, index)) })
    unsettled = contents.values.filter { !$0.isSettled }.sorted { $0.file < $1.file }
    axes = names.axes + unsettled.flatMap(\.axes)
  }

  /// How many choices there are; several may lead to one state.
  var possible: Double { axes.reduce(1) { $0 * Double($1) } }

  /// The choice that loses every step from this one on, as far as it is not safe.
  func choice(losingFrom step: Int) -> [Int] {
    names.choice(losingFrom: step) + unsettled.flatMap { $0.choice(losingFrom: step) }
  }

  func shape(_ choice: [Int]) -> Shape {
    let own = Array(choice.prefix(names.folders.count))
    if let found = cache.withLock({ $0.shapes[own] }) { return found }
    var tree = trace.initial
    let survivors = names.survivors(own)
    for number in 0..<step {
      let operation = trace.steps[number].operation
      if survivors.contains(number) {
        tree.applyNames(operation)
      } else if case .create(let id, let node, _, _) = operation {
        // It is somewhere on the disk, and no name leads to it.
        tree.nodes[id] = node
      } else if case .appear(let id) = operation {
        tree.nodes[id] = .file([])
      }
    }
    let made = Shape(tree)
    cache.withLock { $0.shapes[own] = made }
    return made
  }

  /// The part of a choice that is about an unsettled file.
  private func part(of file: Int, _ choice: [Int]) -> [Int] {
    let start = names.folders.count + unsettled[..<file].reduce(0) { $0 + $1.axes.count }
    return Array(choice[start..<(start + unsettled[file].axes.count)])
  }

  func content(of file: FileTree.ID, _ choice: [Int]) -> [UInt8] {
    if let place = unsettled.firstIndex(where: { $0.file == file }) {
      return unsettled[place].content(part(of: place, choice))
    }
    if let settled = contents[file] { return settled.content([0]) }
    if case .file(let content)? = trace.initial.nodes[file] { return content }
    return []
  }

  func digest(of file: FileTree.ID, _ choice: [Int]) -> ContentDigest {
    let own = unsettled.firstIndex { $0.file == file }.map { part(of: $0, choice) } ?? []
    if let found = cache.withLock({ $0.digests[file]?[own] }) { return found }
    let made = ContentDigest(content(of: file, choice))
    cache.withLock { $0.digests[file, default: [:]][own] = made }
    return made
  }

  /// What became of each step before the crash.
  func fates(_ choice: [Int]) -> [StepFate] {
    var fates = [StepFate](repeating: .none, count: step)
    let survivors = names.survivors(choice.prefix(names.folders.count))
    for number in names.steps {
      fates[number] = names.isSafe(number) ? .safe : survivors.contains(number) ? .kept : .lost
    }
    for number in 0..<step where trace.steps[number].operation.file != nil { fates[number] = .safe }
    for place in unsettled.indices {
      for (number, fate) in unsettled[place].fates(part(of: place, choice)) { fates[number] = fate }
    }
    return fates
  }
}

extension CrashPoint.Shape {
  init(_ tree: FileTree) {
    self.tree = tree
    var files: [FileTree.ID] = []
    var text: [UInt8] = []
    var reached: Set<FileTree.ID> = []
    func enter(_ id: FileTree.ID, _ name: String) {
      text += Array(name.utf8) + [0]
      switch tree.nodes[id] {
      case .file:
        text.append(UInt8(ascii: "f"))
        files.append(id)
      case .link(let target): text += [UInt8(ascii: "l")] + Array(target.utf8) + [0]
      case .folder(let entries):
        text.append(UInt8(ascii: "d"))
        // A folder has one name, but in a tree that is a value nothing sees to it.
        if reached.insert(id).inserted {
          for (name, child) in entries.sorted(by: { $0.key < $1.key }) { enter(child, name.text) }
        }
        text.append(UInt8(ascii: "."))
      case nil: text.append(UInt8(ascii: "?"))
      }
    }
    for root in tree.roots { enter(root.id, root.name) }
    self.files = files
    digest = ContentDigest(text)
  }
}

extension Trace {
  func acknowledgements(before step: Int) -> Int {
    steps[..<step].count { if case .acknowledge = $0.operation { true } else { false } }
  }
}
