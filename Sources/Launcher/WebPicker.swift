internal import Folders
internal import Kernel
package import PickerUI
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The picker as a page of the user's web browser. A process of its own serves the page and tells what was chosen; the choice is
/// opened and judged here.
package struct WebPicker {
  private static let longestAnswer = 4 << 20

  package init() {}

  /// - Parameters:
  ///   - abandoned: becomes readable when no process waits for the answer any more.
  ///   - refuse: why a document cannot be handed out.
  package func run(
    _ request: PickerRequest, abandoned: Int32?, refuse: (PickedDocument) -> String?
  ) throws -> PickerOutcome {
    guard let program = Programs.web.path else {
      throw PickerError("\(Programs.web.rawValue) is not where this program is. Install Ambit again, whole.")
    }
    let (answers, process) = try start(program, request)
    defer {
      // It has nothing to save, and signals may be held back in it.
      kill(process, SIGKILL)
      _ = ThisProcess.wait(process)
    }
    guard let text = try Self.answer(answers, abandoned), !text.isEmpty,
      case .object(let json) = try JSONValue(parsing: text)
    else { return .cancelled }
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

  private func start(_ program: String, _ request: PickerRequest) throws(KernelError) -> (Descriptor, Int32) {
    let question = try MemoryFile.sealed("ambit-picker", Array(request.json.text.utf8))
    let (answers, writing) = try Descriptor.pipe()
    // The process alone has the other end: the answer ends with it.
    let numbers = [try question.inheritable(), try writing.inheritable()]
    defer { for number in numbers { close(number) } }
    let process = try ThisProcess.start(program, [Programs.web.rawValue] + numbers.map { "\($0)" })
    return (answers, process)
  }

  /// - Returns: `nil`: no process waits for it any more.
  private static func answer(_ answers: Descriptor, _ abandoned: Int32?) throws(KernelError) -> [UInt8]? {
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
      guard count > 0 else { return text }
      text += buffer.prefix(count)
    }
    return nil
  }
}
