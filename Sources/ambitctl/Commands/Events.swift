internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct Events: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what happens to the app's documents, a line each, as it happens.",
    discussion: """
      A line has the kind of the event, its cause, and the path of the document: “scopeEnded user /documents/…”. The kinds: \
      scopeEnded (a started document was taken away), grantEnded (only picking it again gives it back), replaced (another \
      file is the document), lost (events were dropped, since nothing read them).

        ambitctl events | while read -r kind cause path; do … done
      """)

  @Option(help: "End after so many events.")
  var count: Int?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count \(count): at least 1") }
  }

  func run() throws {
    var left = count
    try Console.explaining {
      try SecurityScope.forEachEvent { event in
        let words = [event.kind.rawValue, event.cause ?? "-", event.path ?? "-"]
        try Console.print(Console.printable(words.joined(separator: " ")))
        left = left.map { $0 - 1 }
        return left != 0
      }
    }
  }
}
