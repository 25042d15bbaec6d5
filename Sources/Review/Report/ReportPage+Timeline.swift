internal import Foundation
internal import Pages

// Scopes over time: a figure for each launch that tells something, and a table of its contents.
extension ReportPage {
  mutating func timelines() {
    html.open("section", ["aria-labelledby": "timeline"])
    html.element("h2", ["id": "timeline"], "Scopes over time")
    if model.launches.isEmpty {
      html.element("p", "No launch started a scope, and none was refused anything.")
    } else {
      var words =
        "One figure a launch: a bar for each scope that was open, and below it the slots in use of the process that used most, "
        + "with the limit."
      if model.launchesLeftOut > 0 {
        words +=
          " \(counted(model.launchesLeftOut, "launch that tells", "launches that tell")) less "
          + (model.launchesLeftOut == 1 ? "has" : "have") + " no figure."
      }
      html.element("p", words)
      timelineLegend()
      let period = (model.source.since ?? model.source.first ?? .distantPast)
      let end = max(period, model.source.until ?? model.source.last ?? .distantFuture)
      for (index, launch) in model.launches.enumerated() { timeline(launch, index, period...end) }
    }
    html.close("section")
  }

  private mutating func timeline(_ launch: ReportModel.Launch, _ index: Int, _ period: ClosedRange<Date>) {
    let figure = ScopeFigure(launch, period: period)
    html.element("h3") {
      $0.quote(launch.name ?? launch.app)
      $0.say(", launch ")
      $0.element("span", ["class": "path"]) { $0.quote(launch.id) }
    }
    html.element("p", ["class": "small quiet"]) { [moments] in
      moments.write(launch.since, &$0)
      if let until = launch.until {
        $0.say(launch.isEndKnown ? " to " : " to, at the latest, ")
        moments.write(until, &$0)
      }
      $0.say(" UTC")
      if let policy = launch.policy {
        $0.say(", policy ")
        $0.quote(policy)
      }
      $0.say(", ")
      $0.quote(launch.ending)
      if let path = launch.path {
        $0.say(". It lay at ")
        $0.element("span", ["class": "path"]) { $0.quote(path) }
      }
      if let digest = launch.digest {
        $0.say(", SHA-256 ")
        $0.element("span", ["class": "path"]) { $0.quote(digest) }
      }
    }
    html.open("figure", ["role": "none"])
    html.open(
      "div", ["class": "scroll", "role": "group", "aria-label": "Timeline \(index + 1)", "tabindex": "0"])
    html.open(
      "svg",
      [
        "viewBox": "0 0 \(number(ScopeFigure.width)) \(number(figure.height))", "role": "img",
        "aria-labelledby": "timeline-\(index)-title", "aria-describedby": "timeline-\(index)-words",
      ])
    html.element(
      "title", ["id": "timeline-\(index)-title"],
      "Scopes of \(HTMLText.cut(launch.name ?? launch.app, to: 200)), launch \(HTMLText.cut(launch.id, to: 100))")
    html.element("desc", ["id": "timeline-\(index)-words"], words(launch))
    ticks(figure)
    lanes(launch, figure)
    chart(launch, figure)
    html.close("svg")
    html.close("div")
    html.close("figure")
    if !launch.lanes.isEmpty { laneTable(launch, index) }
    if !launch.refusals.isEmpty { markList(launch, index) }
  }

  private func words(_ launch: ReportModel.Launch) -> String {
    let documents = launch.lanes.reduce(0) { $0 + $1.documents }
    var words = "\(counted(documents, "document", "documents")) in \(counted(launch.lanes.count, "lane", "lanes")). "
    words += "At most \(counted(launch.mostInUse, "slot was", "slots were")) in use"
    words += launch.limit.map { " of \(grouped($0)). " } ?? ". "
    let refusals = launch.refusals.count + launch.refusalsLeftOut
    words += "\(counted(refusals, "refusal", "refusals")), \(counted(launch.leaks, "leak", "leaks")). "
    switch (launch.lanes.isEmpty, launch.refusals.isEmpty) {
    case (true, true): return words
    case (false, true): return words + "The table below has each lane as a row."
    case (true, false): return words + "The table below has each refusal as a row."
    case (false, false): return words + "The tables below have each lane and each refusal as a row."
    }
  }

  // MARK: - Its parts

  private mutating func ticks(_ figure: ScopeFigure) {
    for tick in figure.ticks {
      html.empty(
        "path",
        ["class": "grid", "d": "M\(number(tick.x)) \(number(figure.top - 6))V\(number(figure.chartBottom))"])
      let isLast = tick.x > ScopeFigure.right - 24
      html.element(
        "text", ["class": isLast ? "n e" : "n m", "x": number(tick.x), "y": number(figure.chartBottom + 18)],
        tick.words)
    }
  }

  private mutating func lanes(_ launch: ReportModel.Launch, _ figure: ScopeFigure) {
    html.element("text", ["class": "s", "x": "4", "y": "14"], "Open documents")
    for (row, lane) in launch.lanes.enumerated() {
      let y = figure.top + Double(row) * ScopeFigure.laneHeight
      html.open("text", ["class": "t", "x": "4", "y": number(y + 14)])
      html.label(lane.path.map { split($0).name } ?? counted(lane.documents, "other", "others"), columns: 27)
      html.close("text")
      for bar in figure.bars[row] {
        html.empty(
          "rect",
          [
            "class": bar.isLeak ? "bar leak" : "bar", "x": number(bar.x), "y": number(y + 4),
            "width": number(bar.certain), "height": "12", "rx": "2",
          ])
        if bar.certain < bar.width {
          html.empty(
            "rect",
            [
              "class": "bar unsure", "x": number(bar.x + bar.certain), "y": number(y + 4.5),
              "width": number(bar.width - bar.certain), "height": "11",
            ])
        }
        if bar.isLeak { leakMark(bar.x + bar.width, y + 10) }
        if bar.isOpen {
          let end = bar.x + bar.width
          html.empty(
            "path",
            ["class": "bar", "d": "M\(number(end)) \(number(y + 2))l8 8l-8 8Z"])
        }
      }
    }
  }

  private mutating func leakMark(_ x: Double, _ y: Double) {
    html.empty("path", ["class": "leakmark", "d": "M\(number(x - 6)) \(number(y))l6 -6l6 6l-6 6Z"])
  }

  private mutating func chart(_ launch: ReportModel.Launch, _ figure: ScopeFigure) {
    let (left, right) = (number(ScopeFigure.left), number(ScopeFigure.right))
    html.element(
      "text", ["class": "s", "x": "4", "y": number(figure.chartTop + 16)], "Slots in use")
    html.element(
      "text", ["class": "s", "x": "4", "y": number(figure.chartTop + 32)],
      "at most \(grouped(launch.mostInUse))" + (launch.limit.map { " of \(grouped($0))" } ?? ""))
    html.empty("path", ["class": "axis", "d": "M\(left) \(number(figure.chartBottom))H\(right)"])
    let corners = figure.steps.enumerated().map { "\($0 == 0 ? "M" : "L")\(number($1.x)) \(number($1.y))" }.joined()
    html.empty("path", ["class": "under", "d": "\(corners)V\(number(figure.chartBottom))H\(left)Z"])
    html.empty("path", ["class": "inuse", "d": corners])
    if let limit = launch.limit, let y = figure.limitLine {
      html.empty("path", ["class": "limit", "d": "M\(left) \(number(y))H\(right)"])
      html.element(
        "text", ["class": "limitword e", "x": number(ScopeFigure.left - 8), "y": number(y + 4)],
        figure.isLimitBeyond ? "limit \(grouped(limit)) ↑" : "limit \(grouped(limit))")
    }
    let y = figure.chartTop - 12
    if !figure.marks.isEmpty {
      html.element("text", ["class": "s e", "x": number(ScopeFigure.left - 8), "y": number(y + 4)], "refused")
    }
    for x in figure.marks {
      html.empty(
        "path",
        [
          "class": "cross",
          "d": "M\(number(x - 4)) \(number(y - 4))l8 8M\(number(x - 4)) \(number(y + 4))l8 -8",
        ])
    }
  }

  private mutating func timelineLegend() {
    html.open("ul", ["class": "legend", "aria-label": "Legend of the timelines"])
    for (kind, shape, words) in [
      ("bar", "M2 2H32V12H2Z", "scope open"), ("bar unsure", "M2 2H32V12H2Z", "may have been open"),
      ("bar leak", "M2 2H27V12H2Z", "never stopped: a leak"),
      ("inuse", "M1 12H12V6H22V2H33", "slots in use"), ("limit", "M1 7H33", "limit"),
      ("cross", "M13 3l8 8M13 11l8 -8", "refused"),
    ] {
      html.element("li") {
        $0.open("svg", ["viewBox": "0 0 34 14", "aria-hidden": "true", "focusable": "false"])
        $0.empty("path", ["class": kind, "d": shape])
        if kind == "bar leak" { $0.empty("path", ["class": "leakmark", "d": "M21 7l6 -6l6 6l-6 6Z"]) }
        $0.close("svg")
        $0.say(words)
      }
    }
    html.close("ul")
  }

  // MARK: - The same as tables

  private mutating func laneTable(_ launch: ReportModel.Launch, _ index: Int) {
    table(
      "lanes-\(index)", "Scopes of launch \(index + 1)",
      [
        .init("Document", .document), .init("Could", .word), .init("How", .word), .init("Starts", .number),
        .init("Open for", .number), .init("Leaks", .number), .init("The last one", .words), .init("Started at", .words),
      ])
    for lane in launch.lanes {
      html.open("tr")
      html.element("th", ["scope": "row"]) { [self] in
        if let path = lane.path {
          document(path, &$0)
        } else {
          $0.say(counted(lane.documents, "other document", "other documents"))
        }
      }
      html.element("td", lane.access?.brief ?? "–")
      html.element("td") { $0.quote(lane.how.isEmpty ? "–" : lane.how.joined(separator: ", ")) }
      count(lane.starts)
      html.element("td", ["class": "n"], ScopeFigure.words(lane.seconds))
      count(lane.leaks)
      html.element("td", lane.ending.isEmpty ? "–" : lane.ending)
      html.element("td") {
        if let caller = lane.caller { $0.element("code") { $0.quote(caller) } } else { $0.say("–") }
      }
      html.close("tr")
    }
    endTable()
  }

  private mutating func markList(_ launch: ReportModel.Launch, _ index: Int) {
    table(
      "marks-\(index)", "Refusals of launch \(index + 1)",
      [
        .init("Time", .time), .init("What", .document), .init("Rule", .word), .init("Entry", .number),
      ])
    for mark in launch.refusals {
      html.open("tr")
      html.element("th", ["scope": "row"]) { [moments] in moments.cell(mark.time, &$0) }
      html.element("td") { $0.quote(mark.what) }
      html.element("td") { $0.element("code") { $0.quote(mark.rule ?? "–") } }
      html.element("td", ["class": "n"], grouped(mark.sequence))
      html.close("tr")
    }
    endTable()
    if launch.refusalsLeftOut > 0 {
      html.element(
        "p", ["class": "small quiet"],
        "\(counted(launch.refusalsLeftOut, "later refusal is", "later refusals are")) not listed.")
    }
  }
}
