/// A content of the document that counts as whole.
package struct Version: Equatable, Sendable {
  /// The steps up to this one, all of them, make it.
  package let step: Int
  /// Saves that were acknowledged when it was made.
  package let acknowledged: Int
  package let observation: Observation

  package init(step: Int, acknowledged: Int, observation: Observation) {
    (self.step, self.acknowledged, self.observation) = (step, acknowledged, observation)
  }
}

/// The judgement about one state.
package enum Verdict: String, CaseIterable, Hashable, Sendable {
  /// A content from before the last save, and no later save was acknowledged.
  case wholeOld = "whole-old"
  /// The last content.
  case wholeNew = "whole-new"
  /// The document is no content that was ever whole, or cannot be read.
  case torn
  /// The document is whole, and older than a save that was acknowledged.
  case lost
  /// There is no document.
  case missing

  package var isHarmful: Bool { self == .torn || self == .lost || self == .missing }
}

/// The contents that count as whole, and the judgement by them.
package struct Versions: Equatable, Sendable {
  /// The first one is from before the first step.
  package let all: [Version]

  package init(_ all: [Version]) { self.all = all }

  /// Reads the document where the trace says that it is whole: before the first step, after each acknowledgement, and after a
  /// rename that has put a file in its place of which everything had been synced.
  ///
  /// - Parameter read: the document in a whole tree.
  package init(_ trace: Trace, document: TreePath?, read: (FileTree) throws -> Observation) rethrows {
    var tree = trace.initial
    var all = [Version(step: 0, acknowledged: 0, observation: try read(tree))]
    var acknowledged = 0
    for (number, step) in trace.steps.enumerated() {
      tree.apply(step.operation)
      var isWhole = false
      if case .acknowledge = step.operation {
        acknowledged += 1
        isWhole = true
      } else if let document, Self.putsInPlace(step.operation), case .node(let id) = tree.find(document) {
        isWhole = trace.isSynced(id, in: tree, before: number)
      }
      guard isWhole else { continue }
      let observation = try read(tree)
      if all.last?.observation != observation || all.last?.acknowledged != acknowledged {
        all.append(Version(step: number + 1, acknowledged: acknowledged, observation: observation))
      }
    }
    self.all = all
  }

  private static func putsInPlace(_ operation: Trace.Operation) -> Bool {
    switch operation {
    case .rename, .exchange, .link: true
    default: false
    }
  }

  /// - Parameter acknowledged: saves that were acknowledged before the crash.
  package func verdict(_ observation: Observation, acknowledged: Int) -> Verdict {
    guard let version = all.last(where: { $0.observation == observation }) else {
      return observation == .absent ? .missing : .torn
    }
    guard version.acknowledged >= acknowledged else { return observation == .absent ? .missing : .lost }
    return version.observation == all.last?.observation ? .wholeNew : .wholeOld
  }
}

extension Trace {
  /// Whether everything that was written to a file, or to the files of a folder, before a step had been synced by then.
  func isSynced(_ id: FileTree.ID, in tree: FileTree, before step: Int) -> Bool {
    if let entries = tree.entries(of: id) {
      return entries.values.allSatisfy { isSynced($0, in: tree, before: step) }
    }
    return ContentChoices(of: id, self, ContentChoices.Index(self, before: step)).isSettled
  }
}
