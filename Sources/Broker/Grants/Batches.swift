/// Work of which one owner may have much: items that come while some of theirs are under way are
/// done in one go afterwards.
///
/// A pure value.
struct Batches<Piece> {
  private(set) var waiting: [String: [Piece]] = [:]
  private(set) var running: [String: [Piece]] = [:]

  mutating func add(_ piece: Piece, of owner: String) { waiting[owner, default: []].append(piece) }

  /// The items to be done for an owner now; `nil`: none, or something is still under way.
  mutating func begin(_ owner: String) -> [Piece]? {
    guard running[owner] == nil, let pieces = waiting.removeValue(forKey: owner) else { return nil }
    running[owner] = pieces
    return pieces
  }

  /// That is done. Items that have come meanwhile wait for ``begin(_:)``.
  mutating func end(_ owner: String) { running[owner] = nil }

  func isIdle(_ owner: String) -> Bool { waiting[owner] == nil && running[owner] == nil }
  var isIdle: Bool { waiting.isEmpty && running.isEmpty }

  func contains(where matches: (Piece) -> Bool) -> Bool {
    running.values.contains { $0.contains(where: matches) } || waiting.values.contains { $0.contains(where: matches) }
  }
}
