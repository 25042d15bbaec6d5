internal import Pages
internal import Scenario

/// The lessons as pages to read and to print: the prose and the tasks, and at the end of each page hints and solutions.
package struct LessonPages {
  package let lessons: [Lesson]

  package init(lessons: [Lesson]) { self.lessons = lessons }

  /// Each page's file name and text.
  package var all: [(String, String)] {
    [("index.html", index)]
      + lessons.enumerated().map { ("\($0.element.name).html", page($0.element, number: $0.offset + 1)) }
  }

  private var index: String {
    var html = HTMLText()
    html.begin(title: "Lessons in scoped access", style: Self.style)
    html.open("header")
    html.element("p", ["class": "brand"], "Ambit")
    html.element("h1", "Lessons in scoped access")
    html.close("header")
    html.open("main", ["id": "main"])
    html.element("ol") { list in
      for lesson in lessons {
        list.element("li") {
          $0.element("a", ["href": "\(lesson.name).html"], lesson.title)
          $0.element("span", ["class": "where"], "\(lesson.about) About \(lesson.minutes) minutes.")
        }
      }
    }
    html.close("main")
    html.end()
    return html.text
  }

  private func page(_ lesson: Lesson, number: Int) -> String {
    var html = HTMLText()
    html.begin(title: lesson.title, style: Self.style)
    html.open("header")
    html.element("p", ["class": "brand"]) { $0.element("a", ["href": "index.html"], "Lessons in scoped access") }
    html.element("h1", "\(number). \(lesson.title)")
    html.element("p", ["class": "quiet"], "\(lesson.about) About \(lesson.minutes) minutes.")
    html.element("pre") { $0.element("code", "ambit lesson open \(number)") }
    html.close("header")
    html.open("main", ["id": "main"])
    for (index, step) in lesson.steps.enumerated() {
      html.element("section") {
        $0.element("h2", "Step \(index + 1)")
        Self.paragraphs(step.say, &$0)
        if let task = step.task { $0.element("p", ["class": "task"], Self.plain(task)) }
      }
    }
    html.element("section") {
      $0.element("h2", "At the end")
      Self.paragraphs(lesson.closing, &$0)
    }
    html.element("section", ["class": "answers"]) { answers in
      answers.element("h2", "Hints and solutions")
      for (index, step) in lesson.steps.enumerated() where step.task != nil {
        answers.element("h3", "Step \(index + 1)")
        Self.paragraphs(step.hint, &answers)
        for line in step.solution {
          answers.element("pre") { $0.element("code", Self.plain(line.expanded { "${\($0)}" })) }
        }
        if !step.praise.isEmpty { Self.paragraphs(step.praise, &answers) }
      }
    }
    html.close("main")
    html.end()
    return html.text
  }

  private static func paragraphs(_ text: String, _ html: inout HTMLText) {
    for paragraph in plain(text).split(separator: "\n\n") { html.element("p", String(paragraph)) }
  }

  /// Variables as a reader on paper understands them.
  private static func plain(_ text: String) -> String {
    text.replacing("${home}", with: "/home/you").replacing("${container}", with: "the container")
  }

  private static let style =
    PageStyle.sheet + """

      .task{font-weight:620;border-inline-start:4px solid var(--link);padding-inline-start:.9rem}
      pre{margin:.5rem 0;padding:.6rem .9rem;background:var(--tint);border-radius:6px;overflow-x:auto;font-size:.9rem}
      main li{margin:.6rem 0}
      @media print{.answers{break-before:page}section{break-inside:avoid}}
      """
}
