internal import AppModel
package import ArgumentParser
internal import Broker
internal import Foundation
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Terminal
internal import Wire

extension AuditCommand {
  /// `ambit audit lint`: the findings about apps and policies.
  package struct Lint: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "lint",
      abstract:
        "Look through apps and policies for contradictions, claims that are too broad, and what can never be used.",
      discussion: """
        Apps are bundles, manifests and entitlements (as `ambit app inspect` reads them), and are held against a policy; \
        policies are names, or files that end in .toml. What is looked at, and what apps are held against, is what this machine's \
        owner leaves of a policy (/etc/ambit/policy.toml), unless --without-machine says otherwise; each value that was made \
        stricter is a note that names both places. Nothing is run.

        Each finding has a name that stays, a place (file, line, key), what it is, and what to do. Errors cannot work, or open \
        nearly everything; warnings open more than is needed, or do not do what they seem to; notes harm nobody.

        EXAMPLES
          ambit audit lint Editor.app
          ambit audit lint Editor.app@strict
          ambit audit lint default ./mine.toml
          ambit audit lint --fail-on error --ignore unknown-key *.app
          ambit audit lint --format json Editor.app |
            jq -r '.findings[] | "\\(.place): \\(.name)"'

        Exit status: 0 if nothing is found at or above --fail-on, 1 if something is.
        """)

    @Option(
      name: .shortAndLong,
      help: "The policy that apps are held against that are named without one (APP@POLICY): a name, or a file.")
    var policy = "default"

    @Option(help: "End with 1 from this severity on: note, warning or error.")
    var failOn: LintFinding.Severity = .warning

    @Option(
      name: .long, parsing: .singleValue,
      help: ArgumentHelp("Leave findings of this name out. As often as you like.", valueName: "name"))
    var ignore: [LintRule] = []

    @Flag(help: "Leave out what this machine's owner takes away from every policy.")
    var withoutMachine = false

    @Option(help: "table, for people; json, one object, for programs.")
    var format: OutputFormat = .table

    @Argument(
      help: ArgumentHelp("Bundles, property lists (- for standard input) and policies.", valueName: "app-or-policy"))
    var subjects: [String]

    package init() {}

    package func run() throws {
      let user = try UserPolicies()
      let library = user.library
      let machines = withoutMachine ? [] : try user.machinePolicies()
      var findings: [LintFinding] = []
      var policies: [String: ResolvedPolicy] = [:]
      for subject in subjects {
        if isPolicy(subject) {
          do throws(PolicyError) {
            let policy = try library.resolve(subject).narrowed(by: machines, memory: MachineMemory.total)
            findings += Review.Lint.findings(policy: policy, faults: policy.policy.faults(user.folders))
          } catch {
            // A name that nothing has is an error of the command line's, and no finding.
            if case .unknownName = error { throw Failure(printable("\(error)")) }
            findings += Review.Lint.findings(error, in: subject)
          }
          continue
        }
        let (app, name) = split(subject)
        do throws(PolicyError) {
          if policies[name] == nil {
            policies[name] = try library.resolve(name).narrowed(by: machines, memory: MachineMemory.total)
          }
        } catch {
          throw Failure(printable("\(error)"))
        }
        findings += try self.findings(of: app, under: policies[name])
      }
      findings.removeAll { ignore.contains($0.rule) }
      switch format {
      case .json: try Output.standard.write(json: LintReport(findings).json.text)
      case .table: try Output.standard.write(LintReport(findings).text(Style(for: 1)))
      }
      if findings.contains(where: { $0.severity >= failOn }) { throw ExitCode(1) }
    }

    /// `Editor.app@strict`, unless that is a file's own name.
    private func split(_ word: String) -> (app: String, policy: String) {
      guard let at = word.lastIndex(of: "@"), at != word.startIndex, word.index(after: at) != word.endIndex,
        !FileManager.default.fileExists(atPath: word)
      else { return (word, policy) }
      return (String(word[..<at]), String(word[word.index(after: at)...]))
    }

    /// A path is a policy's by its ending; any other word without one is a policy's name, unless a file has it.
    private func isPolicy(_ word: String) -> Bool {
      if word == "-" || AppBundle.isBundlePath(word) { return false }
      if word.contains("@"), FileManager.default.fileExists(atPath: split(word).app) { return false }
      if word.hasSuffix(".toml") { return true }
      return !PolicyLibrary.isPath(word) && !FileManager.default.fileExists(atPath: word)
    }

    private func findings(of word: String, under policy: ResolvedPolicy?) throws(Failure) -> [LintFinding] {
      let files: DeclaredFiles
      do throws(AppBundleError) { files = try DeclaredFiles.read(word) } catch {
        if case .bundleMissing = error { throw Failure(printable(error.description), status: 127) }
        return [Review.Lint.finding(error, in: word)]
      }
      let kinds = files.lists.map { (list: $0, kind: ManifestListing.Kind(of: $0)) }
      return Review.Lint.findings(
        manifest: kinds.first { $0.kind == .manifest }?.list,
        entitlements: kinds.first { $0.kind == .entitlements }?.list,
        policy: policy)
    }
  }
}

extension LintFinding.Severity: ExpressibleByArgument {}
extension LintRule: ExpressibleByArgument {}

/// Findings for people and for programs.
struct LintReport {
  let findings: [LintFinding]

  init(_ findings: [LintFinding]) { self.findings = findings }

  private var counts: [(LintFinding.Severity, Int)] {
    LintFinding.Severity.allCases.reversed().map { severity in (severity, findings.count { $0.severity == severity }) }
  }

  func text(_ style: Style) -> String {
    guard !findings.isEmpty else { return "Nothing found.\n" }
    let lines = findings.map { finding in
      let colour: Style.Attribute =
        switch finding.severity {
        case .note: .dim
        case .warning: .yellow
        case .error: .red
        }
      return """
        \(style.bold(printable("\(finding.place)"))): \(style.apply([colour], to: finding.severity.rawValue)): \
        \(printable(finding.what)) \(style.dim("[\(finding.rule.rawValue)]"))
            \(printable(finding.remedy))

        """
    }
    let total = counts.map { "\($1) \($0.rawValue)\($1 == 1 ? "" : "s")" }.joined(separator: ", ")
    return lines.joined() + total + "\n"
  }

  var json: JSONObject {
    var totals = JSONObject()
    for (severity, count) in counts { totals[severity.rawValue] = JSONValue(count) }
    return [
      "findings": .array(findings.map { .object($0.json) }), "counts": .object(totals),
    ]
  }
}

extension LintFinding {
  var json: JSONObject {
    var json: JSONObject = [
      "name": .string(rule.rawValue), "severity": .string(severity.rawValue), "place": .string("\(place)"),
      "file": .string(place.file),
    ]
    if let line = place.line { json["line"] = JSONValue(line) }
    if let key = place.key { json["key"] = .string(key) }
    json["what"] = .string(what)
    json["remedy"] = .string(remedy)
    return json
  }
}
