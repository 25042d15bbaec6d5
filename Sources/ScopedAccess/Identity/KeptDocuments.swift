package import Kernel

/// Documents that are kept open between their uses, so that they are found after any move meanwhile.
///
/// A file that is kept open keeps its space on the disk when it is deleted. So there are few, each for a while, and one without a
/// name is let go of: that it is gone is remembered instead.
package struct KeptDocuments {
  /// More than these are looked for through their folders.
  package static let most = 64
  /// Nanoseconds without a use after which one is closed.
  package static let patience: Int64 = 600_000_000_000
  /// Nanoseconds between two looks at the names that they have.
  package static let pause: Int64 = 1_000_000_000
  private static let mostGone = 512

  private struct Entry {
    let descriptor: Descriptor
    let identity: FileIdentity
    var used: Int64
  }

  private var entries: [String: Entry] = [:]
  /// Files without a name, the oldest first. None gets a name again (`linkat(2)`: `ENOENT`).
  private var gone: [FileIdentity] = []
  private var looked: Int64 = 0

  package init() {}

  package var count: Int { entries.count }

  /// The open document of a grant, if it is kept.
  package subscript(grant: String) -> Descriptor? { entries[grant]?.descriptor }

  /// Keeps a grant's document open; of too many the one goes that was not used for the longest time.
  ///
  /// - Parameter now: nanoseconds of CLOCK_MONOTONIC.
  package mutating func keep(_ document: FoundDocument, of grant: String, now: Int64) {
    entries[grant] = Entry(descriptor: document.descriptor, identity: document.identity, used: now)
    gone.removeAll { $0 == document.identity }
    guard entries.count > Self.most, let oldest = entries.min(by: { $0.value.used < $1.value.used }) else { return }
    entries[oldest.key] = nil
  }

  package mutating func remove(_ grant: String) { entries[grant] = nil }

  /// Closes those that have no name any more, or were not used for a while. Looks no more often than there is a point in it.
  package mutating func sweep(now: Int64) {
    guard !entries.isEmpty, now - looked >= Self.pause else { return }
    looked = now
    for (grant, entry) in entries {
      let isGone = (try? entry.descriptor.status())?.links == 0
      if isGone { note(entry.identity) }
      if isGone || now - entry.used > Self.patience { entries[grant] = nil }
    }
  }

  private mutating func note(_ identity: FileIdentity) {
    guard !gone.contains(identity) else { return }
    if gone.count >= Self.mostGone { gone.removeFirst() }
    gone.append(identity)
  }

  /// Whether it was seen that a document has no name any more: then no search finds it.
  package func isGone(_ identity: FileIdentity) -> Bool { gone.contains(identity) }
}
