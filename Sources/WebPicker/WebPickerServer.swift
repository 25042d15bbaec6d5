internal import FlyingFox
internal import FlyingSocks
internal import Foundation
internal import Kernel
internal import Paths
package import PickerUI

/// Serves the picker's page to one browser on this machine, until something is chosen.
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
  }

  private let request: PickerRequest
  private let refuse: @Sendable (PickedDocument) -> String?
  private let home: String?
  private let actor: FileActor?
  private let server: HTTPServer
  private let token = secret()
  private let base = "/\(secret())/"
  private var isTaken = false
  /// As browsers name this server.
  private var host = ""
  private var waiting: CheckedContinuation<Answer, Never>?
  private var isOver = false

  /// - Parameters:
  ///   - home: the user's home folder.
  ///   - actor: carries the user's acts on files out, where the request has some.
  package init(
    _ request: PickerRequest, home: String?, actor: FileActor? = nil,
    refuse: @escaping @Sendable (PickedDocument) -> String?
  ) throws {
    (self.request, self.home, self.actor, self.refuse) = (request, home, actor, refuse)
    server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 15, logger: .disabled)
  }

  private static func secret() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<32).map { _ in digits.randomElement() ?? "0" })
  }

  /// Asks, and waits for the choice.
  ///
  /// - Parameter announce: is told the address for the user's browser.
  package func ask(announce: (String) -> Void) async throws -> Answer {
    let handler = Handler { [weak self] call in
      await self?.respond(to: call) ?? HTTPResponse(statusCode: .serviceUnavailable)
    }
    await server.appendRoute("*", to: handler)
    let running = Task { [server] in try await server.run() }
    try await server.waitUntilListening(timeout: 10)
    guard case .ip4(_, port: let port)? = await server.listeningAddress else {
      throw PickerError("There is no loopback network.")
    }
    host = "127.0.0.1:\(port)"
    announce("http://\(host)/\(token)")
    let answer = await withCheckedContinuation { waiting = $0 }
    // Lets the last page out.
    await server.stop(timeout: 2)
    running.cancel()
    return answer
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
    let posts = [base + "choose", base + "act"]
    guard
      call.path == base || call.path == String(base.dropLast()) || call.path == base + "actions"
        || posts.contains(call.path)
    else { return Self.end(.notFound, "There is no such page.") }
    guard !isOver else { return Self.end(.gone, "The question has been answered.") }
    switch (call.method, posts.contains(call.path)) {
    case (.GET, false):
      let fields = FormFields(call.target.query())
      if call.path == base + "actions" { return actions(fields) }
      return show(
        fields.first("at").map(PickerPage.place) ?? .folder(request.startFolder), fields.first("filter") ?? "",
        hidden: fields.first("hidden") != nil)
    case (.POST, true):
      guard call.headers[HTTPHeader("Origin")] == "http://\(host)" else {
        return Self.end(.forbidden, "The choice comes from another page.")
      }
      guard let body = try? await call.bodyData, body.count <= 1 << 20 else {
        return Self.end(.payloadTooLarge, "That is too much at once.")
      }
      let fields = FormFields(String(decoding: body, as: UTF8.self))
      return call.path == base + "act" ? act(fields) : choose(fields)
    default: return Self.end(.methodNotAllowed, "This cannot be done here.")
    }
  }

  private func show(
    _ place: PickerListing.Place, _ filter: String = "", hidden: Bool = false, fault: String? = nil,
    done: String? = nil
  ) -> HTTPResponse {
    do {
      let listing = try PickerListing(
        request, at: place, filter: filter, showsHidden: hidden, home: home, actor: actor, refuse: refuse)
      let page = PickerPage(request, base: base).folder(
        listing, filter: filter, hidden: hidden, fault: fault, done: done)
      return Self.response(fault == nil ? .ok : .conflict, page)
    } catch { return Self.end(.notFound, "This folder cannot be shown: \(error.errno).") }
  }

  private func choose(_ fields: FormFields) -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(request.startFolder)
    if let own = fields.first("own"), request.actions.contains(where: { $0.identifier == own && !$0.documents }) {
      return finish(.acted(own, "", []), "Chosen.")
    }
    switch fields.first("do") {
    case "cancel": return finish(.cancelled, "You have cancelled.")
    case "end" where request.isPestering: return finish(.endApp, "The app is ended.")
    case "create" where request.creates:
      guard let choice = fields.first("folder").flatMap(Self.choice) else {
        return finish(.create(nil), "A new document.")
      }
      do throws(PickerError) {
        _ = try PickerListing.open(choice.path, file: choice.file, for: request, creates: true, refuse: refuse)
      } catch { return show(place, fault: "\(error)") }
      return finish(.create(choice), "A new document.")
    default: break
    }
    let choices = fields.all("pick").compactMap(Self.choice)
    guard !choices.isEmpty else { return show(place, fault: "Choose something first.") }
    guard choices.count == 1 || request.multiple else { return show(place, fault: "The app asks for one only.") }
    for choice in choices {
      do throws(PickerError) {
        _ = try PickerListing.open(choice.path, file: choice.file, for: request, refuse: refuse)
      } catch { return show(place, fault: "\(error)") }
    }
    return finish(.picked(choices), choices.count == 1 ? "Chosen." : "\(choices.count) are chosen.")
  }

  /// The page of actions on one file.
  private func actions(_ fields: FormFields, fault: String? = nil) -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(request.startFolder)
    guard let text = fields.first("file"), let choice = Self.choice(text) else {
      return Self.end(.notFound, "There is no such page.")
    }
    do throws(PickerError) {
      let document = try PickerListing.openForAct(choice.path, file: choice.file)
      let page = PickerPage(request, base: base).actions(text, document, at: place, fault: fault)
      return Self.response(fault == nil ? .ok : .conflict, page)
    } catch { return show(place, fault: "\(error)") }
  }

  /// Carries an act out, or hands it over.
  private func act(_ fields: FormFields) -> HTTPResponse {
    let place = fields.first("at").map(PickerPage.place) ?? .folder(request.startFolder)
    let line = String((fields.first("line") ?? "").prefix(4096))
    guard let choice = fields.first("file").flatMap(Self.choice) else {
      return show(place, fault: "Choose something first.")
    }
    do throws(PickerError) {
      if let own = fields.first("own").flatMap({ own in request.actions.first { $0.identifier == own } }) {
        let document = try PickerListing.open(choice.path, file: choice.file, for: request, refuse: refuse)
        guard own.documents, request.takes(document, for: own) else {
          return show(place, fault: "The action does not take it.")
        }
        return finish(.acted(own.identifier, "", [choice]), "Chosen.")
      }
      guard let action = fields.first("act").flatMap(FileAction.init), let actor,
        PickerPage.actions(request, at: place).contains(action)
      else { return show(place, fault: "There is no such action.") }
      let document = try PickerListing.openForAct(choice.path, file: choice.file)
      if action == .open || action == .share {
        return finish(.acted(action.rawValue, line, [choice]), "Chosen.")
      }
      let reply = actor.perform(action, expanded(line, for: action, at: place), on: [document])
      return reply.isDone ? show(place, done: reply.words) : actions(fields, fault: reply.words)
    } catch { return show(place, fault: "\(error)") }
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

  private func finish(_ answer: Answer, _ sentence: String) -> HTTPResponse {
    isOver = true
    waiting?.resume(returning: answer)
    waiting = nil
    return Self.end(.ok, sentence)
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
