#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The scopes of one app instance: for each of its processes a ledger of its own, with the whole limit (`TOK-4`, `LIM-1`).
///
/// A shown document is shown to all of the instance's processes, which see the same mounts: from the first start of the first
/// process that wants it to the last stop of the last one. A pure value, as ``ScopeLedger`` is.
package struct ScopeOwners: Equatable, Sendable {
  /// However the caller numbers processes. A number stands for one process until ``end(process:)``.
  package typealias Process = Int32

  package enum StartAnswer: Equatable, Sendable {
    /// The document has to be shown now.
    case first
    /// It is this process's first start of it, and it is shown for another one already.
    case shared
    case nested(count: Int)
    /// Every slot of this process is taken by another document; nothing has changed (`LIM-1`).
    case limitReached
    /// The processes of this instance hold as much together as is kept for one instance; nothing has changed.
    case crowded
  }

  package enum StopAnswer: Equatable, Sendable {
    /// The document has to be taken away now (`TOK-3`).
    case last
    /// It was this process's last, and another one still has it started.
    case shared
    case nested(count: Int)
    /// This process has not started it, though others may have; nothing happens (`TOK-5`).
    case inactive
  }

  /// A scope, and its owner.
  package struct Owned: Equatable, Sendable {
    package let process: Process
    package let holder: ScopeLedger.Holder
  }

  /// How many processes of an instance can have scopes at a time. For each the broker keeps a descriptor.
  package static let mostProcesses = 256
  /// How many slots the processes of an instance can use together, if one of them cannot use more by itself.
  package static let mostSlots = 16_384

  /// Of each process.
  package let limit: Int
  private let mostProcesses: Int
  private let mostSlots: Int
  /// Of processes that hold something.
  private var ledgers: [Process: ScopeLedger] = [:]
  /// How many processes hold each document.
  private var shares: [String: Int] = [:]
  /// Slots of all processes together.
  package private(set) var used = 0

  package init(
    limit: Int, mostProcesses: Int = ScopeOwners.mostProcesses, mostSlots: Int = ScopeOwners.mostSlots
  ) {
    #if AMBIT_MUTANTS
      self.limit = max(1, limit + (Mutant.limitHigher.isActive ? 1 : 0) - (Mutant.limitLower.isActive ? 1 : 0))
    #else
      self.limit = limit
    #endif
    self.mostProcesses = mostProcesses
    self.mostSlots = max(limit, mostSlots)
  }

  // MARK: Questions

  /// Some process has it started.
  package func isActive(_ grant: String) -> Bool { shares[grant] != nil }

  /// Whether a start now would be the first of its document, and has a slot.
  package func wouldBeFirst(_ grant: String, by process: Process) -> Bool {
    guard !isActive(grant), used < mostSlots else { return false }
    return ledgers[process].map { $0.used < limit } ?? (ledgers.count < mostProcesses)
  }

  package func used(by process: Process) -> Int { ledgers[process]?.used ?? 0 }

  /// In the order in which they started.
  package func holders(of process: Process) -> [ScopeLedger.Holder] { ledgers[process]?.holders ?? [] }

  /// Of every process, in the order of their numbers, and in the order in which they started.
  package var all: [Owned] {
    ledgers.sorted { $0.key < $1.key }.flatMap { process, ledger in
      ledger.holders.map { Owned(process: process, holder: $0) }
    }
  }

  /// The processes that have a document started, in the order of their numbers.
  package func owners(of grant: String) -> [Owned] {
    guard isActive(grant) else { return [] }
    return ledgers.compactMap { process, ledger in ledger.holder(of: grant).map { Owned(process: process, holder: $0) }
    }
    .sorted { $0.process < $1.process }
  }

  /// The number of slots of the process that uses most.
  package var mostUsed: Int { ledgers.values.map(\.used).max() ?? 0 }

  // MARK: Changes

  package mutating func start(
    _ grant: String, by process: Process, at time: Int64, caller: String? = nil
  ) -> StartAnswer {
    if ledgers[process].map({ $0.count(of: grant) == 0 && $0.used < limit }) ?? true {
      guard used < mostSlots, ledgers[process] != nil || ledgers.count < mostProcesses else { return .crowded }
    }
    switch ledgers[process, default: ScopeLedger(limit: limit)].start(grant, at: time, caller: caller) {
    case .nested(let count): return .nested(count: count)
    case .limitReached: return .limitReached
    case .first:
      used += 1
      let others = shares[grant] ?? 0
      shares[grant] = others + 1
      return others == 0 ? .first : .shared
    }
  }

  package mutating func stop(_ grant: String, by process: Process) -> StopAnswer {
    switch ledgers[process]?.stop(grant) ?? .inactive {
    case .inactive: return .inactive
    case .nested(let count): return .nested(count: count)
    case .last: return release(grant, of: process) ? .last : .shared
    }
  }

  /// Ends every scope of a process: it has ended (`TOK-11`).
  ///
  /// - Returns: its scopes, in the order in which they were started.
  @discardableResult
  package mutating func end(process: Process) -> [ScopeLedger.Holder] {
    let held = holders(of: process)
    for holder in held { end(holder.grant, of: process) }
    return held
  }

  /// Ends a document's scope in every process: its grant was withdrawn.
  @discardableResult
  package mutating func end(_ grant: String) -> [Owned] {
    let owned = owners(of: grant)
    for each in owned { end(grant, of: each.process) }
    return owned
  }

  /// Ends a scope of one process, even if it owes stops.
  ///
  /// - Returns: whether the document has to be taken away now.
  @discardableResult
  package mutating func end(_ grant: String, of process: Process) -> Bool {
    guard ledgers[process]?.end(grant) != nil else { return false }
    return release(grant, of: process)
  }

  /// A slot is free again.
  ///
  /// - Returns: whether no process has the document any more.
  private mutating func release(_ grant: String, of process: Process) -> Bool {
    used -= 1
    if ledgers[process]?.used == 0 { ledgers[process] = nil }
    guard let left = shares[grant], left > 1 else {
      shares[grant] = nil
      return true
    }
    shares[grant] = left - 1
    return false
  }
}
