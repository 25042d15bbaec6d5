internal import ArgumentParser
internal import Broker
internal import Foundation
internal import Launcher
internal import Policy
internal import Sandbox
internal import Terminal
internal import Wire

/// `ambit policy check`.
struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look for mistakes in policies, and for what has no effect.",
    discussion: """
      Each file is read as a launch would read it, with everything that it inherits. A mistake is named with its file, \
      line and column, and with what was expected. A field that this version knows and does not carry out is a \
      warning.

        ambit policy check mine.toml
        ambit policy check --machine /etc/ambit/policy.toml
        ambit policy check ~/.config/ambit/policies/*.toml && echo fine

      Exit status: 0 if nothing is wrong, 1 if something is; warnings are nothing wrong.
      """)

  @Flag(help: "Check them as machine-wide policies, which may say less.")
  var machine = false

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  @Argument(help: "Files, or names of policies.")
  var file: [String]

  func run() throws {
    let policies = try UserPolicies()
    let findings = file.map { PolicyFinding($0, in: policies, asMachine: machine) }
    switch format {
    case .json:
      try Output.standard.write(json: (["policies": .array(findings.map { .object($0.json) })] as JSONObject).text)
    case .table:
      let style = Style(for: 1)
      try Output.standard.write(findings.map { $0.text(style) }.joined())
    }
    if findings.contains(where: { !$0.faults.isEmpty }) { throw ExitCode(1) }
  }
}

/// The findings about one policy.
struct PolicyFinding {
  let file: String
  let faults: [String]
  let warnings: [String]

  init(_ file: String, in policies: UserPolicies, asMachine: Bool) {
    self.file = file
    do throws(PolicyError) {
      let resolved = try policies.library.resolve(file)
      if asMachine { _ = try MachinePolicy(contentsOf: resolved) }
      let origins = PolicyOrigins(of: resolved)
      func place(_ field: String) -> String {
        origins[field].map { "\($0.file):\($0.position.line): " } ?? ""
      }
      // The policy itself is in order; the files that it names may come later, or be on another machine.
      let faults = resolved.policy.faults(policies.folders).map { fault in
        "\(place(fault.field))no app can be launched under it here. \(fault.what)"
      }
      let unmet = resolved.policy.settings.unmetRequirements.map { unmet in
        "\(place("require.layers"))\(unmet.layer.rawValue) is required to hold in full, and \(unmet.reason): no app can be "
          + "launched under it without \(unmet.ways)."
      }
      // The policy itself is in order; the files that it names may come later, or be on another machine.
      warnings = faults + unmet
      self.faults = []
    } catch {
      faults = if case .invalid(let found) = error { found.all.map(\.description) } else { ["\(error)"] }
      warnings = []
    }
  }

  func text(_ style: Style) -> String {
    if !faults.isEmpty { return faults.map { style.apply([.red], to: "✗") + "  \(printable($0))\n" }.joined() }
    return style.apply([.green], to: "✓") + "  \(printable(file))\n"
      + warnings.map { style.apply([.yellow], to: "◐") + "  \(printable($0))\n" }.joined()
  }

  var json: JSONObject {
    [
      "policy": .string(file), "errors": .array(faults.map { .string($0) }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}
