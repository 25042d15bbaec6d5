internal import Kernel
internal import PickerUI
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Questions to the user: the broker sends them, and the answers go back over a connection of their own.
extension AppSession {
  func askUser(_ sandbox: LaunchedInit, _ proxy: TerminalProxy?) throws {
    do {
      guard let client = prompts, let message = try client.receive(wait: false) else { return }
      // Without one, the question that was closed has been answered already.
      let question = try LauncherInterface.PromptsReply(json: message.parameters)
      if let form = question.form { return try fillIn(form, sandbox, proxy) }
      guard let request = question.request else { return }
      proxy?.restore()
      let choice = try asking(sandbox) { front.answer(request, abandonedWith: $0) }
      if choice.endsApp {
        Failure.say("\(prepared.name) is ended, as you chose")
        try? sandbox.process.signalProcess(SIGKILL)
      }
      try? proxy?.takeTerminal()
      let reply = try answering().call(
        LauncherInterface.answer,
        LauncherInterface.AnswerCall(
          instance: prepared.instance, id: request.id, how: choice.how,
          cancelled: choice.documents.isEmpty && !choice.creates && choice.action == nil,
          creates: choice.creates,
          paths: choice.documents.map(\.path), action: choice.action, unavailable: choice.unavailable
        ).json, descriptors: choice.documents.map(\.descriptor))
      let refused = try LauncherInterface.AnswerReply(json: reply.parameters).refused
      for sentence in refused where !choice.documents.isEmpty { Failure.say("not granted: \(sentence)") }
      if choice.creates {
        status?.send("creating", ["how": .string(choice.how.rawValue)])
      } else if choice.documents.isEmpty, let action = choice.action {
        status?.send("acting", ["how": .string(choice.how.rawValue), "action": .string(action)])
      } else if choice.documents.isEmpty {
        status?.send("cancelled", ["how": .string(choice.how.rawValue)])
      } else if refused.count < choice.documents.count {
        var facts: JSONObject = [
          "how": .string(choice.how.rawValue),
          "documents": .array(choice.documents.compactMap(\.descriptor.currentPath).map { .string($0) }),
        ]
        if request.mode != .open { facts["mode"] = .string(request.mode.rawValue) }
        status?.send(request.mode == .open ? "granted" : "copying", facts)
      }
    } catch let error as WireError {
      guard case .remote = error else { return reattach(sandbox) }
      // The instance is not known there. It is ending, and the loop hears so next; or another broker has answered than the one
      // that asked, and the loop sees the end of that one's connection.
    }
  }

  /// A file provider needs something of the user before the app gets its document (`PRV-14`).
  private func fillIn(
    _ form: LauncherInterface.FormRequest, _ sandbox: LaunchedInit, _ proxy: TerminalProxy?
  ) throws {
    proxy?.restore()
    let reply = try asking(sandbox) { front.answer(form, abandonedWith: $0) }
    try? proxy?.takeTerminal()
    status?.send("form", ["provider": .string(form.provider), "answered": .bool(reply != nil)])
    _ = try answering().call(
      LauncherInterface.fillIn,
      LauncherInterface.FillInCall(instance: prepared.instance, id: form.id, reply: reply).json)
  }

  /// A person takes their time, and the app need not stand still meanwhile.
  ///
  /// - Parameter question: gets the descriptors whose news end it: the next message says that the app has closed the question.
  private func asking<Answer>(_ sandbox: LaunchedInit, _ question: ([Descriptor]) throws -> Answer) throws -> Answer {
    let abandoned = [sandbox.process] + (prompts.map { [$0.socket] } ?? [])
    guard let watch else { return try question(abandoned) }
    return try watch.whileWaiting { try question(abandoned) }
  }

  /// The connection that answers go over; the one that questions come on waits for the next question.
  private func answering() throws -> WireClient {
    if let answers { return answers }
    let client = try BrokerConnection.connect(folders)
    answers = client
    return client
  }
}
