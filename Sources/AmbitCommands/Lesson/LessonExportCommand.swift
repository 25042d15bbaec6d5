internal import ArgumentParser
internal import Foundation
internal import Launcher
internal import Lessons
internal import Terminal

/// `ambit lesson export DIR`: printable pages.
struct LessonExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write every lesson as a page to read or print.")

  @OptionGroup var places: LessonPlaces
  @Argument(help: ArgumentHelp("The folder for the pages.", valueName: "dir")) var folder: String

  func run() throws {
    let pages = LessonPages(lessons: try places.all())
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (name, text) in pages.all { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    } catch {
      throw Failure("\(folder): \(error.localizedDescription)", status: 2)
    }
    try Output.standard.write("\(pages.all.count) pages: open \(printable(folder))/index.html\n")
  }
}

/// `ambit lesson new FILE`: a lesson to begin with.
struct LessonNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Write a lesson to begin with, which can be taken and checked as it is.")

  @Argument(help: ArgumentHelp("The file, for example my-lesson.toml.", valueName: "file")) var file: String

  func run() throws {
    let path = file.hasSuffix(".toml") ? file : file + ".toml"
    guard !FileManager.default.fileExists(atPath: path) else {
      throw Failure("\(path) is there already; name another file", status: 2)
    }
    do { try Data(LessonTemplate.text.utf8).write(to: URL(fileURLWithPath: path)) } catch {
      throw Failure("\(path): \(error.localizedDescription)", status: 2)
    }
    try Output.standard.write(
      """
      \(printable(path)) is a lesson.

        ambit lesson open \(printable(path))    takes it
        ambit lesson check \(printable(path))   proves it

      """)
  }
}
