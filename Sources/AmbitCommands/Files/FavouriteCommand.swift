internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import Paths
internal import ScopedAccess
internal import Terminal
internal import UserFiles
internal import Wire

/// `ambit favourite`: documents that the user likes to find again.
struct FavouriteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourite", abstract: "Keep documents and folders as favourites, and list them.",
    discussion: """
      Ctrl-O leads to them in the picker. A favourite is kept by its identity, as a bookmark is: it is found after a rename or a move.

        ambit favourite add ~/Letters notes.txt
        ambit favourite list
        ambit favourite remove notes.txt
      """,
    subcommands: [Add.self, Remove.self, List.self], defaultSubcommand: List.self)

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Make files or folders favourites.")
    @Argument(help: ArgumentHelp("Files or folders.", valueName: "file")) var files: [String]

    func run() throws {
      let store = try FavouriteStore(try UserSide.folders)
      let held = try files.map { try FileActs.held($0) }
      try store.change { favourites in
        for file in held {
          guard favourites.add(try FavouriteStore.favourite(file)) else {
            throw Failure(
              "there are \(Favourites.most) favourites, and that is the limit; remove one first.", status: 1)
          }
        }
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Let files or folders be no favourites any more.",
      discussion: "A file that is gone is named by the path that “ambit favourite list” shows.")
    @Argument(help: ArgumentHelp("Files or folders.", valueName: "file")) var files: [String]

    func run() throws {
      let store = try FavouriteStore(try UserSide.folders)
      try store.change { favourites in
        for file in files {
          let own = (try? FileActs.held(file)).flatMap { try? FavouriteStore.favourite($0) }
          let path = file.isAbsolutePath ? file : ThisProcess.directory.path(of: file)
          let isOne = favourites.remove {
            own.map($0.isSameFile) ?? $0.path.isSamePath(as: path.withoutTrailingSlashes)
          }
          if !isOne { throw Failure("\(printable(file)) is no favourite.", status: 1) }
        }
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the favourites where they are now. “list” may be left out.")
    @Option(help: "How to print: table or json.") var format: OutputFormat = .table

    func run() throws {
      let found = try FavouriteStore(try UserSide.folders).found()
      switch format {
      case .json:
        let list = found.map { known, path in
          JSONValue.object(["path": .string(path ?? known.path), "found": .bool(path != nil)])
        }
        try Output.standard.write(json: (["favourites": .array(list)] as JSONObject).text)
      case .table:
        if found.isEmpty { try Output.standard.write("There are no favourites.\n") }
        for (known, path) in found {
          try Output.standard.write("\(printable(path ?? known.path))\(path == nil ? "  (not found)" : "")\n")
        }
      }
    }
  }
}

/// `ambit duplicate`: a copy beside the original.
struct DuplicateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate", abstract: "Copy files or folders beside the originals: “Essay 2.txt” of “Essay.txt”.",
    discussion: """
      Apps that present a file save first. The copy is there whole or not at all, and takes no other file's place.

        ambit duplicate Essay.txt
      """)
  @Option(help: ArgumentHelp("How long to wait for apps: 30 by default.", valueName: "seconds")) var timeout: Double?
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table
  @Argument(help: ArgumentHelp("Files or folders.", valueName: "file")) var files: [String]

  func run() throws {
    let acts = try FileActs("ambit duplicate", timeout: timeout)
    let held = try files.map { try FileActs.held($0) }
    var copies: [String] = []
    for file in held { copies.append(try acts.duplicate(file)) }
    switch format {
    case .json:
      try Output.standard.write(json: (["copies": .array(copies.map { .string($0) })] as JSONObject).text)
    case .table: for copy in copies { try Output.standard.write("\(printable(copy))\n") }
    }
  }
}
