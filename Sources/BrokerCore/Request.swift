package import Kernel
package import Wire

/// The answer to a call.
package struct Answer {
  package let parameters: JSONObject
  package let descriptors: [Descriptor]

  package init(_ parameters: JSONObject, descriptors: [Descriptor] = []) {
    (self.parameters, self.descriptors) = (parameters, descriptors)
  }

  package init(_ message: some WireMessage) { self.init(message.json) }
}

/// The course of a call.
package enum Course {
  /// It is done. `nil`: further answers come by a ``Subscription``.
  case done(Answer?)
  /// The rest of it waits for something.
  case waits(@BrokerLoop () async throws -> Answer?)
}

/// A call that is being served. It begins at once, may wait, and goes on with the awaited result; it is over when it is answered,
/// or when its client has gone.
@BrokerLoop
package final class Request {
  package let connection: WireConnection
  private let cancellation = Cancellation()

  private init(on connection: WireConnection) { self.connection = connection }

  /// Serves a call. The part before its first wait runs at once, without a task: a new task takes longer than most answers.
  ///
  /// Failures and answers are those of ``serve(failure:_:answer:)``.
  ///
  /// - Parameter waits: is given the request where it has to wait: it is over when its connection is.
  package static func begin(
    on connection: WireConnection, waits: @BrokerLoop (Request) -> Void,
    failure: @escaping @BrokerLoop (any Error) -> ErrorReply, _ body: @BrokerLoop () throws -> Course,
    answer: @escaping @BrokerLoop (Reply, [Descriptor]) -> Void
  ) {
    BrokerLoop.perform {
      do {
        switch try body() {
        case .done(let reply): if let reply { answer(Reply(reply.parameters), reply.descriptors) }
        case .waits(let rest):
          let request = Request(on: connection)
          waits(request)
          request.serve(failure: failure, rest, answer: answer)
        }
      } catch { answer(Reply(Self.reply(error, failure)), []) }
    }
  }

  /// Every failure becomes an answer: nothing that a client sends may end the broker.
  ///
  /// - Parameters:
  ///   - failure: how an error that no interface knows is told to this client.
  ///   - body: `nil`: further answers come by a ``Subscription``.
  ///   - answer: is not called for a client that has gone.
  private func serve(
    failure: @escaping @BrokerLoop (any Error) -> ErrorReply,
    _ body: @escaping @BrokerLoop () async throws -> Answer?,
    answer: @escaping @BrokerLoop (Reply, [Descriptor]) -> Void
  ) {
    let cancellation = cancellation
    BrokerLoop.begin(cancellation) {
      do {
        guard let reply = try await body(), !cancellation.isCancelled else { return }
        answer(Reply(reply.parameters), reply.descriptors)
      } catch {
        if cancellation.isCancelled || error is CancellationError { return }
        answer(Reply(Self.reply(error, failure)), [])
      }
    }
  }

  private static func reply(_ error: any Error, _ failure: (any Error) -> ErrorReply) -> ErrorReply {
    switch error {
    case let error as ErrorReply: error
    case let error as FieldError: .invalidParameter(error.field)
    default: failure(error)
    }
  }

  /// The connection has gone, or the sandbox that asks.
  package func cancel() { cancellation.cancel() }
}

/// The calls of one socket that are being served: one of each connection.
@BrokerLoop
package struct RequestTable {
  private var requests: [Int: Request] = [:]

  package nonisolated init() {}

  package mutating func begin(_ request: Request) { requests[request.connection.id] = request }
  package mutating func end(_ connection: WireConnection) { requests.removeValue(forKey: connection.id)?.cancel() }
  package mutating func endAll() {
    for request in requests.values { request.cancel() }
    requests = [:]
  }
}
