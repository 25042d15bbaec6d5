internal import ArgumentParser
internal import Folders
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit grants`: the documents that apps may use.
struct GrantsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grants",
    abstract: "List which app may use which document, since when, and by whose decision.",
    discussion: """
      A grant lasts until you withdraw it (ambit revoke), the app gives it up or deletes what it needs it for, the app is \
      removed, or as long as the app's policy lets it ([grants] lifetime). ● marks one that an app has started right now.

      EXAMPLES
        What may the editor use?
          ambit grants --app io.ambit.TextEdit

        Be told of each grant that is given or ends from now on:
          ambit grants --follow
      """)

  @Option(help: ArgumentHelp("Only the grants of this app.", valueName: "bundle-id"))
  var app: String?

  @Option(help: "table, for people; json, one object, for programs; with --follow one more for each change.")
  var format: OutputFormat = .table

  @Flag(help: "Go on with what changes as it does: + is granted, − has ended. Until interrupted.")
  var follow = false

  func run() throws {
    // From before the list is made, so that no change falls between the two.
    var watch = follow ? try GrantWatch(app: app, format: format, output: .standard) : nil
    let reply = try UserSide.call(
      GrantsInterface.list, GrantsInterface.ListCall(app: app), answer: GrantsInterface.ListReply.self)
    if let app, reply.grants.isEmpty {
      let known = try UserSide.call(
        GrantsInterface.apps, GrantsInterface.ListCall(), answer: GrantsInterface.AppsReply.self)
      if !known.apps.contains(where: { $0.bundleIdentifier == app }) {
        try Output.error.write(
          "No app that has been launched is called \(printable(app)); “ambit app list” has those that there are.\n")
      }
    }
    switch format {
    case .json: try Output.standard.write(json: reply.json.text)
    case .table:
      try Output.standard.write(GrantTable.render(reply.grants, app: app) + GrantTable.apps(of: reply.grants))
    }
    try watch?.run(from: Set(reply.grants.map(\.grant)))
  }
}

/// Grants in words.
enum GrantTable {
  static func render(_ grants: [GrantsInterface.Grant], app: String? = nil, descriptor: Int32 = 1) -> String {
    guard !grants.isEmpty else {
      return app.map { "\(printable($0)) may use no document.\n" } ?? "No app may use any document.\n"
    }
    let table = Table(
      [
        .init("GRANT", .identifier, minWidth: 10), .init("APP", .identifier, minWidth: 8, keeping: .end),
        .init("MAY", minWidth: 5), .init("DOCUMENT", minWidth: 12, keeping: .end),
        .init("DECIDED", .extra, minWidth: 13), .init("NOW", maxWidth: 30), .init("LAST USED", .extra, minWidth: 10),
      ], for: descriptor)
    return table.render(grants.map(row))
  }

  /// The paths of the grants' apps, and the digests of their files.
  static func apps(of grants: [GrantsInterface.Grant]) -> String {
    var seen: Set<String> = []
    return Digest.table(
      grants.compactMap { grant in
        guard let path = grant.appPath, let digest = grant.appDigest, seen.insert(grant.bundleIdentifier).inserted
        else {
          return nil
        }
        return (grant.bundleIdentifier, path, digest)
      })
  }

  private static func row(_ grant: GrantsInterface.Grant) -> [Table.Cell] {
    let writes = grant.access == .readWrite
    return [
      Table.Cell(grant.grant, .dim), Table.Cell(grant.bundleIdentifier, .cyan),
      writes ? Table.Cell("read and write", short: "write", .yellow) : Table.Cell("read", .green),
      Table.Cell(grant.path + (grant.kind == .folder ? "/" : "")), decision(grant), activity(grant),
      Table.Cell(grant.lastUsed.map(LocalTime.minutes) ?? "never", short: grant.lastUsed.map(LocalTime.day), .dim),
    ]
  }

  /// “by you, 2026-01-01 09:30”; in short “by you”.
  private static func decision(_ grant: GrantsInterface.Grant) -> Table.Cell {
    let by =
      switch grant.origin {
      case .user: "by you"
      case .scripted: "by a script"
      case .passed: "passed on"
      case .bookmark: "by a bookmark"
      }
    let parent = grant.parent.map { " from \($0)" } ?? ""
    let ends = [grant.endsWithLaunch ? "its launch ends" : nil, grant.until.map(LocalTime.minutes)].compactMap { $0 }
    let until = ends.isEmpty ? "" : ", until \(ends.joined(separator: " or "))"
    return Table.Cell("\(by)\(parent), \(LocalTime.minutes(grant.created))\(until)", short: by)
  }

  private static func activity(_ grant: GrantsInterface.Grant) -> Table.Cell {
    guard !grant.uses.isEmpty else { return Table.Cell("–", .dim) }
    let places = grant.uses.map { use in
      let isShared = grant.uses.count { $0.instance == use.instance } > 1
      return "in \(use.instance) (\(use.pid)\(isShared ? ", process \(use.process)" : ""))"
        + (use.count > 1 ? " ×\(use.count)" : "")
    }
    return Table.Cell("● " + places.joined(separator: ", "), short: "●", .green)
  }
}
