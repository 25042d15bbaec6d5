internal import Kernel
internal import Paths
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// The document picker on the user's terminal. Trusted: it runs outside every sandbox, and the app that asks sees neither the
/// screen nor the input.
package struct TerminalPicker: Sendable {
  /// The text that gives the terminal back. For a caller that must restore it in the picker's place, after a signal.
  package static let restoreSequence = "\u{1B}[?1000;1006l" + KnownTerminal.giveBack
  /// Its opposite: the picker starts from a known terminal, not from the one that the app has left.
  static let takeSequence = KnownTerminal.take + "\u{1B}[?1000;1006h"

  private let input: Int32
  private let output: Int32
  private let settling: Duration
  private let environment: [String: String]
  private let actor: FileActor?
  private let previews: PreviewProgram?

  /// - Parameters:
  ///   - input, output: the user's terminal; both stay the caller's.
  ///   - settling: for so long after appearing, the picker chooses nothing. An app decides when the picker opens, and
  ///     must not be able to catch an Enter that was meant for something else.
  ///   - environment: `HOME`, `NO_COLOR`, `COLORTERM` and `TERM` are looked at.
  ///   - actor: carries the user's acts on files out, where the request has some.
  ///   - previews: nil: there are none.
  package init(
    input: Int32, output: Int32, settling: Duration = .milliseconds(300),
    environment: [String: String] = ThisProcess.environment, actor: FileActor? = nil, previews: PreviewProgram? = nil
  ) {
    self.actor = actor
    self.input = input
    self.output = output
    self.settling = settling
    self.environment = environment
    self.previews = previews
  }

  /// Asks the user; returns when they have chosen or cancelled. The terminal is given back however this ends.
  ///
  /// - Parameters:
  ///   - abandoned: a descriptor that becomes readable, or hangs up, when no process waits for the answer any more (the asking
  ///     process's pidfd): the picker closes, cancelled.
  ///   - refuse: the reason why this document may not be handed out, as a sentence for the user; the user then chooses again; nil
  ///     when it may.
  /// - Throws: `PickerError` when there is no terminal to draw on, `KernelError` when it fails meanwhile.
  package func run(
    _ request: PickerRequest, abandoned: Int32? = nil, refuse: (PickedDocument) -> String? = { _ in nil }
  ) throws -> PickerOutcome {
    var view = PickerView()
    return try run(request, view: &view, abandoned: abandoned, refuse: refuse)
  }

  /// The same, in a view that the user may change.
  package func run(
    _ request: PickerRequest, view: inout PickerView, abandoned: Int32? = nil,
    refuse: (PickedDocument) -> String? = { _ in nil }
  ) throws -> PickerOutcome {
    guard isatty(input) == 1, isatty(output) == 1 else {
      throw PickerError("There is no terminal to show the document picker on.")
    }
    if environment["TERM"] == "dumb" {
      throw PickerError("The terminal cannot show the document picker: it calls itself “dumb” (TERM).")
    }
    let folder = try OpenFolder.nearest(to: request.startFolder)
    let device = try TerminalDevice(input: input, output: output)
    defer { device.restore() }
    #if AMBIT_MUTANTS
      if !Mutant.terminalUntaken.isActive { try device.write(Self.takeSequence) }
    #else
      try device.write(Self.takeSequence)
    #endif
    var session = PickerSession(
      device: device, request: request, view: view, folder: folder,
      home: environment["HOME"].flatMap { $0.isAbsolutePath && $0 != "/" ? $0 : nil },
      colours: (environment["NO_COLOR"] ?? "").isEmpty, settling: settling,
      preview: PreviewKeeper(previews, ColourDepth(environment)), actor: request.acts == .none ? nil : actor)
    defer { view = session.model.view }
    return try session.run(abandoned: abandoned, refuse: refuse)
  }
}
