internal import AmbitKit
internal import ArgumentParser

struct Path: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the path at which a document appears, or what to call it.",
    discussion: """
      There is something at the path only between `start` and `stop`. With --name, the document's name, for people to read. With \
      --host, where it lies outside of the sandbox: for people as well, and only where the app's policy has host_paths = true. \
      Exit status 1 when that is not known.
      """)

  @OptionGroup var document: ScopedURLArgument
  @Flag(help: "Print the name to show for it instead.") var name = false
  @Flag(help: "Print where it lies on the host instead.") var host = false

  func validate() throws {
    if name && host { throw ValidationError("--name and --host are two questions; ask one at a time") }
  }

  func run() throws {
    try Console.explaining {
      if name { return try Console.print(Console.printable(SecurityScope.displayName(of: document.url))) }
      guard host else { return try Console.print(SecurityScope.path(of: document.url)) }
      guard let path = try SecurityScope.hostPath(of: document.url) else {
        Console.complain("it is not known where on the host this document lies")
        throw ExitCode(1)
      }
      // A line is a path.
      try Console.print(Console.printable(path))
    }
  }
}
