internal import ArgumentParser
internal import Policy
internal import Terminal
internal import Wire

/// `ambit policy list`.
struct PolicyListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the policies that can be named, with what each is for.",
    discussion: """
        ambit policy list
        ambit policy list --format json | jq -r '.policies[].name'

      Exit status: 1 if one of them cannot be read.
      """)

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  func run() throws {
    let policies = try UserPolicies()
    var rows: [(name: String, file: String, words: String, fault: String?)] = []
    for name in policies.library.names {
      do throws(PolicyError) {
        let policy = try policies.library.load(name)
        rows.append((name, policy.file, policy.description ?? "", nil))
      } catch {
        rows.append((name, "", "", "\(error)"))
      }
    }
    switch format {
    case .json:
      let list = rows.map { row in
        JSONValue.object([
          "name": .string(row.name), "file": .string(row.file), "description": .string(row.words),
          "error": row.fault.map { .string($0) } ?? .null,
        ])
      }
      try Output.standard.write(json: (["policies": .array(list)] as JSONObject).text)
    case .table:
      let table = Table(
        [.init("NAME", minWidth: 8), .init("FROM", minWidth: 8, keeping: .end), .init("WHAT FOR", minWidth: 8)], for: 1)
      try Output.standard.write(
        table.render(
          rows.map { row in
            [
              Table.Cell(row.name, .bold), Table.Cell(row.file.hasPrefix("built-in:") ? "built-in" : row.file, .dim),
              row.fault.map { Table.Cell($0, .red) } ?? Table.Cell(row.words),
            ]
          }))
    }
    if rows.contains(where: { $0.fault != nil }) { throw ExitCode(1) }
  }
}
