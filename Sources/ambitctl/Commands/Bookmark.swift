internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct BookmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bookmark",
    abstract: "Keep a document across launches.",
    subcommands: [Create.self, Resolve.self])

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a bookmark of a document, as base64.",
      discussion: "The document has to be started: `ambitctl start URL`.")

    @OptionGroup var document: ScopedURLArgument
    @Flag(help: "What the bookmark resolves to may only be read.") var readOnly = false

    func run() throws {
      try Console.explaining {
        let options: URL.BookmarkCreationOptions =
          readOnly ? [.withSecurityScope, .securityScopeAllowOnlyReadAccess] : .withSecurityScope
        try Console.print(document.url.bookmarkData(options: options).base64EncodedString())
      }
    }
  }

  struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the scoped URL of the document behind a bookmark.",
      discussion: "A bookmark that has become stale still resolves; it is said on standard error. Make a new one then.")

    @Argument(help: "A file with the bookmark in base64; standard input when left out.") var file: String?

    func run() throws {
      try Console.explaining {
        let input = try file.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .standardInput
        let text = try input.read(upToCount: 1 << 20) ?? Data()
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !data.isEmpty else {
          throw CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSLocalizedDescriptionKey: "\(file ?? "standard input") holds no bookmark in base64."])
        }
        var isStale = false
        let url = try URL(resolvingBookmarkData: data, options: .withSecurityScope, bookmarkDataIsStale: &isStale)
        if isStale { Console.complain("the bookmark is stale; start the document and make a new one") }
        try Console.print(url.absoluteString)
      }
    }
  }
}
