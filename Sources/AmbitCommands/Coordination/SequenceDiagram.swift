internal import Foundation
internal import Pages
internal import Paths
internal import Terminal
internal import Wire

/// A sequence as an SVG file that loads nothing: a lifeline for each process, an arrow for each question and answer, and a bar for
/// each access, from its beginning to its end. Light or dark, as the viewer is.
struct SequenceDiagram {
  private let sequence: CoordinationSequence
  private let steps: ArraySlice<CoordinationSequence.Step>
  private var svg = HTMLText()

  /// More would be no picture.
  static let mostSteps = 500

  private static let margin = 130
  private static let column = 230
  private static let row = 34
  private static let top = 96

  init(_ sequence: CoordinationSequence) {
    self.sequence = sequence
    steps = sequence.steps.suffix(Self.mostSteps)
  }

  /// Steps that are left out at the beginning.
  var leftOut: Int { sequence.steps.count - steps.count }

  private var width: Int { Self.margin + Self.column * max(1, sequence.lifelines.count) + 40 }
  private var height: Int { Self.top + Self.row * (steps.count + 1) }
  private func x(_ lifeline: Int) -> Int { Self.margin + Self.column * lifeline + 60 }
  private func y(_ step: Int) -> Int { Self.top + Self.row * (step - steps.startIndex) + Self.row / 2 }

  func render() -> String {
    var diagram = self
    diagram.draw()
    return diagram.svg.text
  }

  private mutating func draw() {
    svg.open(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(width) \(height)", "width": "\(width)",
        "height": "\(height)", "role": "img", "aria-labelledby": "title words",
      ])
    svg.element("title", ["id": "title"], "Coordinated accesses, in the order of the log")
    svg.element("desc", ["id": "words"], description)
    svg.element("style") { $0.raw(Palette.style + "\n" + Self.rules) }
    svg.empty("rect", ["class": "ground", "width": "\(width)", "height": "\(height)"])
    for lifeline in sequence.lifelines.indices { head(lifeline) }
    for access in sequence.accesses.indices { bar(access) }
    for index in steps.indices { step(steps[index], y(index)) }
    svg.close("svg")
  }

  private var description: String {
    "\(sequence.accesses.count) accesses of \(sequence.lifelines.count) processes. Time runs downwards, and not to scale."
  }

  private mutating func head(_ lifeline: Int) {
    let x = x(lifeline)
    svg.empty("path", ["class": "life", "d": "M\(x) \(Self.top - 16)V\(height - 8)"])
    svg.empty(
      "rect",
      ["class": "head", "x": "\(x - 60)", "y": "24", "width": "\(Self.column - 16)", "height": "52", "rx": "8"])
    let line = sequence.lifelines[lifeline]
    text(x - 48, 46, "name", line.app, columns: 26, keeping: .end)
    text(x - 48, 66, "quiet", line.process == 0 ? "" : "process \(line.process)", columns: 26)
  }

  /// Hollow while it waits, full while it is under way.
  private mutating func bar(_ access: Int) {
    let own = steps.indices.filter { steps[$0].access == access }
    guard let first = own.first, let last = own.last else { return }
    let begin = own.first { if case .begins = steps[$0].act { true } else { false } }
    let isOver = own.contains { if case .ends = steps[$0].act { true } else { false } }
    let refusal = own.first { if case .refused = steps[$0].act { true } else { false } }
    let x = x(steps[first].from == steps[last].from || begin == nil ? steps[first].from : steps[begin ?? first].from)
    let decided = begin ?? refusal ?? last
    if decided > first {
      svg.empty(
        "rect",
        ["class": "wait", "x": "\(x - 4)", "y": "\(y(first))", "width": "8", "height": "\(y(decided) - y(first))"])
    }
    guard let begin else { return }
    let end = isOver ? y(last) : height - 8
    let differs = sequence.verdicts[access] != .same
    svg.empty(
      "rect",
      [
        "class": differs ? "bar other" : "bar", "x": "\(x - 6)", "y": "\(y(begin))", "width": "12",
        "height": "\(max(6, end - y(begin)))", "rx": "3",
      ])
  }

  private mutating func step(_ step: CoordinationSequence.Step, _ y: Int) {
    text(12, y + 4, "quiet", Self.time(step.time), columns: 14)
    let words = sequence.text(step, short: true)
    guard let to = step.to else {
      var tone = "plain"
      var mark = ""
      if case .refused = step.act { (tone, mark) = ("bad", "✕ ") }
      if case .begins = step.act { mark = verdictMark(step.access) }
      let number = if case .asks = step.act { "#\(sequence.accesses[step.access].number) " } else { "" }
      return text(x(step.from) + 14, y + 4, tone, "\(number)\(mark)\(words)", columns: 80)
    }
    arrow(step, from: x(step.from), to: x(to), y)
    let left = min(x(step.from), x(to))
    text(left + 16, y - 5, tone(step), words, columns: max(28, abs(x(step.from) - x(to)) / 8))
  }

  private func verdictMark(_ access: Int) -> String {
    switch sequence.verdicts[access] {
    case .same: ""
    case .different: "≠ "
    case .unjudged: "? "
    }
  }

  private func tone(_ step: CoordinationSequence.Step) -> String {
    if case .answer(let outcome, _) = step.act, outcome != .answered { return "bad" }
    return "plain"
  }

  private mutating func arrow(_ step: CoordinationSequence.Step, from: Int, to: Int, _ y: Int) {
    let isAnswer = if case .answer = step.act { true } else { false }
    let kind = "\(isAnswer ? "answer" : "question") \(tone(step))"
    guard from != to else {
      // A process asks itself.
      svg.empty("path", ["class": kind, "d": "M\(from + 6) \(y)h34v10h-28"])
      return svg.empty("path", ["class": "tip \(tone(step))", "d": "M\(from + 8) \(y + 10)l8 -4v8z"])
    }
    let direction = to > from ? 1 : -1
    let end = to - 7 * direction
    svg.empty("path", ["class": kind, "d": "M\(from + 7 * direction) \(y)H\(end)"])
    svg.empty("path", ["class": "tip \(tone(step))", "d": "M\(end) \(y)l\(-8 * direction) -4v8z"])
  }

  private mutating func text(
    _ x: Int, _ y: Int, _ kind: String, _ words: String, columns: Int, keeping side: TruncationSide = .start
  ) {
    svg.open("text", ["class": kind, "x": "\(x)", "y": "\(y)"])
    svg.label(words, columns: columns, keeping: side)
    svg.close("text")
  }

  private static func time(_ date: Date) -> String { SequenceTime.clock(date) }

  /// Text has the ground's colour around it, so that it can be read on a line.
  private static let rules = """
    svg{background:var(--ground)}
    .ground{fill:var(--ground)}
    text{font:13px system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;fill:var(--ink);\
    paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round}
    .head{fill:var(--sheet);stroke:var(--rule)}
    .name{font-weight:620;stroke:var(--sheet)}
    .quiet{fill:var(--quiet);font-variant-numeric:tabular-nums}
    .head~.quiet{font-size:12px}
    .life{stroke:var(--rule);stroke-dasharray:3 4;fill:none}
    .wait{fill:var(--ground);stroke:var(--used);stroke-dasharray:3 2}
    .bar{fill:var(--used);stroke:var(--used)}
    .bar.other{fill:var(--refused);stroke:var(--refused)}
    .question{stroke:var(--ink);stroke-width:1.5;fill:none}
    .answer{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:6 4;fill:none}
    .tip{fill:var(--ink)}
    .question.bad,.answer.bad{stroke:var(--refused)}
    .tip.bad,text.bad{fill:var(--refused)}
    .u{font-family:ui-monospace,"DejaVu Sans Mono",monospace;fill:var(--refused)}
    """
}

/// Times of steps, in the user's own time zone.
enum SequenceTime {
  static func clock(_ date: Date) -> String { text(date, "HH:mm:ss.SSS") }
  static func day(_ date: Date) -> String { text(date, "yyyy-MM-dd") }

  private static func text(_ date: Date, _ format: String) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = format
    return formatter.string(from: date)
  }
}
