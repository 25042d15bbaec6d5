internal import ArgumentParser
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Policy
internal import Terminal
internal import Wire

/// `ambit policy show`.
struct PolicyShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print a policy with everything that it inherits, and where each value comes from.",
    discussion: """
      What is printed can be read as a policy again. Behind each value stands the file and the line that it comes from, \
      and what a machine-wide policy has taken away. “built-in:default” is Policies/default.toml; “not said” is what \
      holds where no file says anything.

        ambit policy show default
        ambit policy show ./mine.toml
        ambit policy show --format json strict |
          jq '.fields[] | select(.narrowedFrom)'
      """)

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  @Argument(help: ArgumentHelp("A policy's name, or a file.", valueName: "name|file"))
  var policy: String

  func run() throws {
    let policies = try UserPolicies()
    let resolved = try policies.resolve(policy)
    let machines = try policies.machinePolicies()
    let report = PolicyReport(
      resolved, narrowed: resolved.policy.narrowed(by: machines, memory: MachineMemory.total, isLocated: true),
      machines: machines)
    switch format {
    case .json: try Output.standard.write(json: report.json.text)
    case .table: try Output.standard.write(report.text(Style(for: 1)))
    }
  }
}

/// A policy in full, as TOML with its origins, and as JSON.
struct PolicyReport {
  private let resolved: ResolvedPolicy
  private let policy: Policy
  private let machines: [MachinePolicy]

  init(_ resolved: ResolvedPolicy, narrowed: Policy, machines: [MachinePolicy]) {
    self.resolved = resolved
    // Read again from elsewhere, it means the same file.
    var settings = narrowed.settings
    settings.seccompProfile = settings.seccompProfile.map(Self.absolute)
    settings.furtherSeccompProfiles = settings.furtherSeccompProfiles.map(Self.absolute)
    policy = narrowed.with(settings)
    self.machines = machines
  }

  private static func absolute(_ path: String) -> String {
    path.isAbsolutePath ? path : URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private struct Row {
    let field: PolicyField
    let value: String
    let origin: SettingOrigin?
    /// The last policy that narrowed the field, and the value before the first narrowing.
    let narrowing: (by: Narrowing, from: String)?

    var source: String {
      let written = origin.map { "\($0.file):\($0.position.line)" } ?? "not said"
      return narrowing.map { "\($0.by.place) narrows \($0.from) (\(written))" } ?? written
    }
  }

  private var rows: [Row] {
    let origins = PolicyOrigins(of: resolved)
    return PolicyField.all.compactMap { field in
      guard let value = field.text(in: policy.settings) else { return nil }
      let taken = policy.narrowings.filter { $0.field == field.name }
      return Row(
        field: field, value: value, origin: origins[field.name],
        narrowing: taken.last.flatMap { last in taken.first.map { (last, $0.from) } })
    }
  }

  func text(_ style: Style) -> String {
    var lines = [style.dim("# \(printable(policy.name)): " + policy.lineage.map(printable).joined(separator: " over "))]
    for machine in machines { lines.append(style.dim("# under the machine-wide policy \(printable(machine.file))")) }
    if let description = policy.description { lines.append("description = \(printable(description.quotedTOML))") }
    let rows = rows
    let width = rows.map { "\($0.field.key) = \(printable($0.value))".count }.filter { $0 <= 48 }.max() ?? 0
    var table: String?
    for row in rows {
      if row.field.table != table {
        table = row.field.table
        lines += ["", style.bold("[\(table ?? "")]")]
      }
      let setting = "\(row.field.key) = \(printable(row.value))"
      let comment = "# \(printable(row.source))"
      lines.append(
        setting.padding(to: width) + "  "
          + (row.narrowing == nil ? style.dim(comment) : style.apply([.yellow], to: comment)))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  var json: JSONObject {
    [
      "name": .string(policy.name), "file": .string(policy.file),
      "description": policy.description.map { .string($0) } ?? .null,
      "lineage": .array(policy.lineage.map { .string($0) }), "machine": .array(machines.map { .string($0.file) }),
      "fields": .array(
        rows.map { row in
          var json: JSONObject = [
            "field": .string(row.field.name), "value": .string(row.value),
          ]
          if let origin = row.origin {
            json["file"] = .string(origin.file)
            json["line"] = JSONValue(origin.position.line)
          }
          if let narrowing = row.narrowing {
            json["narrowedBy"] = .string(narrowing.by.file)
            if let line = narrowing.by.line { json["narrowedLine"] = JSONValue(line) }
            json["narrowedFrom"] = .string(narrowing.from)
          }
          return .object(json)
        }),
    ]
  }
}
