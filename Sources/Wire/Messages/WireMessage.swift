/// The parameters of a call or an answer, or a type within them, as a Swift value.
package protocol WireMessage: Equatable, Sendable {
  init(json: JSONObject) throws(FieldError)
  var json: JSONObject { get }
}

extension JSONObject {
  /// An array of messages of one type.
  func messages<Message: WireMessage>(_ name: String) throws(FieldError) -> [Message] {
    var messages: [Message] = []
    for object in try objects(name) { messages.append(try Message(json: object)) }
    return messages
  }
}

extension [JSONObject] {
  var json: JSONValue { .array(map { .object($0) }) }
}

extension Reply {
  package init(_ message: some WireMessage, continues: Bool = false) {
    self.init(message.json, continues: continues)
  }
}

extension CheckedCall {
  /// The parameters as a Swift value.
  ///
  /// - Throws: `InvalidParameter` for what the description cannot say, such as a `mode` that this version does not know.
  package func read<Message: WireMessage>(_ type: Message.Type = Message.self) throws(ErrorReply) -> Message {
    do {
      return try Message(json: parameters)
    } catch {
      throw .invalidParameter(error.field)
    }
  }
}

extension WireClient {
  /// Calls a method and reads its one answer.
  package func call<Answer: WireMessage>(
    _ method: String, _ parameters: some WireMessage, answer: Answer.Type = Answer.self
  ) throws(WireError) -> Answer {
    try read(try call(method, parameters.json))
  }

  /// Calls a method without parameters and reads its one answer.
  package func call<Answer: WireMessage>(
    _ method: String, answer: Answer.Type = Answer.self
  ) throws(WireError) -> Answer {
    try read(try call(method))
  }

  private func read<Message: WireMessage>(_ answer: Answer) throws(WireError) -> Message {
    do {
      return try Message(json: answer.parameters)
    } catch {
      throw .unexpectedReply(error)
    }
  }
}
