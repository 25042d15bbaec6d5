internal import Kernel
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// A provider's form on the user's terminal, which no app sees: a whole screen, or lines.
package struct ProviderFormTerminal: Sendable {
  private let input: Int32
  private let output: Int32
  private let environment: [String: String]
  private static let escapeMilliseconds: Int32 = 50
  private static let sizeMilliseconds: Int32 = 200

  /// - Parameter input, output: the user's terminal; both stay the caller's.
  package init(input: Int32, output: Int32, environment: [String: String] = ThisProcess.environment) {
    (self.input, self.output, self.environment) = (input, output, environment)
  }

  /// - Parameter abandoned: becomes readable when no process waits for the answer any more.
  /// - Returns: `nil`: the user has cancelled.
  /// - Throws: where there is no terminal.
  package func run(_ form: ProviderForm, face: PickerFace, abandoned: Int32? = nil) throws -> ProviderForm.Reply? {
    guard isatty(input) == 1, isatty(output) == 1 else {
      throw PickerError("There is no terminal to show the form on.")
    }
    let outcome = try face == .plain ? plain(form, abandoned) : screen(form, abandoned)
    if case .filled(let reply) = outcome { return reply }
    return nil
  }

  private func screen(_ form: ProviderForm, _ abandoned: Int32?) throws -> ProviderFormLines.Outcome {
    let device = try TerminalDevice(input: input, output: output)
    defer { device.restore() }
    try device.write(TerminalPicker.takeSequence)
    var (model, decoder) = (ProviderFormScreen(form), KeyDecoder(erase: device.eraseByte))
    let colours = (environment["NO_COLOR"] ?? "").isEmpty
    var drawn: [String] = []
    while true {
      let lines = model.lines(device.size()).map { $0.encoded(colours: colours) }
      if lines != drawn {
        let text = lines.enumerated().map { "\u{1B}[\($0 + 1);1H\u{1B}[2K\($1)" }.joined()
        try device.write("\u{1B}[?25l" + text)
        drawn = lines
      }
      let keys: [Key]
      switch try device.read(
        milliseconds: decoder.isWaiting ? Self.escapeMilliseconds : Self.sizeMilliseconds, abandoned: abandoned)
      {
      case .bytes(let bytes): keys = decoder.feed(bytes)
      case .nothing: keys = decoder.isWaiting ? decoder.timeout() : []
      case .end, .abandoned: return .cancelled
      }
      for key in keys { if let outcome = model.press(key) { return outcome } }
    }
  }

  /// Keys are echoed here, so that a secret is not.
  private func plain(_ form: ProviderForm, _ abandoned: Int32?) throws -> ProviderFormLines.Outcome {
    let raw = try RawTerminal(input, discardingInput: true)
    defer { raw.restore() }
    let device = Output(output)
    func say(_ text: String) throws(KernelError) { try device.write(text.replacing("\n", with: "\r\n")) }
    var (lines, typed) = (ProviderFormLines(form), "")
    var decoder = KeyDecoder(erase: raw.eraseByte)
    try say(lines.opening)
    while true {
      var waiting = [pollfd(fd: input, events: Int16(POLLIN), revents: 0)]
      if let abandoned { waiting.append(pollfd(fd: abandoned, events: Int16(POLLIN), revents: 0)) }
      let ready = unsafe poll(&waiting, nfds_t(waiting.count), decoder.isWaiting ? Self.escapeMilliseconds : -1)
      if ready < 0, errno != EINTR { throw KernelError.last("poll", "the terminal") }
      if waiting.count > 1, waiting[1].revents != 0 { return .cancelled }
      var keys = ready == 0 ? decoder.timeout() : []
      if ready > 0 {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress, $0.count) }
        if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return .cancelled }
        keys = decoder.feed(Array(bytes.prefix(max(0, count))))
      }
      for key in keys {
        switch key {
        case .escape, .control("c"), .control("d"):
          try say("\nCancelled.\n")
          return .cancelled
        case .backspace:
          guard let last = typed.popLast() else { continue }
          if !lines.isSecret {
            try say(String(repeating: "\u{08} \u{08}", count: displayWidth(String(last))))
          }
        case .text(let scalar), .pasted(let scalar):
          guard typed.utf8.count < 2000 else { continue }
          typed.unicodeScalars.append(scalar)
          if !lines.isSecret { try say(printable(String(scalar))) }
        case .enter:
          let (said, outcome) = lines.take(typed)
          typed = ""
          try say("\n" + said)
          if let outcome { return outcome }
        default: continue
        }
      }
    }
  }
}
