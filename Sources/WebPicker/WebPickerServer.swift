internal import FlyingFox
internal import FlyingSocks
internal import Foundation
internal import Kernel
internal import Paths
package import PickerUI

/// Serves the picker's pages to one browser on this machine: the picker, and forms of file providers that follow it.
///
/// It listens on the host's loopback interface. The address has a token that works once: it leads to a secret one, which the first browser
/// alone knows. A request under another host's name, or a choice that comes from another page, is refused.
package actor WebPickerServer {
  package struct Choice: Sendable, Equatable {
    package let path: String
    /// The file that the row showed.
    package let file: String
  }

  package enum Answer: Sendable, Equatable {
    case picked([Choice])
    case create(Choice?)
    case endApp
    case cancelled
    /// An action that the launcher or the app carries out, with its line.
    case acted(String, String, [Choice])
    /// A provider's form.
    case filled(ProviderForm.Reply)
  }

  package enum Question: Sendable {
    /// The closure says why a document cannot be handed out.
    case picker(PickerRequest, refuse: @Sendable (PickedDocument) -> String?)
    case form(ProviderForm)
  }

  /// `nil`: the last one has been answered, and no other one has come.
  private var question: Question?
  private let home: String?
  private let actor: FileActor?
  private let server: HTTPServer
  private let token = secret()
  private let base = "/\(secret())/"
  private var isTaken = false
  /// As browsers name this server.
  private var host = ""
  private var waiting: CheckedContinuation<Answer, Never>?
  /// Pages that were answered, and wait for what comes next: whether there is another question.
  private var following: [CheckedContinuation<Bool, Never>] = []
  private var isOver = false
  private var running: Task<Void, any Error>?

  /// - Parameters:
  ///   - home: the user's home folder.
  ///   - actor: carries the user's acts on files out, where the request has some.
  package init(home: String?, actor: FileActor? = nil) throws {
    (self.home, self.actor) = (home, actor)
    server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 15, logger: .disabled)
  }

  private static func secret() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<32).map { _ in digits.randomElement() ?? "0" })
  }

  /// Begins to serve.
  ///
  /// - Returns: the address for the user's browser. It works once.
  package func start() async throws -> String {
    let handler = Handler { [weak self] call in
      await self?.respond(to: call) ?? HTTPResponse(statusCode: .serviceUnavailable)
    }
    await server.appendRoute("*", to: handler)
    running = Task { [server] in try await server.run() }
    try await server.waitUntilListening(timeout: 10)
    guard case .ip4(_, port: let port)? = await server.listeningAddress else {
      throw PickerError("There is no loopback network.")
    }
    host = "127.0.0.1:\(port)"
    return "http://\(host)/\(token)"
  }

  /// Asks, and waits for the choice. One question after the other.
  package func ask(_ question: Question) async -> Answer {
    self.question = question
    follow(true)
    return await withCheckedContinuation { waiting = $0 }
  }

  /// No other question comes. Lets the last page out.
  package func stop() async {
    isOver = true
    follow(false)
    await server.stop(timeout: 2)
    running?.cancel()
  }

  private func follow(_ isNext: Bool) {
    for page in following { page.resume(returning: isNext) }
    following = []
  }

  private struct Handler: HTTPHandler {
    let respond: @Sendable (HTTPRequest) async -> HTTPResponse
    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse { await respond(request) }
  }

  private func respond(to call: HTTPRequest) async -> HTTPResponse {
    // Another name for this address: a page elsewhere asks (DNS rebinding).
    guard call.headers[.host] == host else {
      return Self.end(.forbidden, "This is not the page's own address.")
    }
    if call.path == "/\(token)", call.method == .GET, !isTaken {
      isTaken = true
      var headers = HTTPHeaders()
      (headers[.location], headers[.connection]) = (base, "close")
      return HTTPResponse(statusCode: .seeOther, headers: headers, body: Data())
    }
    let posts = [base + "choose", base + "act", base + "fill"]
    guard
      call.path == base || call.path == String(base.dropLast()) || call.path == base + "actions"
        || posts.contains(call.path)
    else { return Self.end(.notFound, "There is no such page.") }
    guard let question else { return Self.end(.gone, "The question has been answered.") }
    switch (call.method, posts.contains(call.path)) {
    case (.GET, false):
      let fields = FormFields(call.target.query())
      guard case .picker(let request, let refuse) = question else { return show(question) }
      let asked = Asked(request: request, refuse: refuse)
      if call.path == base + "actions" { return actions(asked, fields) }
      return show(
        asked, fields.first("at").map(PickerPage.place) ?? .folder(request.startFolder), fields.first("filter") ?? "",
        hidden: fields.first("hidden") != nil)
    case (.POST, true):
      guard call.headers[HTTPHeader("Origin")] == "http://\(host)" else {
        return Self.end(.forbidden, "The choice comes from another page.")
      }
      guard let body = try? await call.bodyData, body.count <= 1 << 20 else {
        return Self.end(.payloadTooLarge, "That is too much at once.")
      }
      let fields = FormFields(String(decoding: body, as: UTF8.self))
      // The body has taken its time: meanwhile another page may have answered.
      switch self.question {
      case .form(let form) where call.path == base + "fill": return await fill(form, fields)
      case .picker(let request, let refuse) where call.path != base + "fill":
        let asked = Asked(request: request, refuse: refuse)
        return call.path == base + "act" ? await act(asked, fields) : await choose(asked, fields)
      default: return Self.end(.gone, "The question has been answered.")
      }
    default: return Self.end(.methodNotAllowed, "This cannot be done here.")
    }
  }

  /// The question of a picker.
  private struct Asked {
    let request: PickerRequest
    let refuse: @Sendable (PickedDocument) -> String?
  }

  private func show(_ question: Question, fault: String? = nil) -> HTTPResponse {
    guard case .form(let form) = question else { return Self.end(.notFound, "There is no such page.") }
    return Self.response(fault == nil ? .ok : .conflict, FormPage(form, base: base).html(fault: fault))
  }

  private func fill(_ form: ProviderForm, _ fields: FormFields) async -> HTTPResponse {
    guard fields.first("button") != "cancel" else { return await finish(.cancelled, "You have cancelled.") }
    guard let reply = FormPage(form, base: base).reply(fields) else {
      return show(.form(form), fault: "An answer is none of the choices.")
    }
    return await finish(.filled(reply), "It is sent.")
  }

  private func show(
    _ asked: Asked, _ place: PickerListing.Place, _ filter: String = "", hidden: Bool = false, fault: String? = nil,
    done: String? = nil
  ) -> HTTPResponse {
    do {
      let listing = try PickerListing(
        asked.request, at: place, filter: filter, showsHidden: hidden, home: home,
        actor: asked.request.acts == .none ? nil : actor, refuse: asked.refuse)
      let page = PickerPage(asked.request, base: base).folder(
        listing, filter: filter, hidden: hidden, fault: fault, done: done)
      return Self.response(fault == nil ? .ok : .conflict, page)
    } catch { return Self.end(.notFound, "This folder cannot be shown: \(error.errno).") }
  }

  private func choose(_ asked: Asked, _ fields: FormFields) async -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(asked.request.startFolder)
    if let own = fields.first("own"), asked.request.actions.contains(where: { $0.identifier == own && !$0.documents }) {
      return await finish(.acted(own, "", []), "Chosen.")
    }
    switch fields.first("do") {
    case "cancel": return await finish(.cancelled, "You have cancelled.")
    case "end" where asked.request.isPestering: return await finish(.endApp, "The app is ended.")
    case "create" where asked.request.creates:
      guard let choice = fields.first("folder").flatMap(Self.choice) else {
        return await finish(.create(nil), "A new document.")
      }
      do throws(PickerError) {
        _ = try PickerListing.open(
          choice.path, file: choice.file, for: asked.request, creates: true, refuse: asked.refuse)
      } catch { return show(asked, place, fault: "\(error)") }
      return await finish(.create(choice), "A new document.")
    default: break
    }
    let choices = fields.all("pick").compactMap(Self.choice)
    guard !choices.isEmpty else { return show(asked, place, fault: "Choose something first.") }
    guard choices.count == 1 || asked.request.multiple else {
      return show(asked, place, fault: "The app asks for one only.")
    }
    guard choices.count <= PickerRequest.mostChosen else {
      return show(asked, place, fault: "No more than \(PickerRequest.mostChosen) can be chosen at once.")
    }
    for choice in choices {
      do throws(PickerError) {
        _ = try PickerListing.open(choice.path, file: choice.file, for: asked.request, refuse: asked.refuse)
      } catch { return show(asked, place, fault: "\(error)") }
    }
    return await finish(.picked(choices), choices.count == 1 ? "Chosen." : "\(choices.count) are chosen.")
  }

  /// The page of actions on one file.
  private func actions(_ asked: Asked, _ fields: FormFields, fault: String? = nil) -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(asked.request.startFolder)
    guard let text = fields.first("file"), let choice = Self.choice(text) else {
      return Self.end(.notFound, "There is no such page.")
    }
    do throws(PickerError) {
      let document = try PickerListing.openForAct(choice.path, file: choice.file)
      let page = PickerPage(asked.request, base: base).actions(text, document, at: place, fault: fault)
      return Self.response(fault == nil ? .ok : .conflict, page)
    } catch { return show(asked, place, fault: "\(error)") }
  }

  /// Carries an act out, or hands it over.
  private func act(_ asked: Asked, _ fields: FormFields) async -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(asked.request.startFolder)
    let line = String((fields.first("line") ?? "").prefix(4096))
    guard let choice = fields.first("file").flatMap(Self.choice) else {
      return show(asked, place, fault: "Choose something first.")
    }
    do throws(PickerError) {
      if let own = fields.first("own").flatMap({ own in asked.request.actions.first { $0.identifier == own } }) {
        let document = try PickerListing.open(choice.path, file: choice.file, for: asked.request, refuse: asked.refuse)
        guard own.documents, asked.request.takes(document, for: own) else {
          return show(asked, place, fault: "The action does not take it.")
        }
        return await finish(.acted(own.identifier, "", [choice]), "Chosen.")
      }
      guard let action = fields.first("act").flatMap(FileAction.init), let actor, asked.request.acts != .none,
        PickerPage.actions(asked.request, at: place).contains(action)
      else { return show(asked, place, fault: "There is no such action.") }
      let document = try PickerListing.openForAct(choice.path, file: choice.file)
      if action == .open || action == .share {
        return await finish(.acted(action.rawValue, line, [choice]), "Chosen.")
      }
      let reply = actor.perform(action, expanded(line, for: action, at: place), on: [document])
      return reply.isDone ? show(asked, place, done: reply.words) : actions(asked, fields, fault: reply.words)
    } catch { return show(asked, place, fault: "\(error)") }
  }

  /// A folder as people write it.
  private func expanded(_ line: String, for action: FileAction, at place: PickerListing.Place) -> String {
    guard action == .move else { return line }
    if line == "~" { return home ?? "/" }
    if let rest = line.path(within: "~"), !rest.isEmpty { return (home ?? "/").path(of: rest) }
    guard !line.isAbsolutePath, case .folder(let folder) = place else { return line }
    return folder.path(of: line)
  }

  private static func choice(_ value: String) -> Choice? {
    guard let space = value.firstIndex(of: " "),
      let path = value[value.index(after: space)...].removingPercentEncoding
    else { return nil }
    return Choice(path: path, file: String(value[..<space]))
  }

  /// The answer waits for the next question, so that a form follows in the same window.
  private func finish(_ answer: Answer, _ sentence: String) async -> HTTPResponse {
    guard let waiting else { return Self.end(.gone, "The question has been answered.") }
    question = nil
    self.waiting = nil
    waiting.resume(returning: answer)
    guard !isOver else { return Self.end(.ok, sentence) }
    guard await withCheckedContinuation({ following.append($0) }) else { return Self.end(.ok, sentence) }
    var headers = HTTPHeaders()
    (headers[.location], headers[.connection]) = (base, "close")
    return HTTPResponse(statusCode: .seeOther, headers: headers, body: Data())
  }

  private static func end(_ status: HTTPStatusCode, _ sentence: String) -> HTTPResponse {
    response(status, PickerPage.end(sentence))
  }

  private static func response(_ status: HTTPStatusCode, _ html: String) -> HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in PickerPage.headers { headers[HTTPHeader(name)] = value }
    // No browser keeps the server up.
    headers[.connection] = "close"
    return HTTPResponse(statusCode: status, headers: headers, body: Data(html.utf8))
  }
}
