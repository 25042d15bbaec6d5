internal import AmbitKit
internal import ArgumentParser

struct Path: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the path at which a document appears.",
    discussion: "There is something at the path only between `start` and `stop`.")

  @OptionGroup var document: ScopedURLArgument

  func run() throws {
    try Console.explaining { try Console.print(SecurityScope.path(of: document.url)) }
  }
}
