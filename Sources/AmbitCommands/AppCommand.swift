internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import SystemPackage
internal import Terminal
internal import Wire

/// `ambit app`: the apps that were launched, and removing one.
struct AppCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app",
    abstract: "List the apps that you have run, inspect one, or remove one with all that it was granted.",
    subcommands: [List.self, Inspect.self, Remove.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the apps that you have run, and how many documents each may use.")

    @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

    func run() throws {
      let reply = try UserSide.call(
        GrantsInterface.apps, GrantsInterface.ListCall(), answer: GrantsInterface.AppsReply.self)
      switch format {
      case .json: try Output.standard.write(json: reply.json.text)
      case .table: try Output.standard.write(Self.table(reply.apps))
      }
    }

    private static func table(_ apps: [GrantsInterface.App]) -> String {
      guard !apps.isEmpty else { return "No app has been run.\n" }
      let table = Table(
        [
          .init("APP", .identifier, minWidth: 8, keeping: .end), .init("NAME", minWidth: 8),
          .init("VERSION", .extra, minWidth: 7), .init("GRANTS", alignment: .trailing, minWidth: 6),
          .init("RUNNING", alignment: .trailing, minWidth: 7), .init("CONTAINER", .extra, minWidth: 9),
          .init("LIES AT", minWidth: 12, keeping: .end), .init("SHA-256", .extra, minWidth: 12),
        ], for: 1)
      return table.render(
        apps.map { app in
          [
            Table.Cell(app.bundleIdentifier, .cyan), Table.Cell(app.name), Table.Cell(app.version ?? ""),
            app.grants == 0 ? Table.Cell("0", .dim) : Table.Cell("\(app.grants)"),
            app.running == 0 ? Table.Cell("–", .dim) : Table.Cell("\(app.running)", .green),
            app.container ? Table.Cell("yes") : Table.Cell("no", .dim),
            Table.Cell(app.path ?? ""), Table.Cell(app.digest.map(Digest.short) ?? "", .dim),
          ]
        })
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "End all grants of an app, and delete its container.",
      discussion: """
        Its bookmarks and references are worth nothing from then on, also if it is run again. Grants that other apps have of \
        documents in its container end as well.
        """)

    @Argument(help: ArgumentHelp("The app.", valueName: "bundle-id")) var app: String
    @Flag(help: "Keep its container.") var keepData = false
    @Flag(help: "End it first if it is running.") var kill = false

    func run() throws {
      let reply = try UserSide.call(
        GrantsInterface.remove, GrantsInterface.RemoveCall(app: app, keepData: keepData, kill: kill),
        answer: GrantsInterface.RemoveReply.self)
      try Output.standard.write(EndedGrants.describe(reply.ended, style: Style(for: 1)))
      if let note = reply.note { Failure.say(note) }
      if let leftovers = reply.leftovers { try delete(leftovers) }
      try Output.standard.write(
        "\(printable(app)) is removed\(reply.leftovers == nil ? "" : ", with its container").\n")
    }

    /// The broker has other requests to answer, so this is done here. If it is interrupted, the next broker deletes the rest.
    private func delete(_ name: String) throws {
      let path = try UserSide.folders.containers
      do throws(KernelError) {
        let containers = try Descriptor.open(path, flags: [.read, .directory, .noFollow])
        try containers.removeTree(name)
      } catch {
        if error.errno == .noSuchFileOrDirectory { return }
        throw Failure(
          "\(app) is removed, and something of its container could not be deleted: \(error). What is left is \(path)/\(name)."
        )
      }
    }
  }
}
