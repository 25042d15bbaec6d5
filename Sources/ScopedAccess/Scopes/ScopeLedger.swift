/// Who holds a scope slot in one app instance, and how many starts it still owes a stop.
///
/// A pure value: no kernel, no clock of its own. One slot a document, however often it is started and whatever it
/// contains (`TOK-4`, `LIM-1`, `LIM-6`).
package struct ScopeLedger: Equatable, Sendable {
  package struct Holder: Equatable, Sendable {
    package let grant: String
    /// Starts that no stop has balanced; at least 1.
    package fileprivate(set) var count: Int
    /// When the first of them was, in nanoseconds of whatever clock the caller keeps.
    package let since: Int64
    /// Where in the app's code the first start was, if it said so.
    package let caller: String?
  }

  package enum StartAnswer: Equatable, Sendable {
    /// The document has to be shown now.
    case first
    case nested(count: Int)
    /// Every slot is taken by another document; nothing has changed (`LIM-1`).
    case limitReached
  }

  package enum StopAnswer: Equatable, Sendable {
    /// The document has to be taken away now (`TOK-3`).
    case last
    case nested(count: Int)
    /// Nothing was active; nothing happens (`TOK-5`).
    case inactive
  }

  package let limit: Int
  /// In the order in which they started.
  package private(set) var holders: [Holder] = []

  package init(limit: Int) {
    precondition(limit > 0, "a limit of no scope at all is not a limit but a refusal")
    self.limit = limit
  }

  package var used: Int { holders.count }

  package func count(of grant: String) -> Int { holders.first { $0.grant == grant }?.count ?? 0 }

  package mutating func start(_ grant: String, at time: Int64, caller: String? = nil) -> StartAnswer {
    if let index = holders.firstIndex(where: { $0.grant == grant }) {
      holders[index].count += 1
      return .nested(count: holders[index].count)
    }
    guard holders.count < limit else { return .limitReached }
    holders.append(Holder(grant: grant, count: 1, since: time, caller: caller))
    return .first
  }

  package mutating func stop(_ grant: String) -> StopAnswer {
    guard let index = holders.firstIndex(where: { $0.grant == grant }) else { return .inactive }
    if holders[index].count > 1 {
      holders[index].count -= 1
      return .nested(count: holders[index].count)
    }
    holders.remove(at: index)
    return .last
  }

  /// Ends a scope whatever it owes: the process died, the grant was withdrawn, or showing the document failed.
  @discardableResult
  package mutating func end(_ grant: String) -> Holder? {
    guard let index = holders.firstIndex(where: { $0.grant == grant }) else { return nil }
    return holders.remove(at: index)
  }
}
