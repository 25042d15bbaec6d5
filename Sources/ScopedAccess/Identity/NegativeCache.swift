/// Documents that were searched for and not found, for a while: so that an app that asks for a dead document again and again
/// costs one search and not one for each time.
///
/// A pure value. It only ever keeps a search from being made anew: a file that stands where it was last seen, or where it was
/// seen since, is found all the same. For twenty times as long as the search has taken, so that no more than a twentieth of
/// one thread goes into looking for missing documents; and until something is mounted or unmounted.
package struct NegativeCache: Sendable {
  private struct Absence {
    let until: Int64
    let mounts: Int
  }

  package static let limit = 4096
  static let shortest: Int64 = 2_000_000_000
  static let longest: Int64 = 120_000_000_000

  private var absences: [FileIdentity: Absence] = [:]
  /// Oldest first; may have some that were forgotten since.
  private var order: [FileIdentity] = []

  package init() {}

  /// - Parameters:
  ///   - now: nanoseconds of a clock that does not go back; `took`: how long the search was.
  ///   - mounts: counts the changes of the mounts.
  package mutating func note(_ identity: FileIdentity, at now: Int64, took: Int64, mounts: Int) {
    if absences.removeValue(forKey: identity) != nil { order.removeAll { $0 == identity } }
    if order.count >= Self.limit {
      for old in order.prefix(Self.limit / 8) { absences[old] = nil }
      order.removeFirst(Self.limit / 8)
    }
    let time = min(max(min(took, Self.longest) * 20, Self.shortest), Self.longest)
    absences[identity] = Absence(until: now + time, mounts: mounts)
    order.append(identity)
  }

  package func holds(_ identity: FileIdentity, at now: Int64, mounts: Int) -> Bool {
    guard let absence = absences[identity] else { return false }
    return now < absence.until && mounts == absence.mounts
  }

  /// It was seen.
  package mutating func forget(_ identity: FileIdentity) {
    if absences.removeValue(forKey: identity) != nil { order.removeAll { $0 == identity } }
  }

  package var count: Int { absences.count }
}
