internal import Foundation
internal import Pages
internal import Terminal

// Apps and documents: the picture, and the same facts as tables.
extension ReportPage {
  mutating func reached() {
    html.open("section", ["aria-labelledby": "reach"])
    html.element("h2", ["id": "reach"], "Apps and documents")
    guard !model.apps.isEmpty else {
      html.element("p", "No app did anything in what was read.")
      html.close("section")
      return
    }
    if model.reaches.isEmpty {
      html.element("p", "No app had anything to do with a document in what was read.")
    } else {
      html.element("p", summary)
      graph()
    }
    if !model.reaches.isEmpty { reachTable() }
    appTable()
    html.close("section")
  }

  private var summary: String {
    var words = "Apps stand on the left, what they reached on the right. The two tables below say the same in full."
    if model.folding.isFolded {
      words +=
        " \(grouped(model.folding.documents)) documents are shown as \(grouped(model.places.count)): the folder that "
        + "holds most was put together first."
    }
    if model.appsLeftOut > 0 {
      words += " \(counted(model.appsLeftOut, "app that did less is", "apps that did less are")) left out."
    }
    return words
  }

  // MARK: - The picture

  private mutating func graph() {
    let graph = ReachGraph(model)
    html.open("figure", ["role": "none"])
    html.open(
      "div", ["class": "scroll", "role": "group", "aria-label": "Graph of apps and documents", "tabindex": "0"])
    html.open(
      "svg",
      [
        "viewBox": "0 0 \(number(ReachGraph.width)) \(number(graph.height))", "role": "group", "data-graph": "",
        "aria-labelledby": "graph-title", "aria-describedby": "graph-words",
      ])
    html.element("title", ["id": "graph-title"], "Which app reached which document")
    html.element("desc", ["id": "graph-words"], description)
    html.open("g", ["aria-hidden": "true"])
    for line in graph.lines { edge(line) }
    html.close("g")
    for box in graph.apps { node(box, app: model.apps[box.index]) }
    for box in graph.places { node(box, place: model.places[box.index]) }
    html.close("svg")
    html.close("div")
    legend()
    html.close("figure")
  }

  private var description: String {
    let used = model.reaches.count { $0.outcome == .used }
    let granted = model.reaches.count { $0.outcome == .granted }
    let refused = model.reaches.count { $0.outcome == .refused }
    return "\(counted(model.apps.count, "app", "apps")), \(counted(model.places.count, "place", "places")); "
      + "\(counted(used, "line", "lines")) of use, \(grouped(granted)) of rights without use, \(grouped(refused)) of refusals. "
      + "The table “What apps reached” has each of them as a row."
  }

  private mutating func edge(_ line: ReachGraph.Line) {
    let reach = model.reaches[line.reach]
    let tone = reach.leaks > 0 ? "\(reach.outcome.rawValue) leaky" : reach.outcome.rawValue
    let bend = (line.to.x - line.from.x) * 0.5
    let end = line.to.x - 9
    html.empty(
      "path",
      [
        "class": "edge \(tone)", "data-app": "a\(reach.app)", "data-place": "p\(reach.place)",
        "stroke-width": number(line.thickness),
        "d": "M\(number(line.from.x)) \(number(line.from.y))C\(number(line.from.x + bend)) \(number(line.from.y)) "
          + "\(number(end - bend)) \(number(line.to.y)) \(number(end)) \(number(line.to.y))",
      ])
    tip(line, reach, tone, x: line.to.x - 6)
  }

  /// The end of the line shows the right, so that nothing depends on colours: full for writing, hollow for reading, a cross for a
  /// refusal, and a diamond where something leaked.
  private mutating func tip(_ line: ReachGraph.Line, _ reach: ReportModel.Reach, _ tone: String, x: Double) {
    let y = line.to.y
    let access = reach.access == .readOnly ? " readOnly" : ""
    let shape =
      switch (reach.outcome, reach.leaks > 0) {
      case (.refused, _):
        "M\(number(x - 4)) \(number(y - 4))L\(number(x + 4)) \(number(y + 4))M\(number(x - 4)) \(number(y + 4))"
          + "L\(number(x + 4)) \(number(y - 4))"
      case (_, true):
        "M\(number(x - 5)) \(number(y))L\(number(x)) \(number(y - 5))L\(number(x + 5)) \(number(y))L\(number(x)) "
          + "\(number(y + 5))Z"
      default: "M\(number(x - 4)) \(number(y))a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z"
      }
    html.empty(
      "path",
      ["class": "end \(tone)\(access)", "data-app": "a\(reach.app)", "data-place": "p\(reach.place)", "d": shape])
  }

  private mutating func node(_ box: ReachGraph.Box, app: ReportModel.App) {
    let counts = [
      app.starts > 0 ? counted(app.starts, "start", "starts") : nil,
      app.refused > 0 ? counted(app.refused, "refusal", "refusals") : nil,
      app.leaks > 0 ? counted(app.leaks, "leak", "leaks") : nil,
    ].compactMap(\.self).joined(separator: ", ")
    node(
      box, key: "a\(box.index)", target: "#app-\(box.index)", shape: "box",
      title: app.name ?? app.id, line: counts.isEmpty ? app.id : counts,
      label: "\(app.name ?? app.id), \(app.id)\(counts.isEmpty ? "" : ": \(counts)")", columns: (28, 36))
  }

  private mutating func node(_ box: ReachGraph.Box, place: ReportModel.Place) {
    let (folder, name) = split(place.path)
    let holds = place.isFolded ? counted(place.documents, "document", "documents") : nil
    node(
      box, key: "p\(box.index)", target: "#place-\(box.index)", shape: place.isFolded ? "box folder" : "box",
      title: place.isFolded ? name + "/ …" : name, line: [holds, folder].compactMap(\.self).joined(separator: " · "),
      label: [HTMLText.cut(place.path, to: 160), holds].compactMap(\.self).joined(separator: ", ")
        + HTMLText.cut(reachedBy(box.index), to: 160), columns: (44, 56))
  }

  /// The text of the lines to a place, for readers who do not see them.
  private func reachedBy(_ place: Int) -> String {
    [(ReportModel.Reach.Outcome.used, "used by"), (.granted, "not used by"), (.refused, "refused to")]
      .compactMap { outcome, words in
        let apps = model.reaches.filter { $0.place == place && $0.outcome == outcome }.map { reach in
          let app = model.apps[reach.app]
          return (app.name ?? app.id) + (reach.leaks > 0 ? " (\(counted(reach.leaks, "leak", "leaks")))" : "")
        }
        return apps.isEmpty ? nil : "; \(words) \(apps.joined(separator: ", "))"
      }.joined()
  }

  private mutating func node(
    _ box: ReachGraph.Box, key: String, target: String, shape: String, title: String, line: String, label: String,
    columns: (title: Int, line: Int)
  ) {
    // Its title is its name and its tooltip; an additional aria-label would be read as well.
    html.open("a", ["href": target, "data-node": key])
    html.element("title", HTMLText.cut(label, to: 400))
    html.empty(
      "rect",
      [
        "class": shape, "x": number(box.x), "y": number(box.y), "width": number(box.width),
        "height": number(box.height), "rx": "7",
      ])
    html.open("text", ["class": "t", "x": number(box.x + 13), "y": number(box.middle - 3)])
    html.label(title, columns: columns.title)
    html.close("text")
    html.open("text", ["class": "s", "x": number(box.x + 13), "y": number(box.middle + 13)])
    html.label(line, columns: columns.line, keeping: .end)
    html.close("text")
    html.close("a")
  }

  private mutating func legend() {
    html.open("ul", ["class": "legend", "aria-label": "Legend of the graph"])
    for (edge, tip, words) in [
      ("used", "M24 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "used, could read and write"),
      ("used readOnly", "M24 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "used, could read"),
      ("granted", "M24 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "had the right, did not use it"),
      ("refused", "M24 3L32 11M24 11L32 3", "was refused"),
      ("used leaky", "M23 7L28 2L33 7L28 12Z", "used, and leaked"),
    ] {
      html.element("li") {
        $0.open("svg", ["viewBox": "0 0 34 14", "aria-hidden": "true", "focusable": "false"])
        $0.empty("path", ["class": "edge \(edge)", "stroke-width": "2", "d": "M1 7L23 7"])
        $0.empty("path", ["class": "end \(edge)", "d": tip])
        $0.close("svg")
        $0.say(words)
      }
    }
    html.element("li", "thicker lines: more starts, each step ten times as many")
    html.close("ul")
  }

  // MARK: - The same as tables

  private mutating func reachTable() {
    table(
      "reaches", "What apps reached", filter: "Filter by app, document or result",
      [
        .init("App", .app), .init("Document", .document), .init("Result", .word), .init("Could", .word),
        .init("How", .word), .init("Starts", .number), .init("Refused", .number), .init("Leaks", .number),
        .init("Last", .time),
      ])
    var named: Set<Int> = []
    for reach in model.reaches {
      let isFirst = named.insert(reach.place).inserted
      html.open("tr", isFirst ? ["id": "place-\(reach.place)"] : [:])
      appCell(model.apps[reach.app].name, model.apps[reach.app].id)
      let place = model.places[reach.place]
      html.element("td") { [self] in
        document(place.path, isFolder: place.isFolded, &$0)
        if place.isFolded {
          $0.element("span", ["class": "where small"], counted(reach.documents, "document", "documents"))
        }
      }
      html.element("td") { $0.element("span", ["class": "mark \(reach.outcome.rawValue)"], reach.outcome.words) }
      html.element("td", reach.outcome == .refused ? "–" : reach.access?.brief ?? "not in the log")
      html.element("td") { $0.quote(reach.how.isEmpty ? "–" : reach.how.joined(separator: ", ")) }
      count(reach.starts)
      count(reach.refused)
      count(reach.leaks)
      html.element("td") { [moments] in moments.cell(reach.last, &$0) }
      html.close("tr")
    }
    endTable()
  }

  private mutating func appTable() {
    table(
      "apps", "Apps",
      [
        .init("App", .app), .init("Policy", .words), .init("Launches", .number), .init("Starts", .number),
        .init("Refused", .number), .init("Leaks", .number),
      ])
    for (index, app) in model.apps.enumerated() {
      html.open("tr", ["id": "app-\(index)"])
      appCell(app.name, app.id)
      html.element("td") { $0.quote(app.policies.isEmpty ? "–" : app.policies.joined(separator: ", ")) }
      for number in [app.launches, app.starts, app.refused, app.leaks] { count(number) }
      html.close("tr")
    }
    endTable()
  }
}

extension ReportModel.Reach.Outcome {
  var words: String {
    switch self {
    case .used: "● used"
    case .granted: "○ not used"
    case .refused: "✕ refused"
    }
  }
}
