import CrashStates
import Paths
import TestSupport

/// The folder that the traces of these tests are about, and a second one in it.
let folder = FileTree.ID(1)
let inner = FileTree.ID(2)
/// The document, and a file that a save makes.
let letter = FileTree.ID(3)
let new = FileTree.ID(4)

/// A trace over a folder with `letter` in it, and an empty folder `inner`.
func trace(_ old: String? = "oooo", _ operations: Trace.Operation...) -> Trace {
  trace(old, operations)
}

func trace(_ old: String?, _ operations: [Trace.Operation]) -> Trace {
  var entries: [PathKey: FileTree.ID] = [PathKey("inner"): inner]
  var nodes: [FileTree.ID: FileTree.Node] = [inner: .folder([:])]
  if let old {
    entries[PathKey("letter")] = letter
    nodes[letter] = .file(Array(old.utf8))
  }
  nodes[folder] = .folder(entries)
  return Trace(initial: FileTree(roots: [.init("top", folder)], nodes: nodes), steps: operations.map { .init($0) })
}

func write(_ file: FileTree.ID, _ offset: Int, _ text: String) -> Trace.Operation {
  .write(file, at: offset, Array(text.utf8))
}
func create(_ file: FileTree.ID, _ name: String) -> Trace.Operation { .create(file, .file([]), in: folder, name: name) }
func rename(_ name: String, _ new: String) -> Trace.Operation { .rename(in: folder, name: name, to: folder, as: new) }

extension FileTree {
  /// For example `inner/ letter=oooo`. Zeros are shown as `0`.
  var text: String {
    func lines(_ id: ID, _ path: String) -> [String] {
      switch nodes[id] {
      case .file(let content)?:
        ["\(path)=\(String(decoding: content.map { $0 == 0 ? UInt8(ascii: "0") : $0 }, as: UTF8.self))"]
      case .link(let target)?: ["\(path)->\(target)"]
      case .folder(let entries)?:
        (path.isEmpty ? [] : ["\(path)/"])
          + entries.sorted { $0.key < $1.key }.flatMap {
            lines($0.value, path.isEmpty ? $0.key.text : "\(path)/\($0.key.text)")
          }
      case nil: ["\(path)?"]
      }
    }
    return lines(roots[0].id, "").filter { $0 != "inner/" }.joined(separator: " ")
  }
}

/// All states of a trace, which must be few, as texts.
func states(_ trace: Trace) -> Set<String> {
  let enumeration = CrashEnumeration(trace, states: 100_000, seed: 1)
  precondition(enumeration.isExhaustive, "\(enumeration.possible) choices")
  return Set(enumeration.map(\.tree.text))
}

let document = TreePath(root: "top", ["letter"])

/// How many states have each verdict.
func verdicts(_ trace: Trace, states most: Int = 100_000) -> [Verdict: Int] {
  let versions = Versions(trace, document: document) { Observation($0, at: document) }
  return CrashEnumeration(trace, states: most, seed: 1).reduce(into: [:]) { counts, state in
    counts[versions.verdict(state.observation(at: document), acknowledged: state.acknowledged), default: 0] += 1
  }
}
