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

  private let writes: Bool

  init(writes: Bool) throws {
    self.writes = writes
    do throws(WireError) { client = try Broker.take() } catch { throw error.cocoa() }
  }

  /// - Parameter meanwhile: runs when the broker has been asked.
  func wait(
    _ call: CoordinationInterface.AccessCall, meanwhile: () -> Void
  ) throws(WireError) -> CoordinationInterface.AccessReply {
    let answer = try client.call(CoordinationInterface.access, call.json, meanwhile: meanwhile)
    let reply: CoordinationInterface.AccessReply
    do { reply = try CoordinationInterface.AccessReply(json: answer.parameters) } catch {
      throw .unexpectedReply(error)
    }
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
    let done = CoordinationInterface.DoneCall(access: id).json
    do throws(WireError) {
      // A change is in the app's queries before the answer, and the lease on a presented document is there again: a program that
      // writes over it from then on is noticed before it writes.
      let isQuerying = writes && RunningQueries.shared.areThere
      if isQuerying || !PresenterTable.shared.isEmpty {
        _ = try client.call(CoordinationInterface.done, done)
        Broker.giveBack(client)
        if isQuerying { RunningQueries.shared.catchUp() }
      } else {
        try client.send(CoordinationInterface.done, done, oneway: true)
        Broker.giveBack(client)
      }
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

  /// Of a thread: a task that an accessor begins is not within that access.
  private final class Place {
    let context: Context
    init(_ context: Context) { self.context = context }
  }

  private static let key = {
    var key = pthread_key_t()
    precondition(unsafe pthread_key_create(&key, nil) == 0, "no room for another pthread_key_create(3)")
    return key
  }()

  static var current: Context {
    guard let place = unsafe pthread_getspecific(key) else { return Context() }
    return unsafe Unmanaged<Place>.fromOpaque(place).takeUnretainedValue().context
  }

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
    let place = Place(context)
    let former = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, Unmanaged.passUnretained(place).toOpaque())
    defer { unsafe pthread_setspecific(key, former) }
    return try withExtendedLifetime(place) { try body() }
  }
}
