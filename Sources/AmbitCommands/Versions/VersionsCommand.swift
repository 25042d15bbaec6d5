internal import ArgumentParser
internal import Broker
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage
internal import Terminal
internal import Wire

/// `ambit versions`: earlier contents of documents.
struct VersionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "versions", abstract: "Show and restore earlier contents of a document.",
    discussion: """
      Ambit keeps a document's content when an app saves over it, when a program on the host replaces it while an app has it open, \
      and when two of them wrote without knowing of each other (a conflict).

        ambit versions list report.txt           which there are
        ambit versions show report.txt 2         the content of the second newest
        ambit versions restore report.txt 2      put it in the place of the present
        ambit versions remove report.txt --all   forget them

      An app's saves within a minute leave one version: the content from before the first. There are 100 versions of a document at \
      most, 256 MiB of one app, and 1 GiB together. The oldest go first; unresolved conflicts stay.
      """,
    subcommands: [List.self, Show.self, Restore.self, Remove.self], defaultSubcommand: List.self)

  struct File: ParsableArguments {
    @Argument(help: "The document: a file, or a folder that is a package.") var file: String

    var path: String { get throws { try HostPath.resolved(file) } }

    func versions() throws -> (path: String, versions: [VersionsInterface.Version]) {
      let path = try self.path
      let reply: VersionsInterface.ListReply = try VersionCall.call(
        VersionsInterface.list, VersionsInterface.ListCall(path: path))
      return (path, reply.versions)
    }
  }

  /// One of the versions: its number in the list, 1 the newest, or its identifier.
  struct Chosen: ParsableArguments {
    @Argument(help: "Its number in the list, 1 the newest, or its identifier.") var version: String

    func find(in versions: [VersionsInterface.Version], of file: String) throws -> VersionsInterface.Version {
      if let number = Int(version), versions.indices.contains(number - 1) { return versions[number - 1] }
      if let found = versions.first(where: { $0.id == version }) { return found }
      throw Failure(
        versions.isEmpty
          ? "\(printable(file)) has no earlier versions."
          : "\(printable(file)) has no version \(printable(version)); it has 1 to \(versions.count).", status: 1)
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the versions of a document, newest first.")
    @OptionGroup var file: File
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let (path, versions) = try file.versions()
      switch format {
      case .json: try Output.standard.write(json: VersionsInterface.ListReply(versions: versions).json.text)
      case .table:
        guard !versions.isEmpty else {
          return try Output.standard.write("\(printable(path.lastPathName)) has no earlier versions.\n")
        }
        let table = Table(
          [
            .init("#", alignment: .trailing), .init("WRITTEN"), .init("SIZE", alignment: .trailing), .init("BECAUSE"),
            .init("APP"), .init("MACHINE"), .init("ID"),
          ], for: 1)
        try Output.standard.write(
          table.render(
            versions.enumerated().map { index, version in
              [
                "\(index + 1)", Table.Cell(LocalTime.seconds(version.modified)),
                Table.Cell(VersionsCommand.size(version.size)), VersionsCommand.reason(version),
                version.app.map { Table.Cell(printable($0)) } ?? Table.Cell("another program", .yellow),
                Table.Cell(printable(version.device), .dim), Table.Cell(version.id, .dim),
              ]
            }))
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the content of a version to standard output.",
      discussion: "Of a package: the paths of its files; with --file, the content of one of them.")
    @OptionGroup var file: File
    @OptionGroup var chosen: Chosen
    @Option(name: .customLong("file"), help: "A file in a package, by its path there.") var inside: String?

    func run() throws {
      let (path, versions) = try file.versions()
      let version = try chosen.find(in: versions, of: path)
      if version.kind == .package, inside == nil {
        for path in try VersionCall.contents(of: version) { try Output.standard.write("\(printable(path))\n") }
        return
      }
      let content = try VersionCall.open(version, inside)
      var offset: UInt64 = 0
      while case let bytes = try content.bytes(at: offset, count: 1 << 16), !bytes.isEmpty {
        try Output.standard.write(bytes: bytes)
        offset += UInt64(bytes.count)
      }
    }
  }

  struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a version the document's content.",
      discussion: """
        Apps that have the document open save first, then read it again. The present content is kept as a version: restoring can \
        be taken back. Exit status: 0 restored; 1 there is no such version; 125 an app did not let go of the document.
        """)
    @OptionGroup var file: File
    @OptionGroup var chosen: Chosen

    func run() throws {
      let (path, versions) = try file.versions()
      let version = try chosen.find(in: versions, of: path)
      let access = try CoordinatedAccess(
        [.init(path: path, use: .write, options: ["forMerging"])], .init("ambit versions restore"))
      let place = access.paths.first ?? path
      let _: VersionsInterface.KeepReply = try VersionCall.call(
        VersionsInterface.keep, VersionsInterface.KeepCall(path: place, conflict: false))
      try RestoredVersion(version).put(at: place)
      access.done()
      let name = printable(place.lastPathName)
      try Output.standard.write(
        "\(Style(for: 1).green("✓")) \(name) has the content of \(LocalTime.seconds(version.modified)) again; "
          + "the one it had is version 1 now.\n")
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget versions of a document.")
    @OptionGroup var file: File
    @Argument(help: "Its number in the list, 1 the newest, or its identifier.") var version: String?
    @Flag(help: "All of them.") var all = false

    func validate() throws {
      guard all != (version != nil) else { throw ValidationError("Name a version, or say --all.") }
    }

    func run() throws {
      let (path, versions) = try file.versions()
      var chosen = versions
      if let version {
        var one = try Chosen.parse([version])
        one.version = version
        chosen = [try one.find(in: versions, of: path)]
      }
      for each in chosen {
        try VersionCall.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: each.id))
      }
      try Output.standard.write(
        chosen.count == 1 ? "1 version is forgotten.\n" : "\(chosen.count) versions are forgotten.\n")
    }
  }

  fileprivate static func reason(_ version: VersionsInterface.Version) -> Table.Cell {
    switch version.cause {
    case .saved: "saved over"
    case .overwritten: Table.Cell("replaced outside", .yellow)
    case .conflict: version.unresolved ? Table.Cell("conflict", .red) : Table.Cell("conflict, resolved", .dim)
    }
  }

  fileprivate static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1024: "\(bytes) B"
    case ..<(1 << 20): "\(bytes >> 10) KiB"
    default: "\(bytes >> 20) MiB"
    }
  }
}
