internal import Folders
internal import Kernel
package import PickerUI
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The picker as pages of the user's web browser. A process of its own serves them. The choice is opened and judged here. Questions that
/// follow each other are shown in one window.
package final class WebPicker {
  private static let longestAnswer = 4 << 20

  private struct Server {
    let process: Int32
    let answers: Descriptor
  }
  private var server: Server?
  private var questions: Descriptor?
  /// The server's end of the questions: with it, a server that dies raises no signal here.
  private var theirs: Descriptor?

  package init() {}

  deinit { close() }

  /// The last page is let out.
  package func close() {
    guard let server else { return }
    self.server = nil
    // The end of the questions is the end of the server; its answers end with it.
    questions = nil
    var end = pollfd(fd: server.answers.rawValue, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&end, 1, Self.patience)
    // It has nothing to save, and signals may be held back in it.
    kill(server.process, SIGKILL)
    _ = ThisProcess.wait(server.process)
  }

  /// Milliseconds for the last page.
  private static let patience: Int32 = 3000

  /// - Parameters:
  ///   - abandoned: becomes readable when no process waits for the answer any more.
  ///   - refuse: why a document cannot be handed out.
  package func run(
    _ request: PickerRequest, abandoned: Int32?, refuse: (PickedDocument) -> String?
  ) throws -> PickerOutcome {
    guard let json = try ask(request.json, abandoned) else { return .cancelled }
    if json.has("end") { return request.isPestering ? .endApp : .cancelled }
    if let action = try json.stringIfPresent("action") {
      let own = request.actions.first { $0.identifier == action }
      guard own != nil || request.acts == .all && [FileAction.open, .share].map(\.rawValue).contains(action) else {
        return .cancelled
      }
      let documents = try json.objects("picked").map { choice in
        try PickerListing.open(choice.string("path"), file: choice.string("file"), for: request, refuse: refuse)
      }
      guard own?.documents == false || !documents.isEmpty else { return .cancelled }
      return .acted(action, try json.stringIfPresent("line") ?? "", documents)
    }
    let creates = json.has("creates") && request.creates
    let documents = try json.objects("picked").map { choice in
      try PickerListing.open(
        choice.string("path"), file: choice.string("file"), for: request, creates: creates, refuse: refuse)
    }
    if creates { return .create(documents.first) }
    guard !documents.isEmpty, request.multiple || documents.count == 1 else { return .cancelled }
    return .picked(documents)
  }

  /// Shows a file provider's form.
  ///
  /// - Returns: `nil`: the user has cancelled it.
  package func run(_ form: ProviderForm, abandoned: Int32?) throws -> ProviderForm.Reply? {
    guard let json = try ask(form.json, abandoned), let button = try json.stringIfPresent("button"),
      case .object(let values)? = json["values"]
    else { return nil }
    var answers: [String: String] = [:]
    for field in form.fields where field.kind != .note {
      answers[field.key] = try values.stringIfPresent(field.key) ?? ""
    }
    return .init(button: button, values: answers)
  }

  /// - Returns: `nil`: no process waits for it any more, or the server has ended.
  private func ask(_ question: JSONObject, _ abandoned: Int32?) throws -> JSONObject? {
    let server = try self.server ?? start()
    self.server = server
    // A server that has died takes no question: its answers have ended.
    var end = pollfd(fd: server.answers.rawValue, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&end, 1, 0) == 0 { try? questions?.writeAll(Array((question.text + "\n").utf8)) }
    guard let line = try Self.line(server.answers, abandoned), case .object(let json) = try JSONValue(parsing: line)
    else {
      close()
      return nil
    }
    return json
  }

  private func start() throws -> Server {
    guard let program = Programs.web.path else {
      throw PickerError("\(Programs.web.rawValue) is not where this program is. Install Ambit again, whole.")
    }
    let (theirs, questions) = try Descriptor.pipe()
    let (answers, writing) = try Descriptor.pipe()
    // The process alone has the other end: the answers end with it.
    let numbers = [try theirs.inheritable(), try writing.inheritable()]
    defer { for number in numbers { Glibc.close(number) } }
    let process = try ThisProcess.start(program, [Programs.web.rawValue] + numbers.map { "\($0)" })
    (self.questions, self.theirs) = (questions, theirs)
    return Server(process: process, answers: answers)
  }

  /// One answer; `nil`: no process waits for it any more, or there is none.
  private static func line(_ answers: Descriptor, _ abandoned: Int32?) throws(KernelError) -> [UInt8]? {
    var text: [UInt8] = []
    while text.count < longestAnswer {
      var waiting = [pollfd(fd: answers.rawValue, events: Int16(POLLIN), revents: 0)]
      if let abandoned { waiting.append(pollfd(fd: abandoned, events: Int16(POLLIN), revents: 0)) }
      if unsafe poll(&waiting, nfds_t(waiting.count), -1) < 0 {
        if errno == EINTR { continue }
        throw KernelError.last("poll", "the page's server")
      }
      if waiting.count > 1, waiting[1].revents != 0 { return nil }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(answers.rawValue, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      text += buffer.prefix(count)
      if text.last == UInt8(ascii: "\n") { return text.dropLast() }
    }
    return nil
  }
}
