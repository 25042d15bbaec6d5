internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct Versions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Earlier contents of a document, and conflicts: list, read, restore, resolve.",
    discussion: """
      The broker keeps them. An app sees those of the documents that it has now, from the time since it was given them.

        ambitctl versions list "$url"             a line each, newest first
        ambitctl versions keep --conflict "$url"  keeps what this app did not know
        ambitctl versions show "$url" 1           the content of the newest
        ambitctl versions restore "$url" 1        makes it the document's
        ambitctl versions resolve "$url" 1        the conflict is over
      """,
    subcommands: [List.self, Show.self, Keep.self, Restore.self, Resolve.self, Remove.self])

  struct Chosen: ParsableArguments {
    @Argument(help: "A scoped URL or a path.", transform: ScopedURLArgument.parseFile) var url: URL
    @Argument(help: "The version's number in the list, from 1, the newest.") var number: Int

    func version() throws -> NSFileVersion {
      let versions = try Versions.all(url)
      guard versions.indices.contains(number - 1) else {
        throw CocoaError(
          .fileNoSuchFile,
          userInfo: [NSLocalizedDescriptionKey: "There is no version \(number); there are \(versions.count)."])
      }
      return versions[number - 1]
    }
  }

  fileprivate static func all(_ url: URL) throws -> [NSFileVersion] {
    guard let versions = NSFileVersion.otherVersionsOfItem(at: url) else {
      throw SecurityScope.lastError ?? CocoaError(.fileNoSuchFile)
    }
    return versions
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A line for each version: number, when it was written, its reason, the app that replaced it.")
    @Argument(help: "A scoped URL or a path.", transform: ScopedURLArgument.parseFile) var url: URL
    @Flag(help: "Only conflicts that are not resolved.") var conflicts = false

    func run() throws {
      try Console.explaining {
        for (index, version) in try Versions.all(url).enumerated() where !conflicts || !version.isResolved {
          let date = version.modificationDate.map { $0.formatted(.iso8601) } ?? "-"
          let reason = version.isConflict ? version.isResolved ? "resolved" : "conflict" : "saved-over"
          let app = version.bundleIdentifierOfReplacingApp ?? "another-program"
          try Console.print(Console.printable("\(index + 1)\t\(date)\t\(reason)\t\(app)"))
        }
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a version's content to standard output; of a package, the paths of its files.")
    @OptionGroup var chosen: Chosen

    func run() throws {
      try Console.explaining {
        let place = try chosen.version().url
        if let names = try? FileManager.default.subpathsOfDirectory(atPath: place.path) {
          for name in names.sorted() { try Console.print(Console.printable(name)) }
        } else {
          try FileHandle.standardOutput.write(contentsOf: try Data(contentsOf: place))
        }
      }
    }
  }

  struct Keep: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keep the content that the document has now.")
    @Argument(help: "A scoped URL or a path.", transform: ScopedURLArgument.parseFile) var url: URL
    @Flag(help: "Another program has written it, and this app is about to write something else.") var conflict = false

    func run() throws {
      try Console.explaining {
        if conflict {
          try NSFileVersion.addConflictOfItem(at: url)
        } else {
          try NSFileVersion.addOfItem(at: url, withContentsOf: url)
        }
      }
    }
  }

  struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a version's content the document's. The present content is a version then.")
    @OptionGroup var chosen: Chosen

    func run() throws {
      try Console.explaining {
        let version = try chosen.version()
        var failure: NSError?
        var outcome: Result<URL, any Error> = .success(chosen.url)
        unsafe NSFileCoordinator().coordinate(writingItemAt: chosen.url, options: .forReplacing, error: &failure) {
          place in
          outcome = Result {
            try NSFileVersion.addOfItem(at: chosen.url, withContentsOf: chosen.url)
            return try version.replaceItem(at: place)
          }
        }
        if let failure { throw failure }
        _ = try outcome.get()
      }
    }
  }

  struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End a conflict: the document's present content is right.")
    @OptionGroup var chosen: Chosen

    func run() throws {
      try Console.explaining {
        let version = try chosen.version()
        version.isResolved = true
        if !version.isResolved { throw SecurityScope.lastError ?? CocoaError(.fileWriteUnknown) }
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget a version.")
    @OptionGroup var chosen: Chosen
    func run() throws { try Console.explaining { try chosen.version().remove() } }
  }
}
