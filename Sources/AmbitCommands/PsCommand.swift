internal import ArgumentParser
internal import Broker
internal import Folders
internal import Foundation
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit ps`: running instances and their scopes.
struct PsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ps", abstract: "List running apps and the documents that they have open right now.")

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  func run() throws {
    let folders = AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
    var instances = try BrokerConnection.instances(folders)
    instances.sort { $0.started < $1.started }
    switch format {
    case .json: print(LauncherInterface.InstancesReply(instances: instances).json.text)
    case .table: try Output.standard.write(Self.table(instances))
    }
  }

  private static func table(_ instances: [LauncherInterface.Instance]) -> String {
    let table = Table(
      [
        .init("PID", alignment: .trailing), .init("APP"), .init("INSTANCE"), .init("POLICY"),
        .init("SCOPES", alignment: .trailing),
        .init("DOCUMENT", keeping: .end), .init("SINCE"),
      ], for: 1)
    var rows: [[Table.Cell]] = []
    for instance in instances {
      let head: [Table.Cell] = [
        "\(instance.pid)", Table.Cell(printable(instance.bundleIdentifier), .bold), "\(instance.instance)",
        Table.Cell(printable(instance.policy)),
        Table.Cell("\(instance.used)/\(instance.limit)", instance.used == instance.limit ? .red : .green),
      ]
      guard let first = instance.scopes.first else {
        rows.append(head + [Table.Cell("nothing open", .dim), Table.Cell(instance.started, .dim)])
        continue
      }
      rows.append(head + cells(first))
      for scope in instance.scopes.dropFirst() { rows.append(["", "", "", "", ""] + cells(scope)) }
    }
    return instances.isEmpty ? "No app is running.\n" : table.render(rows)
  }

  private static func cells(_ scope: LauncherInterface.Scope) -> [Table.Cell] {
    [Table.Cell(printable(scope.host) + (scope.count > 1 ? " ×\(scope.count)" : "")), Table.Cell(scope.since, .dim)]
  }
}
