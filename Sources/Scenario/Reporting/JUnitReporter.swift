/// JUnit's XML: a test suite a scenario, a test case a step. Written when everything is over.
package final class JUnitReporter: ScenarioReporter {
  private let write: (String) -> Void

  package init(write: @escaping (String) -> Void) { self.write = write }

  package func finished(_ results: [ScenarioResult]) {
    let tests = results.map { cases(of: $0).count }.reduce(0, +)
    let failures = results.map { cases(of: $0).count { $0.verdict == .failed } }.reduce(0, +)
    let seconds = results.map(\.seconds).reduce(0, +)
    write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
    write("<testsuites tests=\"\(tests)\" failures=\"\(failures)\" time=\"\(Self.time(seconds))\">\n")
    for result in results { suite(result) }
    write("</testsuites>\n")
  }

  private func cases(of result: ScenarioResult) -> [StepResult] { result.steps.filter { $0.verdict != .narrated } }

  private func suite(_ result: ScenarioResult) {
    let cases = cases(of: result)
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(cases.count { $0.verdict == .failed })\""
      + " skipped=\"\(cases.count { $0.verdict == .skipped })\""
    let name = XMLText.escaped(result.scenario.title)
    write("  <testsuite name=\"\(name)\" \(counts) time=\"\(Self.time(result.seconds))\">\n")
    for step in cases { testCase(step, of: result.scenario) }
    write("  </testsuite>\n")
  }

  private func testCase(_ step: StepResult, of scenario: Scenario) {
    let file = XMLText.escaped(scenario.file)
    write(
      "    <testcase name=\"\(XMLText.escaped("\(step.number). \(step.step.say)"))\" classname=\"\(file)\""
        + " file=\"\(file)\" line=\"\(step.step.place.line)\" time=\"\(Self.time(step.seconds))\">\n")
    if step.verdict == .skipped { write("      <skipped message=\"a step before it failed\"/>\n") }
    if let check = step.checks.last, let failure = check.failure {
      let lines =
        [
          "\(scenario.file):\(check.place.line): \(check.what)", "expected: \(failure.expected)",
          "seen: \(failure.seen)",
        ]
        + failure.context
      write(
        "      <failure message=\"\(XMLText.escaped("expected \(failure.expected)"))\">"
          + "\(XMLText.escaped(lines.joined(separator: "\n")))</failure>\n")
    }
    let evidence = step.checks.filter { $0.failure == nil }.map { ([$0.what] + $0.evidence).joined(separator: " | ") }
    if !evidence.isEmpty {
      write("      <system-out>\(XMLText.escaped(evidence.joined(separator: "\n")))</system-out>\n")
    }
    write("    </testcase>\n")
  }

  private static func time(_ seconds: Double) -> String { String(Double((seconds * 1000).rounded()) / 1000) }
}

/// Text in XML.
package enum XMLText {
  /// Text for content and attributes alike, without the characters that XML 1.0 cannot hold.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
