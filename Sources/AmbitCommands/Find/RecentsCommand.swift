internal import ArgumentParser
internal import Audit
internal import ContentTypes
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// `ambit recents`: the documents that were used last.
struct RecentsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recents", abstract: "List the documents that apps used last: opened, imported, modified, shared.",
    discussion: """
      The audit log tells them. Documents that are gone are left out, and so are files of types that are no content for people \
      (public.content), as programs and caches are.

        ambit recents
        ambit recents --count 50 --format json
      """)
  @Option(help: ArgumentHelp("At most so many.", valueName: "number")) var count = 20
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table

  func run() throws {
    let items = try Self.items(apps, most: count)
    switch format {
    case .json:
      let list = items.map { item -> JSONValue in
        var object: JSONObject = [
          "path": .string(item.path), "time": .string(item.time.formatted(.iso8601)),
          "uses": .array(item.uses.map(\.rawValue).sorted().map { .string($0) }),
        ]
        object.set("app", item.app)
        return .object(object)
      }
      try Output.standard.write(json: (["documents": .array(list)] as JSONObject).text)
    case .table:
      guard !items.isEmpty else { return try Output.standard.write("No app has used a document yet.\n") }
      let table = Table(
        [
          .init("WHEN", minWidth: 20), .init("DOCUMENT", minWidth: 12, keeping: .end), .init("USE"),
          .init("APP", .identifier, minWidth: 8, keeping: .end),
        ], for: 1)
      try Output.standard.write(
        table.render(
          items.map { item in
            [
              Table.Cell(item.time.formatted(.iso8601), .dim), Table.Cell(item.path),
              Table.Cell(item.uses.map(\.rawValue).sorted().joined(separator: ", ")), Table.Cell(item.app ?? "", .cyan),
            ]
          }))
    }
  }

  /// Those that are there, and are content for people (`TYP-1`).
  static func items(_ apps: AppFolders, most: Int) throws -> [RecentDocuments.Item] {
    let path = try UserSide.folders.auditLog
    guard (try? Descriptor.open(path, flags: .path)) != nil else { return [] }
    let types = TypeDecider.ofUser(try apps.read())
    let events = try AuditReader(path: path).latest(
      RecentDocuments.enoughEvents, matching: AuditQuery(result: .allowed))
    return RecentDocuments(events).items.lazy.filter { item in
      guard let decision = try? types.decide(path: item.path) else { return false }
      return ["public.content", "com.apple.package", "public.composite-content"].contains {
        types.tree.conforms(decision.identifier, to: $0)
      }
    }.prefix(most).map(\.self)
  }
}
