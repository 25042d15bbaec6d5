internal import ArgumentParser
internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit ps`: running instances and their scopes.
struct PsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ps", abstract: "List running apps and the documents that they have open right now.",
    discussion: """
      An app whose launcher has not handed it over to a new broker yet is waited for, for two seconds at most, and named then.

      SCOPES: how many documents the app has started, of how many each of its processes may; of several processes the one that has \
      most. Which process has what open is said where there are several, by their numbers inside the sandbox.

      STATE: suspended apps have no running process until “ambit resume”; their scopes stay started.
      """)

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  func run() throws {
    let folders = try AmbitFolders.current(environment: ProcessInfo.processInfo.environment)
    let running = try BrokerConnection.running(folders)
    let instances = running.instances.sorted { $0.started < $1.started }
    let awaited = running.awaited.sorted { $0.instance < $1.instance }
    switch format {
    case .json:
      var reply = LauncherInterface.InstancesReply(instances: instances).json
      reply["awaited"] = .array(
        awaited.map {
          [
            "instance": .string($0.instance), "pid": JSONValue(Int($0.initProcess.pid)),
            "launcher": JSONValue(Int($0.launcher.pid)),
          ]
        })
      try Output.standard.write(json: reply.text)
    case .table:
      if !instances.isEmpty || awaited.isEmpty { try Output.standard.write(Self.table(instances)) }
      for record in awaited {
        try Output.standard.write(
          "Instance \(printable(record.instance)) runs as process \(record.initProcess.pid), and no broker knows it yet: "
            + "its launcher, process \(record.launcher.pid), has not handed it over.\n")
      }
    }
  }

  private static func table(_ instances: [LauncherInterface.Instance]) -> String {
    let table = Table(
      [
        .init("PID", .identifier, alignment: .trailing), .init("APP", .identifier, minWidth: 8),
        .init("INSTANCE", .identifier, minWidth: 8), .init("STATE", minWidth: 9), .init("POLICY", .extra, minWidth: 7),
        .init("SCOPES", alignment: .trailing, minWidth: 6), .init("DOCUMENT", minWidth: 12, keeping: .end),
        .init("SINCE", .extra, minWidth: 16),
      ], for: 1)
    var rows: [[Table.Cell]] = []
    for instance in instances {
      let head: [Table.Cell] = [
        "\(instance.pid)", Table.Cell(printable(instance.bundleIdentifier), .bold), "\(instance.instance)",
        instance.suspended == nil ? "running" : Table.Cell("suspended", .yellow),
        Table.Cell(printable(instance.policy)),
        Table.Cell("\(instance.used)/\(instance.limit)", instance.used == instance.limit ? .red : .green),
      ]
      guard let first = instance.scopes.first else {
        rows.append(head + [Table.Cell("nothing open", .dim), since(instance.started)])
        continue
      }
      let isShared = Set(instance.scopes.map(\.process)).count > 1
      rows.append(head + cells(first, isShared))
      for scope in instance.scopes.dropFirst() { rows.append(["", "", "", "", "", ""] + cells(scope, isShared)) }
    }
    guard !instances.isEmpty else { return "No app is running.\n" }
    var seen: Set<[String]> = []
    let apps = instances.filter { seen.insert([$0.bundleIdentifier, $0.path, $0.digest]).inserted }
    return table.render(rows) + Digest.table(apps.map { ($0.bundleIdentifier, $0.path, $0.digest) })
  }

  private static func since(_ time: String) -> Table.Cell { Table.Cell(time, short: LocalTime.minutes(time), .dim) }

  /// - Parameter isShared: several of the app's processes have something open, and it has to be said which.
  private static func cells(_ scope: LauncherInterface.Scope, _ isShared: Bool) -> [Table.Cell] {
    let count = scope.count > 1 ? " ×\(scope.count)" : ""
    let process = isShared ? " (process \(scope.process))" : ""
    return [Table.Cell(printable(scope.host) + count + process), since(scope.since)]
  }
}
