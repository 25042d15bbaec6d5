package import Terminal

/// For people: numbered, narrated steps, and below each its actions and their results.
package final class PrettyReporter: ScenarioReporter {
  package struct Layout: Equatable, Sendable {
    package var style: Style
    /// Columns of the terminal, or of the text where there is none.
    package var width: Int
    /// Whether lines can be taken back: on a terminal that no other program draws on.
    package var showsProgress: Bool

    package init(style: Style, width: Int, showsProgress: Bool) {
      self.style = style
      self.width = max(60, min(width, 120))
      self.showsProgress = showsProgress
    }
  }

  private let layout: Layout
  private let write: (String) -> Void
  private var hasProgress = false
  private var isInteractive = false

  /// - Parameter write: takes text as it comes, line ends included.
  package init(layout: Layout, write: @escaping (String) -> Void) {
    self.layout = layout
    self.write = write
  }

  package func began(_ scenario: Scenario) {
    line("")
    line(bold(scenario.title))
    if let about = scenario.about { for text in wrap(about, to: layout.width) { line(dim(text)) } }
  }

  package func began(_ step: Step, number: Int) {
    line("")
    let label = number < 10 ? " \(number)" : "\(number)"
    let rules = step.rules.isEmpty ? "" : " [\(step.rules.joined(separator: ", "))]"
    for (index, text) in wrap(step.say + rules, to: layout.width - 4).enumerated() {
      let text = coloured(text, rulesFrom: rules)
      line(index == 0 ? "\(bold(label))  \(text)" : "    \(text)")
    }
  }

  package func checked(_ check: Check) {
    let mark = check.failure == nil ? green("✓") : red("✗")
    let column = evidenceColumn
    guard check.failure == nil else {
      line("    \(mark) \(check.what)")
      return
    }
    let first = check.evidence.first ?? ""
    // Evidence stands beside the action if both fit, else below it.
    if check.evidence.count < 2, displayWidth(check.what) < column, column + 6 + displayWidth(first) <= layout.width {
      line("    \(mark) \(pad(first.isEmpty ? "" : check.what, column, else: check.what))\(dim(first))")
    } else {
      line("    \(mark) \(check.what)")
      if !first.isEmpty { evidence(first) }
    }
    for text in check.evidence.dropFirst() { evidence(text) }
  }

  /// The column where evidence beside an action begins.
  private var evidenceColumn: Int { layout.width < 100 ? 44 : 52 }

  private func evidence(_ text: String) {
    for part in wrap(text, to: layout.width - 10) { line("          \(dim(part))") }
  }

  private func pad(_ text: String, _ width: Int, else plain: String) -> String {
    text.isEmpty ? plain : text + String(repeating: " ", count: width - displayWidth(text))
  }

  package func waiting(for what: String, seconds: Double) {
    guard layout.showsProgress, !isInteractive, seconds >= 0.5 else { return }
    write("\r\u{1b}[K    \(dim("… waiting for \(what) (\(Int(seconds)) s)"))")
    hasProgress = true
  }

  package func changed(_ lines: [String]) {
    for text in lines { line("        \(dim("· \(text)"))") }
  }

  package func asks(_ what: String) {
    line("    \(bold(yellow("▶ \(what)")))")
    // From here on a picker may be drawing on the same terminal.
    isInteractive = true
  }

  package func ended(_ step: StepResult) {
    guard let check = step.checks.last, let failure = check.failure else { return }
    labelled("expected", failure.expected, red)
    labelled("seen", failure.seen, red)
    for text in failure.context { line("        \(dim(text))") }
  }

  private func labelled(_ label: String, _ text: String, _ colour: (String) -> String) {
    let lines =
      text.isEmpty ? ["(nothing)"] : text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (index, text) in lines.enumerated() {
      let start = index == 0 ? label + ":" : ""
      line("        \(start)\(String(repeating: " ", count: 10 - start.count))\(colour(text))")
    }
  }

  package func ended(_ result: ScenarioResult) {
    line("")
    let checks = result.steps.flatMap(\.checks)
    let held = checks.count { $0.failure == nil }
    let time = seconds(result.seconds)
    if result.isPassed {
      let steps = result.steps.count { $0.verdict == .passed }
      line("\(green("✓")) \(bold("\(count(steps, "step")), \(count(held, "check")): all hold")) \(dim("(\(time))"))")
    } else {
      let skipped = result.steps.count { $0.verdict == .skipped }
      let rest = skipped == 0 ? "" : "; \(count(skipped, "step")) after it not run"
      if let failed = result.steps.first(where: { $0.verdict == .failed }) {
        let place = failed.checks.last?.place.line ?? failed.step.place.line
        let verdict = bold("step \(failed.number) does not hold")
        line("\(red("✗")) \(verdict): \(result.scenario.file):\(place)\(rest) \(dim("(\(time))"))")
      }
    }
    for note in result.notes { line(dim("  \(note)")) }
  }

  package func finished(_ results: [ScenarioResult]) {
    guard results.count > 1 else { return }
    let passed = results.count { $0.isPassed }
    line("")
    line(bold("\(passed) of \(results.count) scenarios hold"))
  }

  // MARK: - Text

  private func line(_ text: String) {
    if hasProgress { write("\r\u{1b}[K") }
    hasProgress = false
    write(text + "\n")
  }

  private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  private func seconds(_ value: Double) -> String { "\(Double((value * 10).rounded()) / 10) s" }

  /// Breaks a text at spaces. A word longer than the width stands alone.
  func wrap(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if displayWidth(String(paragraph)) <= width {
        lines.append(String(paragraph))
        continue
      }
      var current = ""
      for word in paragraph.split(separator: " ") {
        if !current.isEmpty, displayWidth(current) + 1 + displayWidth(String(word)) > width {
          lines.append(current)
          current = ""
        }
        current += (current.isEmpty ? "" : " ") + word
      }
      lines.append(current)
    }
    return lines
  }

  private func coloured(_ text: String, rulesFrom rules: String) -> String {
    guard !rules.isEmpty, text.hasSuffix(rules) else { return text }
    return text.dropLast(rules.count) + dim(rules)
  }

  private func bold(_ text: String) -> String { layout.style.bold(text) }
  private func dim(_ text: String) -> String { layout.style.dim(text) }
  private func green(_ text: String) -> String { layout.style.green(text) }
  private func red(_ text: String) -> String { layout.style.red(text) }
  private func yellow(_ text: String) -> String { layout.style.yellow(text) }
}
