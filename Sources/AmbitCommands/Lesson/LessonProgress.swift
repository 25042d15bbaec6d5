internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Lessons
internal import Wire

/// How far the learner is: a small file in the state folder.
struct LessonProgress {
  private var entries: JSONObject = [:]

  private static var path: String {
    AmbitFolders.located(environment: ProcessInfo.processInfo.environment).state + "/lessons.json"
  }

  /// A file that cannot be understood counts as none: it holds nothing but progress.
  static func read() throws -> LessonProgress {
    var progress = LessonProgress()
    if let bytes = try? Descriptor.content(ofFile: path, limit: 1 << 20),
      case .object(let object)? = try? JSONValue(parsing: bytes)
    {
      progress.entries = object
    }
    return progress
  }

  func isDone(_ lesson: Lesson) -> Bool { field(lesson, "done") == .bool(true) }

  func step(of lesson: Lesson) -> Int {
    guard case .int(let step)? = field(lesson, "step") else { return 0 }
    return min(max(0, Int(clamping: step)), lesson.steps.count)
  }

  private func field(_ lesson: Lesson, _ name: String) -> JSONValue? {
    guard case .object(let entry)? = entries[lesson.name] else { return nil }
    return entry[name]
  }

  static func note(_ lesson: Lesson, step: Int, isDone: Bool = false) throws {
    var progress = try read()
    let wasDone = progress.isDone(lesson)
    progress.entries[lesson.name] = ["step": JSONValue(step), "done": .bool(isDone || wasDone)]
    try progress.write()
  }

  /// - Parameter lesson: nil: every lesson.
  static func forget(_ lesson: Lesson?) throws {
    var progress = try read()
    if let lesson { progress.entries[lesson.name] = nil } else { progress.entries = [:] }
    try progress.write()
  }

  private func write() throws {
    let path = Self.path
    do {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data((entries.text + "\n").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw Failure("your progress cannot be kept in \(path): \(error.localizedDescription)", status: 2)
    }
  }
}
