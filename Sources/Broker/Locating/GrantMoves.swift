internal import BrokerCore
internal import ScopedAccess

/// Where documents have gone is written down when every request has been answered.
@BrokerLoop
final class GrantMoves: LoopMember {
  private let grants: GrantStore
  init(_ grants: GrantStore) { self.grants = grants }
  func finishTurn(now: Int64) { grants.settleMoves() }
}
