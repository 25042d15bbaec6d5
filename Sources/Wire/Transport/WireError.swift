package import Kernel

/// The possible failures between a client and a server.
package enum WireError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The other side answered with an error of its interface.
  case remote(name: String, parameters: JSONObject)
  /// The other side has gone, and has not read all of the call: nothing of it was done, and
  /// another server can be asked.
  case unread
  /// The other side has gone. Whether it has carried out the call is not known.
  case closed
  /// No answer came in the time that its caller had.
  case silent
  /// The bytes were not the protocol; the connection is over.
  case broken(String)
  /// A reply with other fields than the interface describes.
  case unexpectedReply(FieldError)
  case kernel(KernelError)
  /// An address that this version cannot connect to, and why.
  case badAddress(String)

  package var description: String {
    switch self {
    case .remote(let name, let parameters):
      parameters.isEmpty ? "the answer was \(name)" : "the answer was \(name) \(parameters.text)"
    case .unread: "the other side closed the connection before it had read the call"
    case .closed: "the other side ended before it answered; whether it did what was asked is not known"
    case .silent: "the other side does not answer"
    case .broken(let reason): "the connection was ended, because of a broken message: \(reason)"
    case .unexpectedReply(let fault): "the answer is not what the interface says: \(fault)"
    case .kernel(let error): error.description
    case .badAddress(let reason): reason
    }
  }
}
