internal import AmbitKit
internal import ArgumentParser
internal import Foundation
internal import Kernel

struct Coordinate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a command while a file is coordinated: other apps and their presenters let go of it first.",
    discussion: """
      `{}` in the command stands for the file's path; without one the path is appended. A document has to be started.

        ambitctl coordinate read "$url" -- wc -l
        ambitctl coordinate write notes.txt -- sh -c 'echo more >> {}'

      The access is over when the command has ended, also if this program is killed before.

      Exit status: the command's own; 125 when the access is refused, 126 and 127 as with `with`.
      """)

  enum Use: String, ExpressibleByArgument, CaseIterable { case read, write, move, delete }

  @Argument(help: "The use of the file: read, write, move or delete.") var use: Use
  @Argument(help: "A scoped URL or a path.", transform: ScopedURLArgument.parseFile) var url: URL
  @Argument(parsing: .postTerminator, help: "The command, after `--`.") var command: [String]

  func validate() throws {
    if command.isEmpty { throw ValidationError("a command is missing; write it after “--”") }
  }

  func run() throws {
    var status: Int32 = 125
    try Console.explaining(status: 125) {
      let coordinator = NSFileCoordinator()
      coordinator.sharesAccesses()
      var error: NSError?
      // From here on no signal ends this process before the command. While it waits, one does.
      func accessor(_ place: URL) {
        guard let child = try? ForegroundProcess.holdingSignals() else { return }
        status = child.runSaying(With.arguments(command, path: place.path))
      }
      switch use {
      case .read: unsafe coordinator.coordinate(readingItemAt: url, error: &error, byAccessor: accessor)
      case .write: unsafe coordinator.coordinate(writingItemAt: url, error: &error, byAccessor: accessor)
      case .move:
        unsafe coordinator.coordinate(writingItemAt: url, options: .forMoving, error: &error, byAccessor: accessor)
      case .delete:
        unsafe coordinator.coordinate(writingItemAt: url, options: .forDeleting, error: &error, byAccessor: accessor)
      }
      if let error { throw error }
    }
    throw ExitCode(status)
  }
}
