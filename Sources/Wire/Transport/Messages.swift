package import Kernel

/// A call as it came in.
package struct IncomingCall: Sendable {
  /// Interface and member, for example `io.ambit.Access.Start`.
  package let method: String
  package let parameters: JSONObject
  /// The caller takes several replies.
  package let more: Bool
  /// The caller wants no reply, and gets none.
  package let oneway: Bool
  package let descriptors: [Descriptor]
  /// The process that sent it, on a socket that names senders.
  package let sender: UnixSocket.Sender?

  package init(
    method: String, parameters: JSONObject = [:], more: Bool = false, oneway: Bool = false,
    descriptors: [Descriptor] = [], sender: UnixSocket.Sender? = nil
  ) {
    self.sender = sender
    self.method = method
    self.parameters = parameters
    self.more = more
    self.oneway = oneway
    self.descriptors = descriptors
  }

  /// Reads a call's envelope. Unknown fields are an error: a misspelt `oneway` must not become a call.
  package init(
    message: JSONObject, descriptors: [Descriptor], sender: UnixSocket.Sender? = nil
  ) throws(FieldError) {
    self.sender = sender
    for field in message.fields where !Self.fields.contains(field.name) {
      throw FieldError(field: field.name, expected: "part of a call")
    }
    method = try message.string("method")
    parameters = message.has("parameters") ? try message.object("parameters") : [:]
    more = try message.boolIfPresent("more") ?? false
    oneway = try message.boolIfPresent("oneway") ?? false
    if more && oneway { throw FieldError(field: "oneway", expected: "usable together with “more”") }
    self.descriptors = descriptors
  }

  private static let fields = ["method", "parameters", "oneway", "more"]

  /// The call as a message, for a client.
  var message: JSONObject {
    var message: JSONObject = ["method": .string(method)]
    if !parameters.isEmpty { message["parameters"] = .object(parameters) }
    if more { message["more"] = true }
    if oneway { message["oneway"] = true }
    return message
  }
}

/// An answer that is an error of an interface. Can be thrown by the handler of a call.
package struct ErrorReply: Error, Equatable, Sendable {
  /// Interface and member, for example `io.ambit.Access.LimitReached`.
  package let name: String
  package let parameters: JSONObject

  package init(_ name: String, _ parameters: JSONObject = [:]) {
    self.name = name
    self.parameters = parameters
  }

  /// The sentence that some errors carry.
  package var reason: String? {
    guard case .string(let reason) = parameters["reason"] else { return nil }
    return reason
  }

  package static func interfaceNotFound(_ name: String) -> ErrorReply {
    ErrorReply("org.varlink.service.InterfaceNotFound", ["interface": .string(name)])
  }
  package static func methodNotFound(_ name: String) -> ErrorReply {
    ErrorReply("org.varlink.service.MethodNotFound", ["method": .string(name)])
  }
  package static func invalidParameter(_ name: String) -> ErrorReply {
    ErrorReply("org.varlink.service.InvalidParameter", ["parameter": .string(name)])
  }
  package static let permissionDenied = ErrorReply("org.varlink.service.PermissionDenied")
  package static let expectedMore = ErrorReply("org.varlink.service.ExpectedMore")
  /// The bytes were not the protocol. The last message on a connection.
  package static func protocolError(_ reason: String) -> ErrorReply {
    ErrorReply("io.ambit.ProtocolError", ["reason": .string(reason)])
  }
  /// The instance has reached a limit of the connection, for example `connections` or `callsPerSecond`.
  package static func tooMuch(_ limit: String, _ value: Int) -> ErrorReply {
    ErrorReply("io.ambit.TooMuch", ["limit": .string(limit), "value": JSONValue(value)])
  }
}

/// One answer to a call.
package struct Reply: Equatable, Sendable {
  package let parameters: JSONObject
  /// More answers to the same call follow.
  package let continues: Bool
  /// Nil: the call succeeded.
  package let error: String?

  package init(_ parameters: JSONObject = [:], continues: Bool = false) {
    self.parameters = parameters
    self.continues = continues
    error = nil
  }

  package init(_ error: ErrorReply) {
    parameters = error.parameters
    continues = false
    self.error = error.name
  }

  init(message: JSONObject) throws(FieldError) {
    parameters = message.has("parameters") ? try message.object("parameters") : [:]
    continues = try message.boolIfPresent("continues") ?? false
    error = try message.stringIfPresent("error")
  }

  var message: JSONObject {
    var message = JSONObject()
    if let error { message["error"] = .string(error) }
    // Always there: clients in other languages count on it.
    message["parameters"] = .object(parameters)
    if continues { message["continues"] = true }
    return message
  }
}

extension JSONObject {
  /// The object as a message on the wire: its text and a zero byte.
  var framed: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    write(to: &bytes)
    bytes.append(0)
    return bytes
  }
}
