internal import Foundation
internal import Kernel
internal import Launcher
internal import Synchronization
internal import SystemPackage
internal import Wire

/// A coordinated access of the user's side. It lives as long as its connection, and so no longer than this process.
struct CoordinatedAccess {
  typealias Intent = CoordinationInterface.Intent

  /// How an access is asked for.
  struct Terms {
    /// The name of the command, for people.
    var caller: String
    var purpose: String
    /// Seconds; `nil`: the broker's own patience.
    var timeout: Double?
    /// The end of the sentence that says who is waited for.
    var note = ""

    /// - Parameter purpose: as the command line has it. Without one, the commands within `ambit coordinate` share that of the
    ///   outermost, so that they do not wait for it.
    init(_ caller: String, purpose: String? = nil, timeout: Double? = nil) {
      self.caller = caller
      self.purpose =
        purpose ?? ThisProcess.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
        ?? "\(caller) \(UUID().uuidString)"
      self.timeout = timeout
    }

    static let variable = "AMBIT_COORDINATION_PURPOSE"
  }

  /// As many items as the broker takes in one access of the user's side.
  static let most = 256

  private let connection: WireClient
  private let number: Int
  /// Where the items are by now, in their order.
  let paths: [String]

  /// Waits until all the items may be used, together.
  ///
  /// - Parameters:
  ///   - earlier: an access of the same command that this one is made in; its connection is used.
  ///   - prepares: presenters are asked, also those of contained items, and nothing is held.
  /// - Throws: `Failure` with status 125, which names those that were waited for.
  init(
    _ intents: [Intent], _ terms: Terms, within earlier: CoordinatedAccess? = nil, prepares: Bool = false
  ) throws {
    guard intents.count <= Self.most else {
      throw Failure(
        "\(intents.count) items are too many for one access, which has \(Self.most) at most; pass the files in parts.")
    }
    let call = CoordinationInterface.AccessCall(
      intents: intents, purpose: terms.purpose, caller: terms.caller, within: earlier.map { [$0.number] },
      prepares: prepares ? true : nil, patience: terms.timeout.map { Int($0 * 1e9) })
    func ask(_ client: WireClient) throws -> (WireClient, CoordinationInterface.AccessReply) {
      client.setPatience(Self.patience(terms))
      defer { client.setPatience(nil) }
      return (client, try client.call(CoordinationInterface.access, call))
    }
    do {
      let (client, reply) = try earlier.map { try ask($0.connection) } ?? BrokerConnection.ask(UserSide.folders, ask)
      (connection, number, paths) = (client, reply.access, reply.paths)
    } catch WireError.remote(let name, let parameters) {
      throw Failure(CoordinationRefusal.sentence(name, parameters))
    } catch WireError.kernel(let error) where error.errno == .timedOut {
      let reason = WaitSentence.ofThisProcess().map { " \($0)" } ?? ""
      throw Failure("the access was not granted within \(Self.seconds(terms.timeout ?? 0)).\(reason)")
    }
  }

  /// From now on commands have the connection as well: if this process is killed, the access lasts as long as they do.
  func share() throws { try connection.socket.keepAcrossExec() }

  /// Says after a moment who is waited for. The broker keeps the time limit for each step; this side keeps it for the whole.
  private static func patience(_ terms: Terms) -> WireClient.Patience {
    let due = terms.timeout.map { Clock.monotonic() + Int64($0 * 1e9) + grace }
    let note = terms.note
    let isTold = Once()
    return WireClient.Patience(.seconds(1)) { () throws(WireError) in
      if let due, Clock.monotonic() >= due { throw .kernel(KernelError("poll", errno: .timedOut)) }
      if isTold.begin(), let sentence = WaitSentence.ofThisProcess() { Failure.say("\(sentence)\(note)") }
      return due == nil ? nil : .milliseconds(200)
    }
  }

  /// Something that is done once.
  private final class Once: Sendable {
    private let isDone = Mutex(false)
    func begin() -> Bool {
      isDone.withLock { isDone in
        defer { isDone = true }
        return !isDone
      }
    }
  }

  /// Nanoseconds for the broker's own refusal, which says more.
  private static let grace: Int64 = 500_000_000

  private static func seconds(_ number: Double) -> String {
    number == 1 ? "1 second" : "\(number.formatted(.number.precision(.fractionLength(0...1)))) seconds"
  }

  /// Tells presenters of a move that has happened.
  func moved(from: String, to: String) throws {
    _ = try connection.call(
      CoordinationInterface.moved, CoordinationInterface.MovedCall(access: number, from: from, to: to).json)
  }

  /// Ends it. Where that cannot be said, the end of the connection does.
  func done() {
    _ = try? connection.call(CoordinationInterface.done, CoordinationInterface.DoneCall(access: number).json)
  }
}
