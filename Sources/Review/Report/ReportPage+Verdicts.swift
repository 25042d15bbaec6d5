internal import Foundation
internal import Pages

// Refusals with their reasons, leaks, and the policies that decided.
extension ReportPage {
  mutating func denials() {
    html.open("section", ["aria-labelledby": "denials"])
    html.element("h2", ["id": "denials"], "Refusals")
    guard !model.denials.isEmpty else {
      html.element("p", "Nothing was refused, and nothing failed.")
      html.close("section")
      return
    }
    html.element("p", "By reason, the most frequent first, with what would have been granted instead.")
    table(
      "reasons", "Refusals by reason", filter: "Filter by rule, reason or app",
      [
        .init("Count", .number), .init("Rule", .word), .init("Wanted to", .word), .init("Why not", .words),
        .init("What would have granted it", .words), .init("Apps", .app), .init("Newest", .time),
      ])
    let most = model.denials.map(\.count).max() ?? 1
    for denial in model.denials { row(denial, most) }
    endTable()
    if model.denialsLeftOut > 0 {
      html.element(
        "p", ["class": "small quiet"], "\(counted(model.denialsLeftOut, "refusal", "refusals")) for other reasons.")
    }
    html.close("section")
  }

  private mutating func row(_ denial: ReportModel.Denial, _ most: Int) {
    html.open("tr")
    html.element("td", ["class": "n"]) { [self] in
      $0.say(grouped(denial.count))
      $0.open(
        "svg", ["viewBox": "0 0 112 10", "aria-hidden": "true", "focusable": "false", "preserveAspectRatio": "none"])
      $0.empty("rect", ["class": "track", "x": "0", "y": "0", "width": "112", "height": "10", "rx": "2"])
      let width = max(2, 112 * Double(denial.count) / Double(most))
      $0.empty("rect", ["class": "share", "x": "0", "y": "0", "width": number(width), "height": "10", "rx": "2"])
      $0.close("svg")
    }
    html.element("th", ["scope": "row"]) { $0.element("code") { $0.quote(denial.rule ?? "–") } }
    html.element("td") {
      $0.quote(denial.what)
      if denial.isFailure { $0.element("span", ["class": "where small"], "allowed, but it failed") }
    }
    html.element("td") {
      $0.quote(denial.why)
      if !denial.example.isEmpty, denial.example != denial.why {
        $0.element("span", ["class": "where small"]) {
          $0.say("e.g. ")
          $0.quote(denial.example, most: 240)
        }
      }
    }
    html.element("td") { $0.quote(denial.remedy) }
    html.element("td") {
      for app in denial.apps.prefix(8) { $0.element("span", ["class": "name path"]) { $0.quote(app) } }
      if denial.apps.count > 8 { $0.say("and more") }
      if denial.apps.isEmpty { $0.say("–") }
    }
    html.element("td") { [moments] in
      moments.cell(denial.last, &$0)
      $0.element("span", ["class": "where small"], "entry \(grouped(denial.sequence))")
    }
    html.close("tr")
  }

  mutating func leaks() {
    html.open("section", ["aria-labelledby": "leaks"])
    html.element("h2", ["id": "leaks"], "Leaks")
    guard !model.leaks.isEmpty else {
      html.element("p", "Every scope that ended was stopped by its app, and nothing outlived its scope.")
      html.close("section")
      return
    }
    html.element(
      "p", "Scopes that were never stopped before their process ended, and what stayed open beyond its scope.")
    table(
      "leak-list", "Every leak", filter: "Filter by app or document",
      [
        .init("App", .app), .init("Document", .document), .init("What leaked", .word), .init("Since", .time),
        .init("Until", .time), .init("Detail", .words), .init("Entry", .number),
      ])
    for leak in model.leaks {
      html.open("tr")
      html.element("th", ["scope": "row"]) {
        $0.element("span", ["class": "path"]) { $0.quote(leak.app) }
        if let launch = leak.launch {
          $0.element("span", ["class": "where small"]) {
            $0.say("launch ")
            $0.quote(launch)
          }
        }
      }
      html.element("td") { [self] in document(leak.path, &$0) }
      html.element("td") {
        $0.element(
          "span", ["class": "mark leak"], leak.kind == .unstopped ? "◇ scope not stopped" : "◆ outlived its scope")
      }
      html.element("td") { [moments] in moments.cell(leak.since, &$0) }
      html.element("td") { [moments] in
        if let until = leak.until { moments.cell(until, &$0) } else { $0.say("not in the log") }
      }
      html.element("td") { $0.quote(leak.detail.isEmpty ? "–" : leak.detail) }
      html.element("td", ["class": "n"], grouped(leak.sequence))
      html.close("tr")
    }
    endTable()
    if model.leaksLeftOut > 0 {
      html.element(
        "p", ["class": "small quiet"],
        "\(counted(model.leaksLeftOut, "earlier leak is", "earlier leaks are")) not listed.")
    }
    html.close("section")
  }

  mutating func policies() {
    html.open("section", ["aria-labelledby": "policies"])
    html.element("h2", ["id": "policies"], "Policies in words")
    if model.policies.isEmpty {
      html.element("p", "The log names no policy.")
    } else {
      html.element(
        "p",
        "What any app could do under the policy that the latest launch of each app went by, on a machine as the one on which this "
          + "page was written. What the policy said then is in the launch’s entry."
      )
    }
    for (index, policy) in model.policies.enumerated() { words(policy, index) }
    if model.policiesLeftOut > 0 {
      html.element(
        "p", ["class": "small quiet"],
        "\(counted(model.policiesLeftOut, "policy", "policies")) of fewer apps left out.")
    }
    html.close("section")
  }

  private static func list(_ apps: [String], _ html: inout HTMLText) {
    for (place, app) in apps.prefix(12).enumerated() {
      if place > 0 { html.say(", ") }
      html.element("span", ["class": "path"]) { $0.quote(app) }
    }
    if apps.count > 12 { html.say(" and \(grouped(apps.count - 12)) more") }
  }

  private mutating func words(_ policy: ReportModel.PolicyWords, _ index: Int) {
    html.element("h3") { $0.quote(policy.name) }
    html.element("p", ["class": "small quiet"]) {
      if policy.text != nil, let launch = policy.launch, let entry = policy.entry {
        $0.say("as launch ")
        $0.element("span", ["class": "path"]) { $0.quote(launch) }
        $0.say(" went by it, entry \(grouped(entry)); ")
      }
      $0.say("launched under it last: ")
      Self.list(policy.apps, &$0)
    }
    if !policy.varied.isEmpty {
      html.element("p", ["class": "small quiet"]) {
        $0.say("Other launches went by another policy, or by another text of it: of ")
        Self.list(policy.varied, &$0)
      }
    }
    if let note = policy.note { html.element("p") { $0.quote(note) } }
    // One name may have stood for several.
    let isOnlyOne = model.policies.count { $0.name == policy.name } == 1
    let which = isOnlyOne ? "" : policy.entry.map { " as of entry \(grouped($0))" } ?? " as it is now"
    for (number, section) in policy.sections.enumerated() {
      table(
        "policy-\(index)-\(number)", "\(section.title), under \(HTMLText.cut(policy.name, to: 100))\(which)",
        [.init("It can", .document), .init("How far", .words), .init("By whose decision", .document)])
      for ability in section.abilities {
        html.open("tr")
        html.element("th", ["scope": "row"]) { $0.quote(ability.phrase) }
        html.element("td") {
          $0.element("span", ["class": ability.isClosed ? "mark good" : "strong"]) { $0.quote(ability.extent) }
        }
        html.element("td", ["class": "quiet small"]) { $0.quote(ability.by) }
        html.close("tr")
      }
      endTable()
    }
  }
}
