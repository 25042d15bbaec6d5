/// The documents that an app used last: Windows' `StorageItemMostRecentlyUsedList`. A pure rule.
///
/// Every use puts a document first, and one that falls out at the end loses its grant, unless something
/// else needs that (`LIM-11`).
package struct RecentGrants: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    package let grant: String
    /// When it was last started, or else granted; in nanoseconds of the caller's own clock.
    package let used: Int64
    /// A bookmark or a reference was made of it, or another grant.
    package let isNeeded: Bool

    package init(grant: String, used: Int64, isNeeded: Bool) {
      self.grant = grant
      self.used = used
      self.isNeeded = isNeeded
    }
  }

  package let limit: Int

  package init(limit: Int) { self.limit = limit }

  /// The list, the one that was used last first.
  ///
  /// - Parameter grants: all that the app has. Of those of the same moment the later ones in this order count as used later.
  package func list(of grants: [Entry]) -> [Entry] { Array(ordered(grants).prefix(limit)) }

  /// Those that have fallen out of the list and that nothing else needs: they end. Oldest last.
  package func evicted(from grants: [Entry]) -> [Entry] { ordered(grants).dropFirst(limit).filter { !$0.isNeeded } }

  private func ordered(_ grants: [Entry]) -> [Entry] {
    grants.enumerated().sorted { ($0.element.used, $0.offset) > ($1.element.used, $1.offset) }.map(\.element)
  }
}
