internal import AmbitKit
internal import ArgumentParser
internal import Foundation

struct Scopes: ParsableCommand {
  enum Format: String, CaseIterable, ExpressibleByArgument { case table, json }

  static let configuration = CommandConfiguration(
    abstract: "Show how many scopes the script that runs this command uses, how many it has, and what holds them.")

  @Option(help: "table or json.") var format = Format.table

  func run() throws {
    try Console.explaining {
      let status = try SecurityScope.status(of: .parent)
      switch format {
      case .table: try Self.table(status).forEach { try Console.print($0) }
      case .json:
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try Console.print(Console.printableJSON(String(decoding: encoder.encode(status), as: UTF8.self)))
      }
    }
  }

  static func table(_ status: SecurityScope.Status) -> [String] {
    let header = ["COUNT", "SINCE", "NAME", "PATH", "CALLER"]
    let rows = status.holders.map {
      ["\($0.count)", $0.since, $0.name, $0.path, $0.caller ?? "-"].map(Console.printable)
    }
    var lines = ["\(status.used) of \(status.limit) scopes in use"]
    guard !rows.isEmpty else { return lines }
    let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
    for row in [header] + rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
      lines.append(cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces))
    }
    return lines
  }
}
