import AmbitKit
import ArgumentParser
import Foundation

/// The documents that others open with the app.
struct Opened: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the documents that are opened with the app, a line each, as it happens.",
    discussion: """
      A line has the way and the URL: “inPlace file:///documents/…” for an original, whose scope has to be started; “copy file:///…” for a \
      copy in Documents/Inbox, which can be read and discarded, and not written. Documents that were opened before come first.

        ambitctl opened | while read -r way url; do … done
        ambitctl opened --count 1        waits for one
      """)
  @Option(help: "End after so many documents.") var count: Int?
  @Option(help: "How to print: lines or json, an object a line.") var format = "lines"

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count \(count): at least 1") }
    guard format == "lines" || format == "json" else { throw ValidationError("--format \(format): lines or json") }
  }

  func run() throws {
    var left = count
    try Console.explaining {
      try UIApplication.forEachOpenedURL { context in
        let way = context.options.openInPlace ? "inPlace" : "copy"
        if format == "json" {
          var object: [String: Any] = [
            "url": context.url.absoluteString, "openInPlace": context.options.openInPlace,
            "started": context.options.isStarted,
          ]
          if let source = context.options.sourceApplication { object["sourceApplication"] = source }
          let data = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
          try Console.print(Console.printableJSON(String(decoding: data, as: UTF8.self)))
        } else {
          try Console.print("\(way) \(Console.printable(context.url.absoluteString))")
        }
        left = left.map { $0 - 1 }
        return left != 0
      }
    }
  }
}

/// Deletes a document of the Inbox.
struct Discard: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete a document in Documents/Inbox, which the app cannot write itself.")
  @Argument(help: "Its path or URL, as `opened` prints it.") var file: String

  func run() throws {
    try Console.explaining { try UIApplication.discard(inboxItemAt: try ScopedURLArgument.parseFile(file)) }
  }
}
