#if canImport(Glibc)
  internal import Glibc
#endif

/// The places between two changes of stored or shown state, at which a test can end the process or have a change fail.
///
/// Only in programs built for debugging: `AMBIT_FAULT` is `kill POINT FILE` or `fail POINT FILE`, and counts once, for the
/// process that can remove FILE; or `hold POINT FILE`, which lasts as long as FILE is there. In a release build there is
/// nothing of it.
package enum FaultPoint: String, CaseIterable, Sendable {
  /// The step at the place is done, and the next one is not.
  case eventsDue, eventsWritten, eventsMoved
  case grantsAdded, grantsDue, grantsSettled, grantMoved, grantsRevoked
  case placeMade, referenceBegun, referenceWritten
  case documentShown, documentHidden
  case replacementBegun, filesExchanged, grantsReplaced
  case bookmarkSealed
  case attached, ended
  case syncDue
  case segmentEnded, segmentMade, somethingCarried, removalSaid, removalSigned
  /// Before the content of a file is copied that an app saves, where it has to be.
  case contentDue
  /// The files that an app has left of its database are out of its reach; are about to be copied; are about
  /// to appear; have appeared.
  case sidecarsTaken, sidecarsDue, sidecarsCopied, sidecarsKept
  /// Of a save in place: the old content is kept; a part of the new one is written; all of it is on the disk; the record of the
  /// old one is removed. And of its undoing: a part of the old content is back.
  case oldContentKept, contentWriting, contentWritten, recordRemoved, contentRestoring
  /// Before the references to grants that have ended are removed.
  case referencesDue
  /// Before many documents that were picked are looked at.
  case picksDue

  #if DEBUG
    /// The variables that a process under test hands on.
    package static let environment = ["AMBIT_FAULT"]

    /// Ends the process here, if a test wants that.
    package func pass() {
      guard isChosen("kill") else { return }
      _ = kill(getpid(), SIGKILL)
      while true { pause() }
    }

    /// Whether a test wants the next step to fail.
    package var fails: Bool { isChosen("fail") }

    /// Waits here as long as a test wants that.
    package func hold() {
      guard let chosen = Self.chosen, chosen.action == "hold", chosen.point == rawValue else { return }
      while unsafe access(chosen.file, F_OK) == 0 { usleep(1000) }
    }

    private func isChosen(_ action: String) -> Bool {
      guard let chosen = FaultPoint.chosen, chosen.action == action, chosen.point == rawValue else { return false }
      return unsafe unlink(chosen.file) == 0
    }

    fileprivate static let chosen: (action: String, point: String, file: String)? = {
      guard let text = unsafe getenv("AMBIT_FAULT") else { return nil }
      let parts = unsafe String(cString: text).split(separator: " ", maxSplits: 2).map(String.init)
      return parts.count == 3 ? (parts[0], parts[1], parts[2]) : nil
    }()
  #else
    package static let environment: [String] = []
    @inlinable package func pass() {}
    @inlinable package func hold() {}
    @inlinable package var fails: Bool { false }
  #endif
}
