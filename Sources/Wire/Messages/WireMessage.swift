/// The parameters of a call or an answer, or a type within them, as a Swift value. `scripts/varlink.py` writes them from the interfaces.
package protocol WireMessage: Equatable, Sendable {
  init(json: JSONObject) throws(FieldError)
  var json: JSONObject { get }
}

extension JSONObject {
  /// A message.
  func message<Message: WireMessage>(_ name: String) throws(FieldError) -> Message {
    try Message(json: try object(name))
  }

  func messageIfPresent<Message: WireMessage>(_ name: String) throws(FieldError) -> Message? {
    has(name) ? try message(name) : nil
  }

  /// An array of messages of one type.
  func messages<Message: WireMessage>(_ name: String) throws(FieldError) -> [Message] {
    var messages: [Message] = []
    for object in try objects(name) { messages.append(try Message(json: object)) }
    return messages
  }

  func messagesIfPresent<Message: WireMessage>(_ name: String) throws(FieldError) -> [Message]? {
    has(name) ? try messages(name) : nil
  }

  /// Sets a field, or leaves it out when the value is nil.
  mutating func set<Message: WireMessage>(_ name: String, _ value: Message?) {
    self[name] = value.map { .object($0.json) }
  }
  mutating func set<Message: WireMessage>(_ name: String, _ value: [Message]?) {
    self[name] = value.map { .array($0.map { .object($0.json) }) }
  }
}

extension Reply {
  package init(_ message: some WireMessage, continues: Bool = false) {
    self.init(message.json, continues: continues)
  }
}

extension CheckedCall {
  /// The parameters as a Swift value.
  ///
  /// - Throws: `InvalidParameter` for values that the description cannot express, such as a `mode` that this version does not know.
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
