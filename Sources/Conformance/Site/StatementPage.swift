internal import Pages
internal import Rulebook
internal import Scenario

// The page of one statement.
extension Site {
  func page(of row: Matrix.Row) -> String {
    var html = HTMLText()
    html.begin(title: "\(row.rule.id): \(row.rule.statement)", style: SiteStyle.sheet)
    html.open("header")
    html.element("p", ["class": "brand"]) { $0.element("a", ["href": "../index.html"], "Ambit conformance suite") }
    html.element("h1", row.rule.id)
    html.element("blockquote", row.rule.statement)
    html.open("dl", ["class": "facts"])
    html.element("dt", "Source")
    html.element("dd", row.rule.source)
    html.element("dt", "Strength")
    html.element("dd", "\(row.rule.strength.rawValue): \(row.rule.strength.words)")
    html.element("dt", "Area")
    html.element("dd", row.family.title)
    html.close("dl")
    html.close("header")
    html.open("main", ["id": "main"])
    html.element("section") { section in
      section.element("h2", "Results")
      section.open("ul", ["class": "legend"])
      for run in executed + modelled {
        guard let cell = row.cells[run.system] else { continue }
        section.element("li") {
          $0.element(
            "span", ["class": "cell \(cell.verdict.mark.style)", "aria-hidden": "true"], cell.verdict.mark.sign)
          $0.element("a", ["href": "#\(run.system)"], run.system)
          $0.element("span", ["class": "hidden"], cell.verdict.rawValue)
        }
      }
      section.close("ul")
    }
    for run in executed + modelled {
      guard let cell = row.cells[run.system] else { continue }
      system(&html, row, run, cell)
    }
    html.close("main")
    html.end()
    return html.text
  }

  private func system(_ html: inout HTMLText, _ row: Matrix.Row, _ run: SystemRun, _ cell: Matrix.Cell) {
    html.open("section", ["id": run.system])
    html.element("h2", run.isModelled ? "\(run.system) (modelled by Ambit)" : run.system)
    html.element("p", ["class": "verdict \(cell.verdict.mark.style)"], cell.verdict.rawValue)
    html.element("pre") { $0.element("code", Matrix.command(row.rule.id, under: run.system)) }
    for outcome in cell.outcomes {
      let title = items.first { $0.name == outcome.name }?.scenario.title ?? outcome.name
      html.element("h3", "\(title), as \(outcome.user == "root" ? "root" : "an ordinary user")")
      html.element("p", ["class": "verdict \(outcome.verdict.mark.style)"], outcome.verdict.rawValue)
      if !outcome.reason.isEmpty { html.element("p") { $0.quote(outcome.reason, most: 1000) } }
      steps(&html, outcome)
    }
    html.close("section")
  }

  private func steps(_ html: inout HTMLText, _ outcome: ScenarioOutcome) {
    guard !outcome.steps.isEmpty else { return }
    html.open("ol", ["class": "steps"])
    for step in outcome.steps {
      html.open("li")
      html.say(step.say)
      html.open("ul", ["class": "checks"])
      for check in step.checks {
        html.element("li") {
          let mark = check.isHeld ? ScenarioOutcome.Verdict.passed.mark : ScenarioOutcome.Verdict.failed.mark
          $0.element("span", ["class": "verdict \(mark.style)"]) {
            $0.element("span", ["aria-hidden": "true"], mark.sign)
            $0.element("span", ["class": "hidden"], check.isHeld ? "held:" : "did not hold:")
          }
          $0.element("span") {
            $0.quote(check.what)
            if !check.evidence.isEmpty {
              $0.say(" · ")
              $0.quote(check.evidence)
            }
          }
        }
      }
      html.close("ul")
      html.close("li")
    }
    html.close("ol")
  }
}
