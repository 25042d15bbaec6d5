internal import CLinux
internal import SystemPackage

/// The events that one waits for, or that happened, on a descriptor (`poll(2)`).
package struct PollEvents: OptionSet, Sendable {
  package let rawValue: Int16
  package init(rawValue: Int16) { self.rawValue = rawValue }

  /// Something can be read, or accepted, or the end has been reached.
  package static let read = PollEvents(rawValue: 0x001)
  package static let write = PollEvents(rawValue: 0x004)
  /// An error is waiting on the descriptor. Reported without being asked for.
  package static let error = PollEvents(rawValue: 0x008)
  /// The peer has gone. Reported without being asked for, also while nothing is being read.
  package static let hangUp = PollEvents(rawValue: 0x010)
  /// The descriptor is not open. Reported without being asked for.
  package static let invalid = PollEvents(rawValue: 0x020)

  package static let readOrWrite = PollEvents(rawValue: 0x005)
  /// ``hangUp`` or ``error``.
  package static let over = PollEvents(rawValue: 0x018)
}

/// One descriptor to wait for, and its events in the last wait.
package struct PollEntry {
  /// Kept alive while it is being waited for.
  package let descriptor: Descriptor
  package var events: PollEvents
  /// For the waiting code, to know the entry again.
  package let tag: Int
  package fileprivate(set) var returned: PollEvents = []
  /// Whether anything has.
  package var hasHappened: Bool { returned.rawValue != 0 }

  package init(_ descriptor: Descriptor, _ events: PollEvents, tag: Int = 0) {
    self.tag = tag
    self.descriptor = descriptor
    self.events = events
  }
}

package enum Poll {
  /// How many processors this process may use.
  package static var processors: Int { Int(ambit_processors()) }

  /// The same as ``wait(_:timeout:)``, but stays awake for a while first, and sleeps only then.
  ///
  /// - Parameter awake: nanoseconds; see `AdaptivePolling`. It counts as part of the time.
  @discardableResult
  package static func wait(
    _ entries: inout [PollEntry], timeout: Duration? = nil, awake: Int64
  ) throws(KernelError) -> Int {
    if awake > 0, timeout.map({ $0 > .zero }) ?? true {
      let ready = try look(&entries, for: awake)
      if ready > 0 { return ready }
    }
    return try wait(&entries, timeout: timeout)
  }

  /// Looks, once at least, whether something has happened to one of the entries, and goes on looking without sleeping for so many
  /// nanoseconds.
  @discardableResult
  package static func look(_ entries: inout [PollEntry], for awake: Int64) throws(KernelError) -> Int {
    let end = awake > 0 ? Clock.monotonic() + awake : 0
    var raw = raw(entries)
    while true {
      let ready = try ask(&raw, 0)
      if ready > 0 || awake <= 0 || Clock.monotonic() >= end {
        note(raw, in: &entries)
        return ready
      }
    }
  }

  /// Waits until something happens to one of the entries, or until the time is over.
  ///
  /// - Parameter timeout: nil: no end. Rounded up to whole milliseconds, so that a wait never ends too early and spins.
  /// - Returns: how many entries have something in `returned`. 0 when the time is over, and also when a signal came:
  ///   the caller looks at its clock and its signals anyway.
  @discardableResult
  package static func wait(_ entries: inout [PollEntry], timeout: Duration? = nil) throws(KernelError) -> Int {
    var raw = raw(entries)
    let ready = try ask(&raw, timeout.map(wholeMilliseconds) ?? -1)
    note(raw, in: &entries)
    return ready
  }

  private static func raw(_ entries: [PollEntry]) -> [pollfd] {
    entries.map { pollfd(fd: $0.descriptor.rawValue, events: $0.events.rawValue, revents: 0) }
  }

  private static func note(_ raw: [pollfd], in entries: inout [PollEntry]) {
    for index in entries.indices { entries[index].returned = PollEvents(rawValue: raw[index].revents) }
  }

  private static func ask(_ raw: inout [pollfd], _ milliseconds: Int32) throws(KernelError) -> Int {
    let ready = unsafe raw.withUnsafeMutableBufferPointer { buffer in
      unsafe ambit_poll(buffer.baseAddress, buffer.count, milliseconds)
    }
    if ready >= 0 { return Int(ready) }
    // Its events from the last time do not count.
    for index in raw.indices { raw[index].revents = 0 }
    let code = Errno(rawValue: -ready)
    if code == .interrupted { return 0 }
    throw KernelError("poll", "\(raw.count) descriptors", errno: code)
  }

  private static func wholeMilliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 2_000_000 else { return Int32.max }
    let perMillisecond: Int64 = 1_000_000_000_000_000
    return Int32(seconds * 1000 + (attoseconds + perMillisecond - 1) / perMillisecond)
  }
}
