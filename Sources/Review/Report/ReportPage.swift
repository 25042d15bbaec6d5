internal import Audit
internal import Foundation
internal import Pages

/// A report as one HTML page that needs nothing else: no file, no network, no script. The same model gives the same bytes.
///
/// The content of a log is hostile until shown otherwise. All of it goes through `HTMLText`; none of it becomes an address, a
/// class, or a style; and should any of it come through as markup all the same, the page's own policy lets neither script nor style
/// of it run.
package struct ReportPage {
  let model: ReportModel
  let moments: Moments
  var html = HTMLText()

  package init(_ model: ReportModel) {
    self.model = model
    moments = Moments(model)
  }

  package var text: String {
    var page = self
    page.write()
    return page.html.text
  }

  private mutating func write() {
    html.begin(
      title: "Ambit report: \(HTMLText.cut(model.source.log, to: 200))", style: ReportStyle.sheet,
      script: ReportScript.source)
    banner()
    html.open("main", ["id": "main"])
    reached()
    timelines()
    denials()
    leaks()
    policies()
    html.close("main")
    about()
    if !model.reaches.isEmpty { html.raw("<script>\(ReportScript.source)</script>\n") }
    html.end()
  }

  // MARK: - The top

  private mutating func banner() {
    html.open("header")
    html.element("p", ["class": "brand"], "Ambit access report")
    html.element("h1", "Who reached what")
    facts()
    numbers()
    html.open("nav", ["aria-label": "Sections"])
    html.open("ul")
    for (id, title) in Self.sections {
      html.element("li") { $0.element("a", ["href": "#\(id)"], title) }
    }
    html.close("ul")
    html.close("nav")
    html.close("header")
  }

  static let sections = [
    ("reach", "Apps and documents"), ("timeline", "Scopes over time"), ("denials", "Refusals"), ("leaks", "Leaks"),
    ("policies", "Policies"), ("about", "How to read this"),
  ]

  private mutating func facts() {
    let source = model.source
    html.open("dl", ["class": "facts"])
    fact("Log") { $0.element("span", ["class": "path"]) { $0.quote(source.log) } }
    if let first = source.first, let last = source.last {
      fact("Time") { [moments] in
        moments.write(first, &$0)
        $0.say(" to ")
        moments.write(last, &$0)
        $0.say(" UTC, \(ScopeFigure.words(last.timeIntervalSince(first)))")
      }
    }
    let isPart = source.entries != source.read
    fact("Entries") {
      $0.say(isPart ? "\(grouped(source.entries)) of \(grouped(source.read)) that were read" : grouped(source.entries))
      if !source.isWhole { $0.say("; the log’s beginning is not there, and what held then is inferred") }
    }
    if source.app != nil || source.since != nil || source.until != nil {
      fact("Asked for") { [moments] in
        if let app = source.app {
          $0.say("the app ")
          $0.element("span", ["class": "path"]) { $0.quote(app) }
        }
        if let since = source.since {
          $0.say(" since ")
          moments.write(since, &$0)
        }
        if let until = source.until {
          $0.say(" until ")
          moments.write(until, &$0)
        }
      }
    }
    fact("Integrity") {
      let (sign, word) =
        switch source.integrity.verdict {
        case .verified: ("✓", "Verified")
        case .damaged: ("✗", "Does not verify")
        case .unchecked: ("–", "Not checked")
        }
      $0.element("span", ["class": "badge \(source.integrity.verdict.rawValue)"]) {
        $0.element("span", ["aria-hidden": "true"], sign)
        $0.say(word)
      }
      $0.say(" ")
      $0.quote(source.integrity.detail)
    }
    html.close("dl")
  }

  private mutating func fact(_ name: String, _ body: (inout HTMLText) -> Void) {
    html.element("dt", name)
    html.element("dd", [:], body)
  }

  private mutating func numbers() {
    let totals = model.totals
    html.open("dl", ["class": "numbers"])
    for (count, one, many, mark) in [
      (totals.apps, "app", "apps", ""), (totals.launches, "launch", "launches", ""),
      (totals.documents, "document", "documents", ""), (totals.starts, "scope started", "scopes started", ""),
      (totals.refused, "refusal", "refusals", "bad"), (totals.failed, "failure", "failures", "bad"),
      (totals.leaks, "leak", "leaks", "leak"),
    ] where one != "failure" || count > 0 {
      html.element("div", ["class": count > 0 ? mark : ""]) {
        $0.element("dt", count == 1 ? one : many)
        $0.element("dd", grouped(count))
      }
    }
    html.close("dl")
  }

  // MARK: - The bottom

  private mutating func about() {
    html.open("footer", ["id": "about"])
    html.element("h2", "How to read this")
    for sentence in Self.notes(ReportLimits()) { html.element("p", sentence) }
    html.close("footer")
  }

  private static func notes(_ limits: ReportLimits) -> [String] {
    [
      "All times are UTC, to the precision that the log’s span asks for. Counts are of decisions: one entry can stand for several "
        + "where the log counts instead of repeating.",
      "The graph has at most \(limits.apps) apps, those with most starts and refusals, and at most \(limits.places) documents. Of "
        + "more documents, the folder that holds most is shown as one, with everything below it, until no more are left.",
      "A figure stands for each of at most \(limits.launches) launches: those with leaks first, then those with refusals, then "
        + "those with most starts. Each has at most \(limits.lanes) documents; bars that lie closest are drawn as one beyond "
        + "\(limits.bars) a document, and of more than \(limits.levels) steps in use the higher of two is kept.",
      "Of a launch whose broker died, and which no other one took over, the log does not say when it ended: it is shown until the "
        + "next broker began, or found that it was over, and what is not certain of its scopes as an outline.",
      "A leak is a scope that its app never stopped before the process ended, or a descriptor that outlived its scope.",
      "Everything on this page comes from the log alone. Characters that would not be seen, or would change the order of others, "
        + "are shown by their number, such as U+202E.",
    ]
  }
}

/// Moments as the page writes them: no more exact than the span of the report asks for.
struct Moments {
  private let digits: Int
  /// Everything happened on one day, which the head of the page says.
  private let isOneDay: Bool

  init(_ model: ReportModel) {
    let (first, last) = (model.source.first ?? .distantPast, model.source.last ?? .distantPast)
    digits = last.timeIntervalSince(first) < 600 ? 3 : 0
    isOneDay = Timestamp(first).text.prefix(10) == Timestamp(last).text.prefix(10)
  }

  /// RFC 3339 has six digits after the point.
  private func clock(_ time: Date) -> Substring {
    Timestamp(time).text.dropFirst(11).prefix(digits == 0 ? 8 : 9 + digits)
  }

  private func day(_ time: Date) -> Substring { Timestamp(time).text.prefix(10) }

  func write(_ time: Date, _ html: inout HTMLText) {
    html.open("time", ["class": "time", "datetime": Timestamp(time).text])
    html.say("\(day(time)) \(clock(time))")
    html.raw("</time>")
  }

  /// In a column, one below the other.
  func cell(_ time: Date, _ html: inout HTMLText) {
    html.open("time", ["class": "time", "datetime": Timestamp(time).text])
    if !isOneDay { html.element("span", ["class": "where"], "\(day(time)) ") }
    html.say(String(clock(time)))
    html.raw("</time>")
  }
}

/// With a comma between thousands.
func grouped(_ number: some BinaryInteger) -> String {
  let digits = Array(String(number))
  return digits.enumerated().reduce(into: "") { text, next in
    let left = digits.count - next.offset
    if next.offset > 0, left % 3 == 0, digits[next.offset - 1] != "-" { text += "," }
    text.append(next.element)
  }
}

/// `1 launch`, `2 launches`.
func counted(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
  "\(grouped(number)) \(number == 1 ? one : many)"
}
