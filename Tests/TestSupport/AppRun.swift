/// One `ambit run`, and the conversation with the app in it.
package final class AppRun {
  package let process: ChildProcess

  init(_ process: ChildProcess) { self.process = process }

  /// One request to the probe, and its answer.
  ///
  /// - Throws: when there is no answer in time, with what was seen instead; and when the probe says that the request
  ///   makes no sense.
  package func tell(
    _ act: String, _ fields: [String: JSON] = [:], patience: Duration = .seconds(10)
  ) throws -> JSON {
    let request = JSON.object(fields.merging(["do": .string(act)]) { _, act in act })
    try process.send(request.text + "\n")
    let line = try process.readLine(patience: patience)
    guard let answer = JSON(line), answer.object != nil else {
      throw process.seen("answered “\(line)” to \(request.text)")
    }
    if let usage = (answer["usage"] ?? answer["unsupported"])?.string {
      throw process.seen("\(request.text): \(usage)")
    }
    return answer
  }

  /// Lets the app come to its end by itself.
  package func finish() throws -> ChildProcess.Exit {
    process.closeInput()
    return try process.waitForExit()
  }
}

/// How a command ended that was run to its end.
package struct Outcome: CustomStringConvertible {
  package let exit: ChildProcess.Exit
  package let output: String
  package let errors: String

  package init(exit: ChildProcess.Exit, output: String, errors: String) {
    self.exit = exit
    self.output = output
    self.errors = errors
  }

  package var description: String { "\(exit)\noutput: \(output)\nerrors: \(errors)" }
}
