#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// Which documents hold a scope slot of one process, and how many starts each still owes a stop.
///
/// A pure value: no kernel, no clock of its own. One slot a document, with any number of starts and any content
/// (`TOK-4`, `LIM-1`, `LIM-6`).
package struct ScopeLedger: Equatable, Sendable {
  package struct Holder: Equatable, Sendable {
    package let grant: String
    /// Starts that no stop has balanced; at least 1.
    package fileprivate(set) var count: Int
    /// When the first of them was, in nanoseconds of the caller's own clock.
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
  /// With the number of the start that gave each its slot.
  private var held: [String: (holder: Holder, number: Int)] = [:]
  private var starts = 0
  #if AMBIT_MUTANTS
    /// Slots that no document holds.
    private var extra = 0
  #endif

  package init(limit: Int) {
    precondition(limit > 0, "a limit of no scope at all is not a limit but a refusal")
    self.limit = limit
  }

  package static func == (one: ScopeLedger, other: ScopeLedger) -> Bool {
    one.limit == other.limit && one.holders == other.holders
  }

  package var used: Int {
    #if AMBIT_MUTANTS
      return held.count + extra
    #else
      return held.count
    #endif
  }

  /// In the order in which they started.
  package var holders: [Holder] { held.values.sorted { $0.number < $1.number }.map(\.holder) }

  package func holder(of grant: String) -> Holder? { held[grant]?.holder }

  package func count(of grant: String) -> Int { held[grant]?.holder.count ?? 0 }

  package mutating func start(_ grant: String, at time: Int64, caller: String? = nil) -> StartAnswer {
    if let count = held[grant]?.holder.count {
      #if AMBIT_MUTANTS
        if Mutant.nestedTakeSlots.isActive { extra += 1 }
      #endif
      held[grant]?.holder.count = count + 1
      return .nested(count: count + 1)
    }
    guard used < limit else { return .limitReached }
    starts += 1
    held[grant] = (Holder(grant: grant, count: 1, since: time, caller: caller), starts)
    return .first
  }

  package mutating func stop(_ grant: String) -> StopAnswer {
    guard let count = held[grant]?.holder.count else { return .inactive }
    #if AMBIT_MUTANTS
      if Mutant.nestedTakeSlots.isActive, count > 1 { extra -= 1 }
      if Mutant.slotsLost.isActive, count == 1 { extra += 1 }
      if Mutant.stopEndsAll.isActive {
        held[grant] = nil
        return .last
      }
    #endif
    guard count > 1 else {
      held[grant] = nil
      return .last
    }
    held[grant]?.holder.count = count - 1
    return .nested(count: count - 1)
  }

  /// Ends a scope even if it owes stops: the process died, the grant was withdrawn, or showing the document failed.
  @discardableResult
  package mutating func end(_ grant: String) -> Holder? { held.removeValue(forKey: grant)?.holder }
}
