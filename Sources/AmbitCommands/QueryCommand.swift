internal import ArgumentParser
internal import ContentTypes
internal import Foundation
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit query`: the documents that a query of an app would find.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Show the documents that an app would find with a predicate, as the app sees them.",
    discussion: """
      An app's queries find its own documents, those in its container's Documents, and the documents that you granted to it. Nothing \
      else, whatever the predicate says. The predicate is written as for NSPredicate, over the keys of NSMetadataItem.

        ambit query org.example.Editor TRUEPREDICATE
        ambit query --scope external org.example.Editor \\
          "kMDItemFSName CONTAINS[cd] 'report'"

      Exit status: 0 done; 1 the app or the predicate is not known; 125 the catalog cannot be read.
      """)

  enum Scope: String, ExpressibleByArgument, CaseIterable { case local, external }

  @Argument(help: ArgumentHelp("The app's bundle identifier.", valueName: "bundle-id")) var app: String
  @Argument(help: "The predicate.") var predicate: String
  @Option(help: "local: the app's own documents; external: granted ones. Default: both.") var scope: [Scope] = []
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func run() throws {
    let scopes = scope.isEmpty ? QueryInterface.Scope.allCases : scope.map { $0 == .local ? .local : .external }
    // The types of its manifest, if Ambit has run it.
    let types = try AppFolders.parse([]).read().first { $0.identifier == app }?.declarations.types ?? []
    let call = QueryInterface.RunCall(
      predicate: predicate, scopes: scopes, app: app,
      types: types.map {
        .init(identifier: $0.identifier, conformsTo: $0.conformsTo, extensions: $0.extensions, exported: $0.isExported)
      })
    let items = try Self.items(call, app)
    switch format {
    case .json:
      let reply: JSONObject = ["app": .string(app), "items": .array(items.map { .object($0.json) })]
      try Output.standard.write(json: reply.text)
    case .table: try Output.standard.write(Self.table(items, app))
    }
  }

  private static func items(_ call: QueryInterface.RunCall, _ app: String) throws -> [QueryInterface.Item] {
    do {
      return try BrokerConnection.ask(UserSide.folders) { client in
        var items: [QueryInterface.Item] = []
        try client.callMore(QueryInterface.run, call.json) { answer throws(WireError) in
          let update: QueryInterface.Update
          do throws(FieldError) { update = try QueryInterface.RunReply(json: answer.parameters).update } catch {
            throw .unexpectedReply(error)
          }
          let gone = Set(update.removed).union(update.present.map(\.item))
          if !gone.isEmpty { items.removeAll { gone.contains($0.item) } }
          items += update.present
          return update.phase != .gathered
        }
        return items
      }
    } catch WireError.remote(let name, let parameters) {
      let reason = (try? parameters.string("reason")) ?? name
      switch name {
      case QueryInterface.Failure.notFoundName:
        throw Failure(
          "No app that has been launched is called \(printable(app)); “ambit app list” has those that there are.",
          status: 1)
      case QueryInterface.Failure.badPredicateName, QueryInterface.Failure.tooLargeName:
        throw Failure("The predicate cannot be used: \(reason).", status: 1)
      default: throw Failure(reason)
      }
    }
  }

  private static func table(_ items: [QueryInterface.Item], _ app: String) -> String {
    guard !items.isEmpty else { return "\(printable(app)) would find nothing.\n" }
    let table = Table(
      [
        .init("DOCUMENT", minWidth: 8, keeping: .end), .init("SIZE", minWidth: 4), .init("CHANGED", minWidth: 7),
        .init("MAY", minWidth: 4), .init("IN", minWidth: 4, maxWidth: 32),
      ], for: 1)
    return table.render(
      items.map { item in
        let isFolder = item.kind == .folder
        return [
          Table.Cell(item.path + (isFolder ? "/" : ""), item.external ? .cyan : .bold),
          Table.Cell(item.absent == true ? "not here" : item.size.map { "\($0)" } ?? "–"),
          Table.Cell(item.modified.map(time) ?? "–", .dim),
          Table.Cell(item.access == .readWrite ? "read and write" : "read"), Table.Cell(item.container ?? "–"),
        ]
      })
  }

  private static func time(_ nanoseconds: Int) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    return formatter.string(from: Date(timeIntervalSince1970: Double(nanoseconds) / 1e9))
  }
}
