internal import Lessons
internal import Terminal

/// A lesson's words on a terminal.
struct LessonText: Sendable {
  let style: Style
  let width: Int

  func opening(_ lesson: Lesson) -> String {
    let rule = String(repeating: "─", count: min(width, max(20, displayWidth(lesson.title))))
    return
      "\n\(style.bold(lesson.title))\n\(style.dim(rule))\n\(style.dim("About \(lesson.minutes) minutes. In the shell: hint, solution, task, next, reset; Ctrl-D leaves."))\n"
  }

  func ending(_ lesson: Lesson) -> String {
    "\(style.green("✓")) \(style.bold("Done: \(lesson.title)")). ambit lesson open takes the next one.\n"
  }

  func render(_ reply: LessonSession.Reply) -> String {
    guard !reply.parts.isEmpty else { return "" }
    return "\n"
      + reply.parts.map { part in
        switch part {
        case .paragraph(let text): paragraphs(text, mark: "  ", rest: "  ") { $0 }
        case .task(let text): paragraphs(text, mark: style.cyan("▸ "), rest: "  ", style.bold)
        case .praise(let text): paragraphs(text, mark: style.green("✓ "), rest: "  ", style.green)
        case .hint(let text): paragraphs(text, mark: style.yellow("? "), rest: "  ", style.yellow)
        case .solution(let lines): lines.map { "    \(style.bold($0))\n" }.joined()
        case .note(let text): paragraphs(text, mark: "  ", rest: "  ", style.dim)
        }
      }.joined(separator: "\n")
  }

  private func paragraphs(_ text: String, mark: String, rest: String, _ paint: (String) -> String) -> String {
    var isFirst = true
    return text.split(separator: "\n\n").map { paragraph in
      let words = paragraph.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return wrapped(words, to: width - 2).map { line in
        defer { isFirst = false }
        return (isFirst ? mark : rest) + paint(line) + "\n"
      }.joined()
    }.joined(separator: "\n")
  }
}
