internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The picker grants the file that its row shows (I2), and starts from a known terminal (I11).
///
/// The battery plays the user. It also plays the attacker, who would rename in a folder that was granted for writing.
extension Battery {
  private static let escape = "\u{1B}"

  private enum Answer: String, CaseIterable {
    case token = "picked: the token"
    case other = "picked: a document"
    case cancelled = "picked: cancelled"
    case nothing = "picked: nothing"
  }

  func runAtPicker() throws {
    try swapChosen()
    for (name, links) in Self.disguises { try disguise(name, links) }
    try spoilTerminal()
  }

  // MARK: I2

  /// Links in the picked folder, by attempt: each name and the text of its link. The last one leads to the secret.
  private static let disguises: [(String, [String])] = [
    ("two links", ["Report", "hop"]),
    ("long name", ["Report \(String(repeating: "of many words ", count: 12))"]),
  ]

  private var secretFolder: String { "\(stage.home)/unshown" }
  private var secret: String { "\(secretFolder)/token" }

  /// The file becomes a link between its listing and the choice.
  private func swapChosen() throws {
    let folder = try pickedFolder("swap")
    let notes = "\(folder)/Notes.txt"
    try stage.write("nothing secret", notes)
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/.link", withDestinationPath: secret)
    if (try? String(contentsOfFile: "\(folder)/.link", encoding: .utf8))?.contains(stage.token) == true {
      inside.append(Attempt("I2", "swap", .control, "the link leads to the secret"))
    }
    let program = try openPicker(in: folder)
    guard try program.see(["Notes.txt"], within: .seconds(20)) != nil else {
      inside.append(Attempt("I2", "swap", .unable, "the picker was not drawn. \(program.said)"))
      return
    }
    try KernelError.check("rename", notes) { unsafe rename("\(folder)/.link", notes) }
    let answer = try choose(program)
    inside.append(
      answer == .token
        ? Attempt("I2", "swap", .reached, "the row showed another file")
        : Attempt(
          "I2", "swap", answer == nil ? .unable : .refused, answer.map(Self.sentence) ?? "no answer. \(program.said)"))
  }

  /// Links with an end that a row may fail to show.
  private func disguise(_ attempt: String, _ links: [String]) throws {
    let folder = try pickedFolder(attempt.replacing(" ", with: "-"))
    for (index, name) in links.enumerated() {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)", withDestinationPath: index + 1 < links.count ? links[index + 1] : secret)
    }
    let program = try openPicker(in: folder)
    guard try program.see(["Report"], within: .seconds(20)) != nil else {
      inside.append(Attempt("I2", attempt, .unable, "the picker was not drawn. \(program.said)"))
      return
    }
    // The row has to name the end of the links before the choice.
    let isShown = try program.see(["unshown"], within: .seconds(2)) != nil
    let answer = try choose(program)
    let outcome: Attempt.Outcome =
      switch answer {
      case .token where !isShown: .reached
      case nil: .unable
      default: .refused
      }
    inside.append(
      Attempt(
        "I2", attempt, outcome,
        isShown ? "the row shows where the links lead" : answer.map(Self.sentence) ?? program.said))
    if isShown { inside.append(Attempt("I2", attempt, .control, "the row was drawn")) }
  }

  private static func sentence(_ answer: Answer) -> String {
    switch answer {
    case .token: "the secret was granted"
    case .other: "the file that the row showed was granted"
    case .cancelled, .nothing: "nothing was granted"
    }
  }

  private func pickedFolder(_ name: String) throws -> String {
    if !FileManager.default.fileExists(atPath: secretFolder) {
      try stage.makeFolder(secretFolder)
      try stage.write("\(stage.token)\n", secret)
    }
    let folder = "\(stage.home)/I2-\(name)"
    try stage.makeFolder(folder)
    return folder
  }

  /// Starts the app on a terminal, in a folder: the picker begins there.
  private func openPicker(in folder: String, more: [String] = []) throws -> Program {
    let terminal = try PseudoTerminal()
    try terminal.resize(columns: 80, rows: 24)
    let command = try command(["lure", "token=\(stage.token)"] + more)
    return try Program(
      ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder] + command, environment: environment, terminal: terminal)
  }

  /// The app's words about the document, or the picker's about a choice that it does not take.
  private static let answers = Answer.allCases.map(\.rawValue)
  private static let early = "only just opened"

  /// Chooses, once. A picker that stays open is cancelled.
  private func choose(_ program: Program) throws -> Answer? {
    for _ in 0..<20 {
      let place = program.written
      try program.type("\r")
      let seen = try program.see(Self.answers + [Self.early], after: place, within: .seconds(2))
      if seen != Self.early { break }
      usleep(100_000)
    }
    return try end(program)
  }

  private func end(_ program: Program) throws -> Answer? {
    for _ in 0..<5 {
      if let text = try program.see(Self.answers, within: .milliseconds(500)) { return Answer(rawValue: text) }
      try program.type(Self.escape)
    }
    program.kill()
    return nil
  }

  // MARK: I11

  /// The terminal state that the picker has to undo before it draws, and the key that must still end it.
  private func spoilTerminal() throws {
    let program = try openPicker(in: try pickedFolder("terminal"), more: ["spoil=1"])
    guard try program.see(["asks for a document"], within: .seconds(20)) != nil else {
      inside.append(Attempt("I11", "drawing", .unable, "the picker was not drawn. \(program.said)"))
      return
    }
    let before = program.text(after: 0).components(separatedBy: "asks for a document")[0]
    let undone: [(String, [String])] = [
      ("drawing", ["\(Self.escape)[r", "\(Self.escape)(B", "\u{F}"]),
      ("keys", ["\(Self.escape)[>0u", "\(Self.escape)[>4;0m"]),
    ]
    for (name, sequences) in undone {
      let missing = sequences.filter { !before.contains($0) }
      inside.append(
        missing.isEmpty
          ? Attempt("I11", name, .refused, "the picker begins with a known terminal")
          : Attempt("I11", name, .reached, "left as the app set it: \(missing.map { $0.debugDescription })"))
    }
    // Escape as kitty's protocol sends it.
    try program.type("\(Self.escape)[27u")
    let ended = try program.see(Self.answers, within: .seconds(5)) != nil
    inside.append(
      ended
        ? Attempt("I11", "escape", .refused, "Escape ends the picker in kitty's encoding")
        : Attempt("I11", "escape", .reached, "Escape in kitty's encoding does not end the picker"))
    if before.contains("\(Self.escape)[?6h") {
      inside.append(Attempt("I11", "drawing", .control, "the app's sequences reach the terminal"))
    }
    if !ended { program.kill() }
  }
}
