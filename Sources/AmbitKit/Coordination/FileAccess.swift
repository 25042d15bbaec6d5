internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// One coordinated access: a connection that is this access's alone, from its question to its end.
final class FileAccess: Sendable {
  private let client: WireClient
  private let number = Atomic(0)
  private let cancelled = Atomic(false)
  private let isOver = Atomic(false)

  private let staged = Atomic(false)
  /// Another program waits in `open(2)` for what is saved now. The document itself cannot be opened before.
  var isStaged: Bool { staged.load(ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
  private var id: Int { number.load(ordering: .relaxed) }

  init() throws {
    do throws(WireError) { client = try Broker.take() } catch { throw error.cocoa() }
  }

  func wait(_ call: CoordinationInterface.AccessCall) throws(WireError) -> CoordinationInterface.AccessReply {
    let reply: CoordinationInterface.AccessReply = try client.call(CoordinationInterface.access, call)
    number.store(reply.access, ordering: .relaxed)
    staged.store(reply.staged ?? false, ordering: .relaxed)
    return reply
  }

  /// The wait ends with an error.
  func cancel() {
    cancelled.store(true, ordering: .relaxed)
    // Closing it would hand its number to another file.
    _ = shutdown(client.socket.rawValue, Int32(SHUT_RDWR))
  }

  func moved(_ old: String, _ new: String) {
    _ = try? client.call(
      CoordinationInterface.moved, CoordinationInterface.MovedCall(access: id, from: old, to: new).json)
  }

  /// Ends it, once. Where that cannot be said, the end of the connection says it.
  func end() {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    do throws(WireError) {
      _ = try client.call(CoordinationInterface.done, CoordinationInterface.DoneCall(access: id).json)
      Broker.giveBack(client)
      // What it wrote was told to the app's queries before the answer.
      RunningQueries.shared.catchUp()
    } catch {}
  }

  /// Programs that this process starts have the connection as well.
  func share() { try? client.socket.keepAcrossExec() }

  /// The connection ends with this object.
  func close() { isOver.store(true, ordering: .relaxed) }

  // MARK: Nesting

  /// The accesses and the questions that the calling thread is at.
  struct Context: Sendable {
    var accesses: [Int] = []
    var questions: [Int] = []
  }

  private static let key = "io.ambit.FileAccess"

  static var current: Context { Thread.current.threadDictionary[key] as? Context ?? Context() }

  static func entering<Value>(_ access: FileAccess, _ body: () throws -> Value) rethrows -> Value {
    var context = current
    context.accesses.append(access.id)
    return try with(context, body)
  }

  static func answering<Value>(_ question: Int, _ body: () throws -> Value) rethrows -> Value {
    var context = current
    context.questions.append(question)
    return try with(context, body)
  }

  /// Goes on on another thread.
  static func resuming<Value>(_ context: Context, _ body: () throws -> Value) rethrows -> Value {
    try with(context, body)
  }

  private static func with<Value>(_ context: Context, _ body: () throws -> Value) rethrows -> Value {
    let dictionary = Thread.current.threadDictionary
    let former = dictionary[key]
    dictionary[key] = context
    defer { dictionary[key] = former }
    return try body()
  }
}
