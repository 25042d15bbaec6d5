internal import ArgumentParser
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit identity`: which app each identifier belongs to.
struct IdentityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "List which app each identifier belongs to, or forget one.",
    discussion: """
      An identifier belongs to the app that claimed it first: to a digest of its Info.plist, its Entitlements.plist and its \
      program, to the place where these lie, and to the users that own them. The same digest elsewhere is the same app; another \
      digest in the same place and of the same owners is an update. Anything else that claims the identifier is another app, and \
      is not run before you have said what it is (“ambit run --trust”).

      A program has an identifier that comes from its path; an interpreter that is given a script file has the script's. \
      “sh -c”, “python -m” and a script on standard input have the interpreter's, which all such runs share; \
      “ambit run --container” separates them.
      """,
    subcommands: [List.self, Forget.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the apps that are remembered, with their places and digests.")

    @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

    func run() throws {
      let reply = try UserSide.call(
        GrantsInterface.identities, GrantsInterface.IdentitiesCall(), answer: GrantsInterface.IdentitiesReply.self)
      switch format {
      case .json: try Output.standard.write(json: reply.json.text)
      case .table: try Output.standard.write(Self.table(reply.identities))
      }
    }

    private static func table(_ identities: [GrantsInterface.Identity]) -> String {
      guard !identities.isEmpty else { return "No app is remembered.\n" }
      let table = Table(
        [
          .init("APP", .identifier, minWidth: 8, keeping: .end), .init("PATH", minWidth: 12, keeping: .end),
          .init("SHA-256", .extra, minWidth: 12), .init("OWNER", .extra, alignment: .trailing, minWidth: 5),
          .init("GRANTS", alignment: .trailing, minWidth: 6), .init("REMEMBERED", minWidth: 10),
        ], for: 1)
      return table.render(
        identities.map { each in
          [
            Table.Cell(each.bundleIdentifier, .cyan), Table.Cell(each.path), Table.Cell(Digest.short(each.digest)),
            Table.Cell(each.owners.map(String.init).joined(separator: ", ")),
            each.grants == 0 ? Table.Cell("0", .dim) : Table.Cell("\(each.grants)"),
            Table.Cell(LocalTime.minutes(each.remembered), short: LocalTime.day(each.remembered), .dim),
          ]
        })
    }
  }

  struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "forget",
      abstract: "Forget which app an identifier belongs to: the next one that claims it has it.",
      discussion: """
        The container and the grants of the identifier stay, for the next app that claims it. “ambit app remove” ends those too.
        """)

    @Argument(help: ArgumentHelp("The identifier.", valueName: "bundle-id")) var app: String
    @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

    func run() throws {
      let reply = try UserSide.call(
        GrantsInterface.forget, GrantsInterface.ForgetCall(app: app), answer: GrantsInterface.ForgetReply.self)
      switch format {
      case .json: try Output.standard.write(json: reply.json.text)
      case .table:
        let count = reply.grants == 1 ? "1 document" : "\(reply.grants) documents"
        let documents = reply.grants == 0 ? "its container" : "its container and \(count)"
        try Output.standard.write(
          "\(printable(app)) is forgotten. The next app that claims this identifier has \(documents).\n")
      }
    }
  }
}

/// Digests for people.
enum Digest {
  /// As many digits as tell two apart.
  static func short(_ digest: String) -> String { String(digest.prefix(12)) }

  /// A table of apps under another one: where each lies, and its digest.
  static func table(_ apps: [(app: String, path: String, digest: String)]) -> String {
    guard !apps.isEmpty else { return "" }
    let table = Table(
      [
        .init("APP", .identifier, minWidth: 8, keeping: .end), .init("LIES AT", minWidth: 12, keeping: .end),
        .init("SHA-256", .extra, minWidth: 12),
      ], for: 1)
    return "\n"
      + table.render(apps.map { [Table.Cell($0.app, .cyan), Table.Cell($0.path), Table.Cell(short($0.digest), .dim)] })
  }
}
