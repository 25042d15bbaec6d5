internal import ArgumentParser
internal import ContentTypes
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// `ambit handlers`: the apps that open a file.
struct HandlersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "handlers", abstract: "Show which apps open a file, the best first, and why.",
    discussion: """
      The order: an app that owns the type, then Default, then Alternate; then the app that names the nearest type; then editors before \
      viewers. Owner counts only for a type that the app exports. A claim to nearly every file, like public.data, counts as Alternate.

        ambit handlers --apps ~/Applications notes.md

      Exit status: 0, or 1 if no app opens it.
      """)
  @Argument(help: "A file.") var file: String
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print: table or json.") var format: OutputFormat = .table

  func run() throws {
    let known = try apps.read()
    let types = TypeDecider.ofUser(known)
    let path = file.isAbsolutePath ? file : ThisProcess.directory.path(of: file)
    let decision: TypeDecision
    do throws(KernelError) { decision = try types.decide(path: path) } catch {
      throw Failure("\(printable(file)): \(error)", status: 1)
    }
    let handlers = HandlerRules.handlers(
      of: decision.identifier, named: path.lastPathName, mimeType: decision.mimeType, in: types.tree,
      apps: known.map { ($0.identifier, $0.declarations) }
    ).filter { $0.rank != .none }
    switch format {
    case .json: try Output.standard.write(json: json(decision, handlers).text)
    case .table:
      let style = Style(for: 1)
      try Output.standard.write("\(style.bold(printable(file))): \(style.cyan(decision.identifier))\n")
      if handlers.isEmpty {
        try Output.standard.write("No app of \(known.count) opens it.\n")
      } else {
        let table = Table(
          [
            .init("", minWidth: 1), .init("APP", .identifier, minWidth: 8, keeping: .end), .init("RANK"), .init("ROLE"),
            .init("BY TYPE"),
            .init("WHY NOT MORE"),
          ],
          for: 1)
        try Output.standard.write(
          table.render(
            handlers.enumerated().map { index, handler in
              [
                index == 0 ? Table.Cell("→", .green) : Table.Cell(""), Table.Cell(handler.app, .cyan),
                Table.Cell(handler.rank.rawValue), Table.Cell(handler.claim.role.rawValue), Table.Cell(handler.matched),
                Table.Cell(handler.reason ?? "", .dim),
              ]
            }))
      }
    }
    if handlers.isEmpty { throw ExitCode(1) }
  }

  private func json(_ decision: TypeDecision, _ handlers: [Handler]) -> JSONObject {
    var object = JSONObject()
    object["file"] = .string(file)
    object["type"] = .string(decision.identifier)
    object["handlers"] = .array(
      handlers.map { handler in
        var one = JSONObject()
        one["app"] = .string(handler.app)
        one["rank"] = .string(handler.rank.rawValue)
        one["saidRank"] = .string(handler.claim.rank.rawValue)
        one["role"] = .string(handler.claim.role.rawValue)
        one["matched"] = .string(handler.matched)
        one["distance"] = .int(Int64(handler.distance))
        one["reason"] = handler.reason.map(JSONValue.string)
        return .object(one)
      })
    return object
  }
}
