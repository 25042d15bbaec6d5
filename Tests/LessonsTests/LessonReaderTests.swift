import Foundation
import Lessons
import Scenario
import Testing

@Suite struct LessonReaderTests {
  private func read(_ text: String) throws -> Lesson {
    let path = FileManager.default.temporaryDirectory.appending(path: "lesson-\(UUID().uuidString).toml").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try LessonReader.read(path: path)
  }

  @Test func `the lesson to begin with is a lesson`() throws {
    let lesson = try read(LessonTemplate.text)
    #expect(lesson.steps.count == 1 && lesson.steps[0].wrongs.count == 2)
    #expect(lesson.policy == "teach")
  }

  @Test func `every shipped lesson is one, with two wrong attempts and three to ten minutes`() throws {
    let folder = URL(fileURLWithPath: "\(#filePath)/../../../Lessons").standardizedFileURL.path
    for lesson in try LessonReader.all(in: folder) {
      #expect(lesson.steps.reduce(0) { $0 + $1.wrongs.count } >= 2, "\(lesson.name)")
      #expect((3...10).contains(lesson.minutes), "\(lesson.name)")
    }
  }

  static let slips: [(String, String, String)] = [
    ("hint = \"Said when the learner asks for a hint.\"\n", "", "a task needs a `hint`"),
    ("done = [{ kind = \"refuse\" }]\n", "", "a task needs `done`"),
    ("closing = ", "closng = ", "a lesson needs `closing`"),
    ("command = '^ls'\n", "command = '('\n", "`command` is not a regular expression"),
    ("command = '^ls'\n", "", "known by its `event` or by its `command`"),
    ("try = [\"ls /\"]", "tries = [\"ls /\"]", "a wrong attempt needs `try`"),
    ("praise = ", "prais = ", "has no key `prais`; did you mean `praise`?"),
  ]

  @Test(arguments: slips) func `a slip is named`(slip: (String, String, String)) throws {
    #expect(LessonTemplate.text.contains(slip.0))
    let error = try #require(throws: ScenarioError.self) {
      try read(LessonTemplate.text.replacing(slip.0, with: slip.1))
    }
    #expect(error.message.contains(slip.2), "\(error)")
  }

  @Test func `the printed pages have every task and no script`() throws {
    let lesson = try read(LessonTemplate.text)
    let pages = LessonPages(lessons: [lesson]).all
    #expect(pages.count == 2)
    #expect(pages[1].1.contains("What the learner shall do: cat /home/you/Letter.txt"))
    #expect(!pages[1].1.contains("<script"))
  }
}
