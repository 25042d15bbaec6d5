internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Wire

/// Calls of the user's own to their broker, which is started if none runs.
enum UserSide {
  static var folders: AmbitFolders {
    get throws { try AmbitFolders.current(environment: ProcessInfo.processInfo.environment) }
  }

  /// - Throws: `Failure` with a sentence.
  static func call<Answer: WireMessage>(
    _ method: String, _ call: some WireMessage, descriptors: [Descriptor] = [],
    answer: Answer.Type = Answer.self
  ) throws -> Answer {
    do {
      return try BrokerConnection.ask(folders) {
        try Answer(json: $0.call(method, call.json, descriptors: descriptors).parameters)
      }
    } catch WireError.remote(let name, let parameters) {
      throw failure(name, parameters)
    }
  }

  /// The same, for a method that answers nothing.
  static func perform(_ method: String, _ call: some WireMessage) throws {
    do { _ = try BrokerConnection.ask(folders) { try $0.call(method, call.json) } } catch WireError.remote(
      let name, let parameters)
    { throw failure(name, parameters) }
  }

  /// The same, for an answer with a descriptor.
  static func descriptor(_ method: String, _ call: some WireMessage) throws -> Descriptor {
    try descriptor(method, call, answer: NoFields.self).descriptor
  }

  private struct NoFields: WireMessage {
    init(json: JSONObject) {}
    var json: JSONObject { JSONObject() }
  }

  /// The same, with the fields of the answer.
  static func descriptor<Answer: WireMessage>(
    _ method: String, _ call: some WireMessage, answer: Answer.Type
  ) throws -> (answer: Answer, descriptor: Descriptor) {
    do {
      return try BrokerConnection.ask(folders) { client in
        let answer = try client.call(method, call.json)
        guard let descriptor = answer.descriptors.first else { throw Failure("the broker sent no file") }
        return (try Answer(json: answer.parameters), descriptor)
      }
    } catch WireError.remote(let name, let parameters) { throw failure(name, parameters) }
  }

  /// Brings a document's content.
  static func fetch(
    _ path: String, _ progress: (_ bytes: Int, _ total: Int) -> Void
  ) throws -> LocationsInterface.FetchReply {
    do {
      return try BrokerConnection.ask(folders) { client in
        var last = LocationsInterface.FetchReply(bytes: 0, total: 0)
        try client.callMore(LocationsInterface.fetch, LocationsInterface.FetchCall(path: path).json) {
          answer throws(WireError) in
          do throws(FieldError) { last = try LocationsInterface.FetchReply(json: answer.parameters) } catch {
            throw .unexpectedReply(error)
          }
          if answer.continues { progress(last.bytes, last.total) }
          return true
        }
        return last
      }
    } catch WireError.remote(let name, let parameters) { throw failure(name, parameters) }
  }

  private static func failure(_ name: String, _ parameters: JSONObject) -> Failure {
    let reason = (try? parameters.string("reason")) ?? name
    switch name {
    case GrantsInterface.Failure.notFoundName, GrantsInterface.Failure.notGrantableName,
      LauncherInterface.Failure.notRunningName:
      return Failure(reason, status: 1)
    case LocationsInterface.Failure.notProvidedName:
      let provider = (try? parameters.stringIfPresent("provider")) ?? nil
      let error = (try? parameters.stringIfPresent("error")) ?? nil
      guard let provider, error == "notAuthenticated" else { return Failure(reason, status: 1) }
      return Failure("\(reason); sign in with “ambit provider sign-in \(provider)”", status: 1)
    case LocationsInterface.Failure.notFoundName: return Failure(reason, status: 1)
    case LauncherInterface.Failure.notGivenName:
      return Failure("it cannot be opened with the app: \(reason)", status: 1)
    case GrantsInterface.Failure.runningName:
      let app = (try? parameters.string("app")) ?? ""
      return Failure(
        "\(app) is running; end it first, or let --kill do it. “ambit ps” says where it runs.", status: 1)
    default: return Failure(reason)
    }
  }
}
