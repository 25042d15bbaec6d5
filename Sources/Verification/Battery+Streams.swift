internal import Foundation
internal import Kernel

/// Standard streams that a careless caller hands over (I6).
extension Battery {
  func runStreams() throws {
    let (input, log) = ("\(stage.folder)/input", "\(stage.folder)/log")
    for isInside in [true, false] {
      try stage.write("\(stage.token)\n", input)
      try stage.write("before\n", log)
      try runStreams(
        "folder", [0: try Descriptor.open("\(stage.folder)/inherited", flags: [.read, .directory])], isInside)
      try runStreams("place", [0: try Descriptor.open(stage.canary, flags: .path)], isInside)
      try runStreams("reading", [0: try Descriptor.open(input, flags: .read)], isInside)
      try runStreams("appending", [2: try Descriptor.open(log, flags: [.write, .append])], isInside)
      let left = try String(contentsOfFile: log, encoding: .utf8)
      let attempt =
        left.hasPrefix("before\n")
        ? Attempt("I6", "appending", .refused, "the log was appended to, and not emptied")
        : Attempt("I6", "appending", .reached, "the log was emptied through /proc/self/fd/2")
      if isInside { inside.append(attempt) } else { controls.append(attempt) }
      if isInside, left.contains("appended") {
        inside.append(Attempt("I6", "appending", .control, "the app's lines are in the log"))
      }
    }
  }

  private func runStreams(_ step: String, _ streams: [Int32: Descriptor], _ isInside: Bool) throws {
    let settings = settings(isInside: isInside).filter { !$0.hasPrefix("broker=") }
    let arguments = ["probe"] + settings + ["only=I6", "step=\(step)"]
    let program =
      isInside ? try launch(arguments, inherited: streams) : try launchUnconfined(arguments, inherited: streams)
    _ = try program.finish()
    let (attempts, isWhole) = Attempt.read(program.outputText)
    if isInside, !isWhole {
      let said = program.errorText.split(separator: "\n").first.map(String.init) ?? "without a word"
      inside.append(Attempt("I6", step, .refused, "the launch was refused: \(said.prefix(160))"))
    } else if isInside {
      inside += attempts
    } else {
      controls += attempts
    }
  }
}
