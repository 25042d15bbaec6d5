internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The connection of a running query: a thread waits for updates and takes them, and so does each thread that has to know them now.
final class QueryStream: Sendable {
  typealias Update = QueryInterface.Update

  let client: WireClient
  /// The query's number.
  let number: Int
  private let isOver = Atomic(false)
  /// One at a time takes updates, so that they are taken in their order.
  private let taking = Mutex(())
  private let take: @Sendable (Update) -> Void

  /// Starts a query. Its updates are waited for from ``begin(_:)`` on.
  ///
  /// - Throws: the broker's refusal.
  init(_ call: QueryInterface.RunCall, _ take: @escaping @Sendable (Update) -> Void) throws(WireError) {
    client = try Broker.connect()
    self.take = take
    try client.send(QueryInterface.run, call.json, more: true)
    guard let answer = try client.receive(wait: true) else { throw .closed }
    guard let number = try Self.update(answer).query else { throw .broken("a query without a number") }
    self.number = number
  }

  private static func update(_ answer: WireClient.Answer) throws(WireError) -> Update {
    do { return try QueryInterface.RunReply(json: answer.parameters).update } catch { throw .unexpectedReply(error) }
  }

  /// - Parameter onEnd: called once, when no more updates come although nobody has stopped it.
  func begin(_ onEnd: @escaping @Sendable () -> Void) throws(KernelError) {
    RunningQueries.shared.add(self)
    try Worker.start {
      var entries = [PollEntry(self.client.socket, .read)]
      // First what has come already: with the first answer there may have been more.
      while !self.isOver.load(ordering: .relaxed) {
        guard self.catchUp(), (try? Poll.wait(&entries)) != nil else { break }
      }
      RunningQueries.shared.remove(self)
      if !self.isOver.load(ordering: .relaxed) { onEnd() }
    }
  }

  /// Takes all updates that have come.
  ///
  /// - Returns: `false`: there will be no more.
  @discardableResult
  func catchUp() -> Bool {
    taking.withLock { _ in
      do throws(WireError) {
        while let answer = try client.receive(wait: false) {
          if isOver.load(ordering: .relaxed) { return false }
          take(try Self.update(answer))
        }
        return true
      } catch { return false }
    }
  }

  func stop() {
    isOver.store(true, ordering: .relaxed)
    RunningQueries.shared.remove(self)
    // Closing it would hand its number to another file.
    _ = shutdown(client.socket.rawValue, Int32(SHUT_RDWR))
  }
}

/// The running queries of this process. What a coordinated access has written was told to them before it ended; when the accessor goes on,
/// they know it (`MDQ-7`).
final class RunningQueries: Sendable {
  static let shared = RunningQueries()
  private let streams = Mutex<[QueryStream]>([])

  func add(_ stream: QueryStream) { streams.withLock { $0.append(stream) } }
  func remove(_ stream: QueryStream) { streams.withLock { $0.removeAll { $0 === stream } } }
  var areThere: Bool { streams.withLock { !$0.isEmpty } }
  func catchUp() { for stream in streams.withLock({ $0 }) { stream.catchUp() } }
}
