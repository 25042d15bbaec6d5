/// Cuts a stream of bytes into messages, each ended by a zero byte, and hands each message the passengers
/// (descriptors) that came with it. A pure value: bytes in, messages out.
package struct MessageFramer<Passenger> {
  package struct Message {
    package let bytes: [UInt8]
    package let passengers: [Passenger]
  }

  /// Why the stream is over.
  package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong(limit: Int)
    case tooManyDescriptors(limit: Int)
    package var description: String {
      switch self {
      case .tooLong(let limit): "a message is longer than \(limit) bytes"
      case .tooManyDescriptors(let limit): "more than \(limit) descriptors came with a message"
      }
    }
  }

  private let messageSize: Int
  private let descriptors: Int
  private var buffer: [UInt8] = []
  /// Bytes before this have been handed out.
  private var start = 0
  /// Bytes from `start` up to this hold no zero.
  private var searched = 0
  /// Passengers, each with the position in the buffer of the byte with which it counts as having come.
  private var waiting: [(position: Int, passenger: Passenger)] = []

  package init(limits: WireLimits) {
    messageSize = limits.messageSize
    descriptors = limits.descriptors
  }

  /// Bytes that have come and have not been handed out.
  package var buffered: Int { buffer.count - start }

  /// `next` has a message to give.
  package var hasMessage: Bool { searched < buffer.count && buffer[searched...].contains(0) }

  /// Adds the result of one read. Passengers count as having come with the last of the bytes: the kernel ends a read
  /// behind the bytes that carry descriptors, while others may stand in front of them. A sender of descriptors
  /// therefore begins a message with them and puts no other message behind it in the same call of `sendmsg(2)`.
  package mutating func append(_ bytes: ArraySlice<UInt8>, passengers: [Passenger] = []) {
    precondition(!bytes.isEmpty, "passengers come with bytes")
    if start > 0 {
      buffer.removeSubrange(..<start)
      waiting = waiting.map { ($0.position - start, $0.passenger) }
      searched -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
    waiting.append(contentsOf: passengers.map { (buffer.count - 1, $0) })
  }

  /// The next whole message, without its zero; nil when none is whole yet.
  package mutating func next() throws(Fault) -> Message? {
    guard let end = buffer[searched...].firstIndex(of: 0) else {
      searched = buffer.count
      if buffered > messageSize { throw .tooLong(limit: messageSize) }
      if waiting.count > descriptors { throw .tooManyDescriptors(limit: descriptors) }
      return nil
    }
    if end - start > messageSize { throw .tooLong(limit: messageSize) }
    let count = waiting.prefix { $0.position <= end }.count
    if count > descriptors { throw .tooManyDescriptors(limit: descriptors) }
    let message = Message(bytes: Array(buffer[start..<end]), passengers: waiting.prefix(count).map(\.passenger))
    waiting.removeFirst(count)
    start = end + 1
    searched = start
    return message
  }
}

extension MessageFramer: Sendable where Passenger: Sendable {}
extension MessageFramer.Message: Sendable where Passenger: Sendable {}
