/// The limits that one side sets to the other.
package struct WireLimits: Equatable, Sendable {
  /// Of one message, in bytes, without its final zero.
  package var messageSize: Int
  /// How deep its JSON may be nested.
  package var depth: Int
  /// How many descriptors may come with one message.
  package var descriptors: Int
  /// Bytes of replies that wait for a peer that does not read. More: the connection is dropped.
  package var outstandingBytes: Int
  /// Connections at a time to one instance's socket.
  package var connections: Int
  /// Calls of one instance, over all its connections: how many at once, and how many a second after that.
  package var callBurst: Int
  package var callsPerSecond: Int

  package init(
    messageSize: Int, depth: Int, descriptors: Int, outstandingBytes: Int, connections: Int, callBurst: Int,
    callsPerSecond: Int
  ) {
    self.messageSize = messageSize
    self.depth = depth
    self.descriptors = descriptors
    self.outstandingBytes = outstandingBytes
    self.connections = connections
    self.callBurst = callBurst
    self.callsPerSecond = callsPerSecond
  }

  /// For an app's messages. No method of an app's takes descriptors.
  package static let app = WireLimits(
    messageSize: 64 << 10, depth: 32, descriptors: 0, outstandingBytes: 1 << 20, connections: 64, callBurst: 4096,
    callsPerSecond: 20_000)

  /// For messages of the user's own side: a multiple pick sends many paths and descriptors.
  package static let user = WireLimits(
    messageSize: 4 << 20, depth: 32, descriptors: 253, outstandingBytes: 16 << 20, connections: 4096,
    callBurst: 65_536, callsPerSecond: 100_000)

  /// For a broker's messages to a client, which has to trust it anyway.
  package static let client = WireLimits(
    messageSize: 16 << 20, depth: 64, descriptors: 253, outstandingBytes: 16 << 20, connections: 1, callBurst: 1,
    callsPerSecond: 1)
}

/// Allows so many at once, and so many a second after that. A value without a clock: the caller passes the time.
package struct TokenBucket: Equatable, Sendable {
  package let burst: Int
  package let perSecond: Int
  /// In billionths of a token, so that no time is lost to rounding.
  private var level: Int64
  /// The time of the last question, in nanoseconds of a clock that does not go back.
  private var asked: Int64

  private static let token: Int64 = 1_000_000_000

  package init(burst: Int, perSecond: Int, now: Int64) {
    precondition((1...1_000_000).contains(burst) && (1...1_000_000).contains(perSecond))
    self.burst = burst
    self.perSecond = perSecond
    level = Int64(burst) * Self.token
    asked = now
  }

  /// Takes one, if there is one.
  ///
  /// - Parameter now: nanoseconds of a monotonic clock. A time before the last one counts as the last one.
  package mutating func take(now: Int64) -> Bool {
    refill(now: now)
    guard level >= Self.token else { return false }
    level -= Self.token
    return true
  }

  /// Nanoseconds from `now` until one can be taken; 0 when one can be taken now.
  package mutating func wait(now: Int64) -> Int64 {
    refill(now: now)
    let missing = max(0, Self.token - level)
    return (missing + Int64(perSecond) - 1) / Int64(perSecond)
  }

  private mutating func refill(now: Int64) {
    guard now > asked else { return }
    let full = Int64(burst) * Self.token
    // A long silence fills the bucket; it must not overflow the product.
    let (gained, overflow) = (now - asked).multipliedReportingOverflow(by: Int64(perSecond))
    level = overflow || gained >= full - level ? full : level + gained
    asked = now
  }
}
