internal import ArgumentParser
internal import Foundation
internal import Launcher
internal import Scenario
internal import Terminal

/// `ambit scenario record FILE`: do it by hand, get a scenario.
struct ScenarioRecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Do it by hand, line by line, and get a scenario.",
    discussion: """
      Each line is an action, as a scenario has it. It is carried out at once; its result is shown, and kept as what is expected:

        write = "${home}/Letter.txt", content = "Dear Ada"
        launch = "agent", as = "editor", user = [{ pick = "${home}/Letter.txt" }]
        app = "editor", pick = "${home}/Letter.txt", as = "letter"
        app = "editor", read = "${letter}"

      An app's answers to the picker stand beside its launch, in `user`. Further words: say TEXT begins a step; show prints the \
      scenario; done writes it (so does the end of the input); quit writes nothing. ambit scenario words lists the actions.
      """)

  @Argument(help: ArgumentHelp("The scenario to write; it must not be there yet.", valueName: "file")) var file: String
  @Option(help: "Its title.") var title = "A recorded scenario"
  @Option(help: "Policy of its launches.") var policy: String?

  func run() throws {
    guard !FileManager.default.fileExists(atPath: file) else {
      throw Failure("\(file) is there already; name another file", status: 2)
    }
    Interruption.listen()
    let executable = try ScenarioRunCommand.executable(nil)
    let recorder = try Recorder(
      title: title, policy: policy, file: file,
      options: ScenarioRunner.Options(
        ambit: executable, apps: ScenarioRunCommand.appsFolder(nil, beside: executable),
        agent: ScenarioRunCommand.agent(beside: executable)))
    defer { _ = recorder.end() }
    do {
      guard try record(recorder) else { return }
    } catch let interruption as Interrupted {
      throw ExitCode(128 + interruption.signal)
    }
    guard !recorder.isEmpty else { return try Output.standard.write("Nothing was done, so nothing is written.\n") }
    do { try Data(recorder.text.utf8).write(to: URL(fileURLWithPath: file)) } catch {
      throw Failure("\(file): cannot be written: \(error.localizedDescription)", status: 2)
    }
    try Output.standard.write("\(printable(file)) is a scenario: ambit scenario run \(printable(file))\n")
  }

  /// - Returns: whether it shall be written.
  private func record(_ recorder: Recorder) throws -> Bool {
    let style = Style(for: 1)
    while true {
      try Output.standard.write(style.dim("record> "))
      guard let line = readLine() else {
        try Output.standard.write("\n")
        return true
      }
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch words.first {
      case nil: continue
      case "done": return true
      case "quit": return false
      case "show": try Output.standard.write(printable(recorder.text).replacing("\\n", with: "\n"))
      case "say" where words.count == 2: recorder.say(words[1])
      default:
        switch try recorder.perform(line) {
        case .kept(let text, let evidence):
          let seen = evidence.isEmpty ? "" : "  " + style.dim(printable(evidence.joined(separator: "; ")))
          try Output.standard.write("\(style.green("✓")) \(printable(text))\(seen)\n")
        case .refused(let reason): try Output.standard.write("\(style.red("✘")) \(printable(reason)); not kept\n")
        }
      }
    }
  }
}
