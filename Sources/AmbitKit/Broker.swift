internal import Foundation
package import Synchronization
internal import Wire

/// The app's way to its broker. Connections are made when they are needed and kept: one thread uses one, and a thread
/// that waits (for the user to pick) keeps no other waiting.
package enum Broker {
  /// Named by the environment of every sandboxed app.
  static let variable = "AMBIT_ADDRESS"

  private struct Idle {
    var address = ""
    /// The process that owns the connections: a process that was forked does not read its parent's answers.
    var process: Int32 = 0
    var clients: [WireClient] = []
  }
  private static let idle = Mutex(Idle())
  /// More than one is there only when several threads called at once. An app with several processes has 64 in all.
  private static let keptConnections = 16
  /// How many are asked, if each goes before it has read the call.
  private static let mostBrokers = 8

  static func call<Answer: WireMessage>(
    _ method: String, _ parameters: some WireMessage, answer: Answer.Type = Answer.self
  ) throws(WireError) -> Answer {
    try call { client throws(WireError) in try client.call(method, parameters, answer: answer) }
  }

  /// For an answer with one field, the descriptor that comes with it.
  ///
  /// - Returns: the caller's to close.
  static func descriptor(_ method: String, _ parameters: some WireMessage) throws(WireError) -> Int32 {
    try call { client throws(WireError) in try client.call(method, parameters.json).takeDescriptor() }
  }

  /// For a method that answers nothing.
  static func call(_ method: String, _ parameters: some WireMessage) throws(WireError) {
    try call { client throws(WireError) in _ = try client.call(method, parameters.json) }
  }

  static func call<Answer: WireMessage>(
    _ method: String, answer: Answer.Type = Answer.self
  ) throws(WireError) -> Answer {
    try call { client throws(WireError) in try client.call(method, answer: answer) }
  }

  private static func call<Answer>(_ body: (WireClient) throws(WireError) -> Answer) throws(WireError) -> Answer {
    let address = try self.address()
    for _ in 1..<mostBrokers {
      do throws(WireError) {
        return try use(try client(address), address, body)
      } catch .unread {
        // That broker has left, since the last call or at this moment; the next one takes over the calling app.
      }
    }
    return try use(try client(address), address, body)
  }

  /// For a call without an answer.
  static func tell(_ method: String, _ parameters: some WireMessage) throws(WireError) {
    try call { client throws(WireError) in try client.send(method, parameters.json, oneway: true) }
  }

  /// Where the broker is, and the process whose connections are of use.
  struct Place: Equatable {
    var address = ""
    var process: Int32 = 0
  }

  static func place() throws(WireError) -> Place { Place(address: try address(), process: getpid()) }

  /// A connection of its own, for a call that answers many times.
  static func connect() throws(WireError) -> WireClient { try WireClient(address: try address()) }

  /// A connection that nothing else uses until it is given back.
  static func take() throws(WireError) -> WireClient { try client(try address()) }

  /// Its last answer has come.
  static func giveBack(_ client: WireClient) {
    guard let address = try? address() else { return }
    keep(client, address)
  }

  private static func client(_ address: String) throws(WireError) -> WireClient {
    if let kept = take(address) { return kept }
    return try WireClient(address: address)
  }

  private static func use<Answer>(
    _ client: WireClient, _ address: String, _ body: (WireClient) throws(WireError) -> Answer
  ) throws(WireError) -> Answer {
    do throws(WireError) {
      let answer = try body(client)
      keep(client, address)
      return answer
    } catch {
      // An error that the broker answered leaves the connection whole. After any other it is not to be trusted.
      if case .remote(let name, _) = error, !name.hasPrefix("io.ambit.ProtocolError") { keep(client, address) }
      throw error
    }
  }

  /// Stands for the environment in tests: those of a whole package run in one process, and its environment cannot be
  /// changed while other threads read it.
  package static let addressInTests = Mutex<String?>(nil)

  private static func address() throws(WireError) -> String {
    if let address = addressInTests.withLock({ $0 }) { return address }
    guard let value = unsafe getenv(variable) else {
      throw .badAddress(
        "This program is not running under Ambit: \(variable) is not set. Start it with `ambit run`.")
    }
    return unsafe String(cString: value)
  }

  private static func take(_ address: String) -> WireClient? {
    idle.withLock { idle in idle.address == address && idle.process == getpid() ? idle.clients.popLast() : nil }
  }

  private static func keep(_ client: WireClient, _ address: String) {
    idle.withLock { idle in
      if idle.address != address || idle.process != getpid() { idle = Idle(address: address, process: getpid()) }
      if idle.clients.count < keptConnections { idle.clients.append(client) }
    }
  }
}
