internal import ArgumentParser
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import UserFiles
internal import Wire

/// `ambit trash`: the user's trash, which other programs see as well.
struct TrashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trash", abstract: "Put files into the trash, list it, take files back, or empty it.",
    discussion: """
      It is the trash of your desktop (freedesktop.org): that in your home folder, or “.Trash-UID” at the top of another volume. Apps \
      that present a file are told its new place, as with “ambit mv”.

        ambit trash notes.txt old/
        ambit trash list
        ambit trash restore notes.txt
        ambit trash empty

      A file called “list” is put away with “ambit trash ./list”.
      """,
    subcommands: [Put.self, List.self, Restore.self, Empty.self], defaultSubcommand: Put.self)

  struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "put", abstract: "Put files into the trash. “put” may be left out.")
    @Option(help: ArgumentHelp("How long to wait for apps: 30 by default.", valueName: "seconds")) var timeout: Double?
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table
    @Argument(help: ArgumentHelp("Files or folders.", valueName: "file")) var files: [String]

    func run() throws {
      let acts = try FileActs("ambit trash", timeout: timeout)
      // All are looked at first: a wrong name should not leave half of it done.
      let held = try files.map { try FileActs.held($0) }
      var done: [TrashFolder.Item] = []
      for file in held { done.append(try acts.putAway(file)) }
      try TrashLines.tell(done, format)
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the trash, the newest first.")
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let items = try FileActs("ambit trash").trash.items()
      guard !items.isEmpty || format == .json else { return try Output.standard.write("The trash is empty.\n") }
      try TrashLines.tell(items, format)
    }
  }

  struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "restore", abstract: "Take files out of the trash, to where they were.",
      discussion: """
        A file is named by its name in the trash, by the name that it had, or by the path that it had; of several with the same the newest \
        comes back. If its name is taken by now, it gets a number.

        Exit status: 0, or 1 if one of them is not in the trash or cannot go back.
        """)
    @Option(help: ArgumentHelp("The folder that they go to.", valueName: "folder")) var to: String?
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table
    @Argument(help: ArgumentHelp("Names or paths.", valueName: "file")) var files: [String]

    func run() throws {
      let acts = try FileActs("ambit trash restore")
      let items = acts.trash.items()
      let folder = try to.map { try HostPath.resolved($0) }
      let chosen = try files.map { name in
        guard let item = TrashLines.find(name, in: items) else {
          throw Failure("\(printable(name)) is not in the trash; “ambit trash list” shows it.", status: 1)
        }
        return item
      }
      for item in chosen {
        let path = try acts.restore(item, to: folder)
        switch format {
        case .json:
          try Output.standard.write(json: (["name": .string(item.name), "path": .string(path)] as JSONObject).text)
        case .table: try Output.standard.write("\(printable(path)) is back.\n")
        }
      }
    }
  }

  struct Empty: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "empty", abstract: "Remove what is in the trash, for good.",
      discussion: "Without files all of it is removed. On a terminal you are asked first.")
    @Flag(name: .shortAndLong, help: "Do not ask.") var force = false
    @Argument(help: ArgumentHelp("Names or paths, as for restore.", valueName: "file")) var files: [String] = []

    func run() throws {
      let trash = try FileActs("ambit trash empty").trash
      let items = trash.items()
      let chosen =
        try files.isEmpty
        ? items
        : files.map { name in
          guard let item = TrashLines.find(name, in: items) else {
            throw Failure("\(printable(name)) is not in the trash; “ambit trash list” shows it.", status: 1)
          }
          return item
        }
      if !force, !chosen.isEmpty {
        let question =
          "Remove \(chosen.count == 1 ? printable(chosen[0].name) : "\(chosen.count) items") for good? [y/N] "
        try Output.error.write(question)
        guard readLine().map({ ["y", "yes"].contains($0.lowercased()) }) ?? false else {
          throw Failure("nothing was removed.", status: 1)
        }
      }
      var failed = 0
      for item in chosen {
        do throws(KernelError) { try item.trash.erase(item) } catch {
          Failure.say("\(printable(item.path)): \(error.errno) (\(error.errno.symbol))")
          failed += 1
        }
      }
      if files.isEmpty { for each in trash.all() { each.eraseLostRecords() } }
      try Output.standard.write("\(chosen.count - failed) removed.\n")
      if failed > 0 { throw ExitCode(1) }
    }
  }
}

enum TrashLines {
  /// By name in the trash, by former name, or by former path. The items are sorted, the newest first.
  static func find(_ text: String, in items: [TrashFolder.Item]) -> TrashFolder.Item? {
    let path = text.isAbsolutePath ? text : ThisProcess.directory.path(of: text)
    return items.first { $0.original.map { $0.isSamePath(as: path.withoutTrailingSlashes) } ?? false }
      ?? items.first { $0.path.isSamePath(as: path.withoutTrailingSlashes) }
      ?? items.first { $0.name.isSamePath(as: text) }
      ?? items.first { $0.original?.lastPathName.isSamePath(as: text) ?? false }
  }

  static func tell(_ items: [TrashFolder.Item], _ format: OutputFormat) throws {
    switch format {
    case .json:
      let list = items.map { item -> JSONValue in
        var object: JSONObject = [
          "name": .string(item.name), "path": .string(item.path), "deleted": .string(LocalTime.utc(item.date) ?? ""),
          "folder": .bool(item.isFolder),
        ]
        object.set("original", item.original)
        return .object(object)
      }
      try Output.standard.write(json: (["items": .array(list)] as JSONObject).text)
    case .table:
      let table = Table([.init("DELETED"), .init("NAME", keeping: .end), .init("WAS", keeping: .end)], for: 1)
      try Output.standard.write(
        table.render(
          items.map { item in
            [
              Table.Cell(item.date.isEmpty ? "?" : item.date, .dim), Table.Cell(item.name),
              Table.Cell(item.original ?? "?"),
            ]
          }))
    }
  }
}
