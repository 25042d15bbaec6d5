internal import Pages
internal import Rulebook
internal import Scenario

/// A run of the suite as static pages: the table of systems and statements, and a page for each statement. Nothing is loaded from
/// elsewhere, and there is no script.
package struct Site {
  let matrix: Matrix
  let items: [Suite.Item]
  let suite: Suite
  let earlier: Matrix?

  package init(suite: Suite, items: [Suite.Item], matrix: Matrix, earlier: Matrix? = nil) {
    (self.suite, self.items, self.matrix, self.earlier) = (suite, items, matrix, earlier)
  }

  /// Every page, by its path in the site.
  package var pages: [(path: String, text: String)] {
    [("index.html", index)] + matrix.rows.map { ("\(Self.place(of: $0.rule.id))", page(of: $0)) }
      + (earlier.map { [("changes.html", changes(since: $0))] } ?? [])
  }

  static func place(of id: String) -> String { "statements/\(id).html" }

  var executed: [SystemRun] { matrix.runs.filter { !$0.isModelled && $0.absent == nil } }
  var modelled: [SystemRun] { matrix.runs.filter { $0.isModelled && $0.absent == nil } }

  // MARK: - The first page

  private var index: String {
    var html = HTMLText()
    html.begin(title: "Scoped access: systems and statements", style: SiteStyle.sheet)
    html.open("header")
    html.element("p", ["class": "brand"], "Ambit conformance suite")
    html.element("h1", "Systems and statements")
    html.element(
      "p",
      "Each row is a statement about scoped access. Each column is a system that runs programs with limited access to "
        + "documents. Every cell was played on one machine, with real processes and real files.")
    html.open("nav", ["aria-label": "Sections"])
    html.open("ul")
    var sections = [("systems", "Systems"), ("table", "Statements")]
    if !modelled.isEmpty { sections.append(("modelled", "Modelled profiles")) }
    if !suite.exceptions.isEmpty { sections.append(("exceptions", "Without a scenario")) }
    for (id, title) in sections { html.element("li") { $0.element("a", ["href": "#\(id)"], title) } }
    if earlier != nil { html.element("li") { $0.element("a", ["href": "changes.html"], "Changes") } }
    html.close("ul")
    html.close("nav")
    html.close("header")
    html.open("main", ["id": "main"])
    systems(&html)
    html.element("section", ["id": "table"]) {
      $0.element("h2", "Statements")
      legend(&$0)
      grid(&$0, executed, "Statements, by system")
    }
    if !modelled.isEmpty {
      html.element("section", ["id": "modelled"]) {
        $0.element("h2", "Modelled profiles")
        $0.element(
          "p",
          "These columns are Ambit under rules that imitate another platform. They say how Ambit answers with those rules. "
            + "They say nothing about the platform itself, which was not run.")
        grid(&$0, modelled, "Statements, by modelled profile")
      }
    }
    exceptions(&html)
    html.close("main")
    html.end()
    return html.text
  }

  private func systems(_ html: inout HTMLText) {
    html.open("section", ["id": "systems"])
    html.element("h2", "Systems")
    html.open("div", ["class": "scroll", "role": "group", "aria-label": "Systems", "tabindex": "0"])
    html.open("table")
    html.element("caption", "Systems, and the number of their results")
    html.open("thead")
    html.open("tr")
    for heading in ["System", "Version", "Kind", "Passed", "Failed", "Error", "Not applicable"] {
      html.element("th", ["scope": "col"], heading)
    }
    html.close("tr")
    html.close("thead")
    html.open("tbody")
    for run in matrix.runs {
      html.open("tr")
      html.element("th", ["scope": "row"], run.system)
      if let absent = run.absent {
        html.element("td", ["colspan": "6", "class": "quiet"], "not here: \(absent)")
      } else {
        html.element("td", run.version)
        html.element("td", run.isModelled ? "modelled" : "executed")
        for verdict in [.passed, .failed, .error, .notApplicable] as [ScenarioOutcome.Verdict] {
          html.element("td", ["class": "n"], "\(run.count(verdict))")
        }
      }
      html.close("tr")
    }
    html.close("tbody")
    html.close("table")
    html.close("div")
    html.close("section")
  }

  private func legend(_ html: inout HTMLText) {
    html.open("ul", ["class": "legend"])
    for verdict in ScenarioOutcome.Verdict.allCases {
      html.element("li") {
        $0.element("span", ["class": "cell \(verdict.mark.style)", "aria-hidden": "true"], verdict.mark.sign)
        $0.say(verdict.meaning)
      }
    }
    html.close("ul")
  }

  private func grid(_ html: inout HTMLText, _ runs: [SystemRun], _ caption: String) {
    html.open("div", ["class": "scroll", "role": "group", "aria-label": caption, "tabindex": "0"])
    html.open("table", ["class": "grid"])
    html.element("caption", caption)
    html.open("thead")
    html.open("tr")
    html.element("th", ["scope": "col"], "Statement")
    for run in runs { html.element("th", ["scope": "col", "class": "system"], run.system) }
    html.close("tr")
    html.close("thead")
    var family = ""
    for row in matrix.rows where runs.contains(where: { row.cells[$0.system] != nil }) {
      if row.family.id != family {
        if !family.isEmpty { html.close("tbody") }
        family = row.family.id
        html.open("tbody")
        html.element("tr", ["class": "family"]) {
          $0.element(
            "th", ["colspan": "\(runs.count + 1)", "scope": "rowgroup"], "\(row.family.id): \(row.family.title)")
        }
      }
      html.open("tr")
      html.element("th", ["scope": "row"]) {
        $0.element("a", ["href": Self.place(of: row.rule.id)], row.rule.id)
        $0.element("span", ["class": "words"], row.rule.statement)
      }
      for run in runs { cell(&html, row, run) }
      html.close("tr")
    }
    if !family.isEmpty { html.close("tbody") }
    html.close("table")
    html.close("div")
  }

  private func cell(_ html: inout HTMLText, _ row: Matrix.Row, _ run: SystemRun) {
    guard let cell = row.cells[run.system] else {
      return html.element("td", ["class": "cell quiet"], "")
    }
    html.element("td", ["class": "cell \(cell.verdict.mark.style)"]) {
      $0.element("a", ["href": "\(Self.place(of: row.rule.id))#\(run.system)"]) {
        $0.element("span", ["aria-hidden": "true"], cell.verdict.mark.sign)
        $0.element("span", ["class": "hidden"], "\(run.system): \(cell.verdict.rawValue)")
      }
    }
  }

  private func exceptions(_ html: inout HTMLText) {
    let uncovered = suite.uncovered()
    guard !suite.exceptions.isEmpty || !uncovered.isEmpty else { return }
    html.open("section", ["id": "exceptions"])
    html.element("h2", "Without a scenario")
    html.open("dl", ["class": "facts"])
    for (id, reason) in suite.exceptions.sorted(by: { Self.order($0.key) < Self.order($1.key) }) {
      html.element("dt", id)
      html.element("dd", reason)
    }
    for rule in uncovered {
      html.element("dt", rule.id)
      html.element("dd", "not yet shown")
    }
    html.close("dl")
    html.close("section")
  }

  private static func order(_ id: String) -> (String, Int) {
    let parts = id.split(separator: "-")
    return (parts.first.map(String.init) ?? "", parts.last.flatMap { Int($0) } ?? 0)
  }

  // MARK: - Changes

  private func changes(since earlier: Matrix) -> String {
    var html = HTMLText()
    html.begin(title: "Changes since the earlier run", style: SiteStyle.sheet)
    html.open("header")
    html.element("p", ["class": "brand"]) { $0.element("a", ["href": "index.html"], "Ambit conformance suite") }
    html.element("h1", "Changes since the earlier run")
    html.close("header")
    html.open("main", ["id": "main"])
    let changes = matrix.changes(since: earlier)
    if changes.isEmpty {
      html.element("p", "Every cell has the verdict that it had.")
    } else {
      html.open("table")
      html.element("caption", "\(changes.count) cells")
      html.element("thead") {
        $0.element("tr") { row in
          for heading in ["Statement", "System", "Before", "Now"] { row.element("th", ["scope": "col"], heading) }
        }
      }
      html.open("tbody")
      for change in changes {
        html.open("tr")
        html.element("th", ["scope": "row"]) { $0.element("a", ["href": Self.place(of: change.id)], change.id) }
        for text in [change.system, change.before, change.after] { html.element("td", text) }
        html.close("tr")
      }
      html.close("tbody")
      html.close("table")
    }
    html.close("main")
    html.end()
    return html.text
  }
}

extension ScenarioOutcome.Verdict {
  /// The sign of a cell, and the class that colours it.
  var mark: (sign: String, style: String) {
    switch self {
    case .passed: ("✓", "good")
    case .failed: ("✗", "refused")
    case .error: ("!", "leak")
    case .notApplicable: ("–", "quiet")
    }
  }

  var meaning: String {
    switch self {
    case .passed: "passed: the statement holds"
    case .failed: "failed: it does not hold"
    case .error: "error: the system did not do its part, so nothing was shown"
    case .notApplicable: "not applicable: the system has no notion of it, or the machine lacks a feature"
    }
  }
}

enum SiteStyle {
  static var sheet: String { PageStyle.sheet + "\n" + rules }

  private static let rules = """
    .legend{display:flex;flex-wrap:wrap;gap:.25rem 1.4rem;list-style:none;margin:.7rem 0 0;padding:0;font-size:.86rem;color:var(--quiet)}
    .legend li{display:flex;gap:.5rem;align-items:center}
    .cell{font-weight:700;text-align:center}
    .cell a{display:block;color:inherit;text-decoration:none;min-width:1.5rem}
    .cell.good,.verdict.good{color:var(--good)}.cell.refused,.verdict.refused{color:var(--refused)}
    .cell.leak,.verdict.leak{color:var(--leak)}.cell.quiet,.verdict.quiet{color:var(--quiet)}
    .grid th.system{text-align:center;white-space:nowrap}
    .grid .family th{background:var(--tint);color:var(--ink)}
    .grid tbody th a{display:inline-block;min-width:4.2rem}
    .grid .words{color:var(--quiet);font-weight:400}
    .grid tbody th{min-width:24rem}
    pre{margin:.5rem 0;padding:.6rem .9rem;background:var(--tint);border-radius:6px;overflow-x:auto;font-size:.86rem}
    ol.steps{padding-inline-start:1.4rem}ol.steps li{margin:.5rem 0}
    ul.checks{list-style:none;margin:.2rem 0 0;padding:0;font-size:.86rem}
    ul.checks li{display:flex;gap:.6rem;align-items:baseline;margin:.1rem 0}
    blockquote{margin:.6rem 0;padding:.2rem 1rem;border-inline-start:4px solid var(--link);font-size:1.1rem;max-width:52rem}
    .verdict{font-weight:650}
    section:target h2{text-decoration:underline;text-decoration-color:var(--link)}
    @media (max-width:40rem){.grid tbody th{min-width:12rem}}
    """
}
