internal import ArgumentParser
internal import Foundation
internal import Kernel
internal import Paths

/// The view of the broker for an app's shell scripts. Silent but for the answer: reasons go to standard error.
struct AmbitControl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ambitctl",
    abstract: "Pick, open and find again the user's documents, from inside a sandbox.",
    discussion: """
      Runs inside an app that `ambit run` has started. A picked document is a scoped URL: start it to make the \
      document appear at its path, stop it to give it back.

        url=$(ambitctl pick) || exit
        ambitctl with "$url" -- sed -n 1,10p

      Exit status: 0 done; 1 refused, or for `pick` cancelled; 2 the user could not be asked; 64 wrong usage.
      """,
    subcommands: [
      Pick.self, Export.self, Path.self, Start.self, Stop.self, With.self, Scopes.self, Kept.self, BookmarkCommand.self,
      References.self,
      Open.self,
      Coordinate.self, Query.self, Versions.self, Release.self, Pass.self, Redeem.self, Events.self, Opened.self,
      Discard.self,
    ])
}

/// A scoped URL as an argument.
struct ScopedURLArgument: ParsableArguments {
  @Argument(help: "A scoped URL, as `pick`, `bookmark resolve` or `references` prints it.", transform: parseURL)
  var url: URL

  /// A scoped URL, or a path from the working folder on.
  static func parseFile(_ text: String) throws -> URL {
    if text.hasPrefix("file:") { return try parseURL(text) }
    return URL(fileURLWithPath: text).standardizedFileURL
  }

  /// A path is taken too, so that the answer to it is the broker's rule and not a usage error: it carries no scope.
  static func parseURL(_ text: String) throws -> URL {
    if text.isAbsolutePath { return URL(fileURLWithPath: text) }
    guard let url = URL(string: text), url.isFileURL else {
      throw ValidationError("“\(text)” is not a file URL")
    }
    return url
  }
}

/// Standard output and error, one line at a time.
enum Console {
  static func print(_ line: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Standard error may be closed; then the line has no reader.
  static func complain(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("ambitctl: \(printable(inCommands(line)))\n".utf8))
  }

  /// Sentences name the calls of programs; scripts have a command for it.
  private static func inCommands(_ sentence: String) -> String {
    sentence.replacingOccurrences(of: "startAccessingSecurityScopedResource()", with: "“ambitctl start URL”")
      .replacingOccurrences(of: "SecurityScope.release(_:)", with: "“ambitctl release URL”")
  }

  /// Names of documents are other people's: one with a line break or a terminal's commands in it stays one line of text.
  static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map {
          $0.properties.generalCategory == .control || $0.properties.isBidiControl ? "\u{FFFD}" : $0
        }))
  }

  /// JSON with the same escaped, as JSON can: `\u202e`.
  static func printableJSON(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      guard scalar.value >= 0x7F, scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
      else {
        return String(scalar)
      }
      let number = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - number.count) + number
    }.joined()
  }

  /// Runs a verb; an error is printed, and becomes the exit status.
  static func explaining(status: Int32 = 1, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ExitCode {
      throw error
    } catch {
      complain(error.localizedDescription)
      throw ExitCode(status)
    }
  }
}

extension ForegroundProcess {
  /// Runs a command; where it cannot be started, that is said, and the exit status is the one that shells have for it.
  func runSaying(_ arguments: [String]) -> Int32 {
    do throws(KernelError) { return try run(arguments) } catch {
      Console.complain("\(arguments[0]): \(error.errno)")
      return Self.status(of: error)
    }
  }
}
