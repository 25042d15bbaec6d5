internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct BookmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bookmark",
    abstract: "Keep a document across launches.",
    subcommands: [Create.self, Resolve.self, Values.self])

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a bookmark of a document, as base64.",
      discussion: """
        The document has to be started: `ambitctl start URL`. The bookmark is for this app alone, unless --implicit or \
        --relative-to say otherwise.
        """)

    @OptionGroup var document: ScopedURLArgument
    @Flag(help: "What the bookmark resolves to may only be read.") var readOnly = false
    @Flag(help: "Any app may resolve it until the machine is started anew.") var implicit = false
    @Option(
      help: ArgumentHelp(
        "Any app may resolve it that has access to this document, whose scope has to be started.", valueName: "url"),
      transform: ScopedURLArgument.parseURL)
    var relativeTo: URL?
    @Option(
      name: .customLong("value"), help: ArgumentHelp("A value to remember, by Apple's key: fileSize.", valueName: "key")
    )
    var values: [String] = []

    func validate() throws {
      if implicit, readOnly || relativeTo != nil {
        throw ValidationError("--implicit excludes --read-only and --relative-to")
      }
    }

    func run() throws {
      try Console.explaining {
        var options: URL.BookmarkCreationOptions = implicit ? [] : .withSecurityScope
        if readOnly { options.insert(.securityScopeAllowOnlyReadAccess) }
        let data = try document.url.bookmarkData(
          options: options, includingResourceValuesForKeys: Set(values.map(Values.key)), relativeTo: relativeTo)
        try Console.print(data.base64EncodedString())
      }
    }
  }

  /// A bookmark in base64, from a file or standard input.
  struct Source: ParsableArguments {
    @Argument(help: "A file with the bookmark in base64; standard input when left out.") var file: String?

    func data() throws -> Data {
      let input = try file.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .standardInput
      let text = try input.read(upToCount: 1 << 20) ?? Data()
      guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !data.isEmpty else {
        throw CocoaError(
          .fileReadCorruptFile,
          userInfo: [NSLocalizedDescriptionKey: "\(file ?? "standard input") holds no bookmark in base64."])
      }
      return data
    }
  }

  struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the scoped URL of the document behind a bookmark.",
      discussion: """
        A bookmark that has become stale still resolves. Standard error says so, and also says when the document lies in \
        the trash or when another file stands at its old place. Make a new one then. No scope is started. The file may be a document reference, too (.ambitref).
        """)

    @OptionGroup var source: Source
    @Option(
      help: ArgumentHelp("The document that it was made relative to, as this app has it.", valueName: "url"),
      transform: ScopedURLArgument.parseURL)
    var relativeTo: URL?

    func validate() throws {
      if relativeTo != nil, let file = source.file, isReference(file) {
        throw ValidationError("a document reference is relative to nothing: leave out --relative-to")
      }
    }

    private func isReference(_ file: String) -> Bool {
      URL(fileURLWithPath: file).pathExtension == DocumentReference.fileExtension
    }

    func run() throws {
      try Console.explaining {
        if let file = source.file, isReference(file) {
          let resolved = try DocumentReference(fileURL: URL(fileURLWithPath: file)).resolution()
          if resolved.isStale { Console.complain("something that the reference remembers of the document has changed") }
          tellTaken(resolved)
          return try Console.print(resolved.url.absoluteString)
        }
        let resolved = try BookmarkResolution(
          resolving: source.data(), options: [.withSecurityScope, .withoutImplicitStartAccessing],
          relativeTo: relativeTo)
        if resolved.matchedBy == .path {
          Console.complain("the document's file is gone; this is another one, under its name in the same folder")
        }
        if resolved.isStale { Console.complain("the bookmark is stale; start the document and make a new one") }
        if resolved.location == .trash { Console.complain("the document lies in the trash") }
        tellTaken(resolved)
        try Console.print(resolved.url.absoluteString)
      }
    }

    private func tellTaken(_ resolved: BookmarkResolution) {
      guard resolved.isPlaceTaken else { return }
      Console.complain("the document was moved, and another file stands at its old place; the URL is the document's")
    }
  }

  struct Values: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print what a bookmark remembers of its document, which may be gone.")

    @OptionGroup var source: Source

    private static let keys: [(word: String, key: URLResourceKey)] = [
      ("name", .nameKey), ("path", .pathKey), ("isDirectory", .isDirectoryKey), ("isRegularFile", .isRegularFileKey),
      ("isWritable", .isWritableKey), ("fileSize", .fileSizeKey), ("creationDate", .creationDateKey),
      ("contentModificationDate", .contentModificationDateKey), ("typeIdentifier", .typeIdentifierKey),
      ("volumeName", .volumeNameKey),
    ]

    static func key(_ word: String) -> URLResourceKey {
      keys.first { $0.word == word }?.key ?? URLResourceKey(rawValue: word)
    }

    func run() throws {
      try Console.explaining {
        let data = try source.data()
        guard let values = URL.resourceValues(forKeys: Set(Self.keys.map(\.key)), fromBookmarkData: data) else {
          throw CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSLocalizedDescriptionKey: "These bytes are no bookmark that this app may resolve."])
        }
        let all = values.allValues
        for (word, key) in Self.keys {
          if let value = all[key] { try Console.print("\(word)\t\(Self.text(value))") }
        }
      }
    }

    private static func text(_ value: any Sendable) -> String {
      if let date = value as? Date { return date.formatted(.iso8601) }
      return "\(value)"
    }
  }
}
