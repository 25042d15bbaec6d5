internal import AppModel
internal import Broker
internal import Kernel
internal import Policy
internal import Sandbox
internal import ScopedAccess
internal import Seccomp
internal import Terminal
internal import Wire

/// A planned launch in words, and as JSON.
struct PlanReport {
  private let planned: PlannedLaunch
  private let layers: LayerRows
  private var plan: SandboxPlan { planned.plan }

  private let documents: [DocumentFolder]

  init(_ planned: PlannedLaunch, _ report: LayerReport, _ documents: [DocumentFolder]) {
    self.planned = planned
    self.documents = documents
    layers = LayerRows(report: report, required: planned.capabilities.requiredLayers)
  }

  // MARK: For people

  /// - Parameter width: columns of the terminal; `nil`: nothing is wrapped.
  func text(_ style: Style, width: Int?) -> String {
    var lines: [String] = []
    func section(_ title: String, _ rows: [(String, String)]) {
      lines.append(style.bold(title))
      let width = rows.map(\.0.count).max() ?? 0
      for (name, value) in rows {
        lines.append("  " + style.dim(name.padding(to: width)) + "  " + value)
      }
      lines.append("")
    }
    section("App", app)
    if !planned.capabilities.narrowings.isEmpty { section("Less than its policy says", narrowings) }
    lines.append(style.bold("What it sees"))
    lines += RootTree(plan, style: style).lines.map { "  " + $0 }
    lines.append("")
    lines.append(style.bold("Documents"))
    lines += documents.flatMap { documentLines($0, style, width: width) }
    lines.append("")
    lines.append(style.bold("Layers"))
    lines += layers.lines(style, width: width).map { "  " + $0 }
    lines.append("")
    section("Filter", filter)
    for foreign in planned.foreign { section("And a profile", profile(foreign)) }
    section("Limits", limits)
    section("Environment", plan.environment.sorted { $0.key < $1.key }.map { ($0.key, printable($0.value)) })
    return lines.joined(separator: "\n")
  }

  private var app: [(String, String)] {
    let mapping = Namespaces.isHostRoot ? "an unprivileged host id of its own" : "your own id"
    return [
      ("identifier", printable(planned.identifier)), ("lies at", printable(planned.place)),
      ("policy", printable(planned.capabilities.policyName)),
      ("runs", printable(plan.arguments.joined(separator: " "))), ("in", plan.directory),
      ("as", "\(plan.insideID) inside, \(mapping) outside; no capabilities, no new privileges"),
      ("namespaces", plan.namespaces.names.joined(separator: ", ")),
      ("network", plan.network.words),
    ] + entitlements + [
      ("scopes", "\(planned.capabilities.scopeLimit) at a time"),
      ("programs", programs),
      ("observer", planned.capabilities.observe ? "sees and records what is refused" : "off"),
    ]
  }

  /// The entitlements that widen the app's rights, if it declares any.
  private var entitlements: [(String, String)] {
    let ruling = planned.ruling
    guard !ruling.given.widening.isEmpty || !ruling.withheld.isEmpty else { return [] }
    var parts: [String] = []
    func note(_ names: [String], _ what: String) {
      if !names.isEmpty { parts.append("\(names.joined(separator: ", ")) \(what)") }
    }
    note(ruling.given.widening.map(\.shortName), "given")
    note(ruling.withheld.map(\.shortName), "not given")
    note(ruling.undecided.map(\.noun), "asked about at the launch (--allow-entitlement allows it)")
    return [("entitlements", parts.joined(separator: "; "))]
  }

  private func documentLines(_ folder: DocumentFolder, _ style: Style, width: Int?) -> [String] {
    let what = folder.method.map { "\($0.words) (\(folder.fileSystem))" } ?? folder.failure
    let cost = folder.cost.map { wrapped($0, to: width.map { max(20, $0 - 4) }) } ?? []
    return ["  " + style.dim("in " + printable(folder.path)) + "  " + printable(what)]
      + cost.map { "    " + style.dim($0) }
  }

  /// The settings that machine-wide policies have narrowed.
  private var narrowings: [(String, String)] {
    planned.capabilities.narrowings.map {
      ($0.field, printable("\($0.to), and not \($0.from): the machine-wide policy \($0.file)"))
    }
  }

  /// Where, besides the system and its own bundle, it can run programs from.
  private var programs: String {
    switch (planned.capabilities.execute, planned.capabilities.executesPicked) {
    case (false, false): "of the system and its bundle only"
    case (true, false): "also those in its container and tmp; none in what the user picks"
    case (false, true): "also those in what the user picks; none in its container and tmp"
    case (true, true): "also those in its container, its tmp and what the user picks"
    }
  }

  private var filter: [(String, String)] {
    planned.filter.groups.map { group in
      let calls = Set(group.rules.map(\.call)).count
      return (group.name, "\(calls) \(calls == 1 ? "call" : "calls"): \(group.reason)")
    } + [("anything else", planned.filter.otherwise.sentence)]
  }

  /// Not entry by entry: `ambit seccomp explain` does that.
  private func profile(_ foreign: ForeignSeccomp) -> [(String, String)] {
    let summary = ProfileSummary(foreign.evaluated)
    return [("file", printable(foreign.file))] + summary.rows.map { ($0.name, $0.text) } + [
      ("together", "of the filter and each profile the strictest decides, call by call")
    ]
  }

  /// The limits of the whole app, and those of each of its processes.
  private var limits: [(String, String)] { usage + plan.limits.map { ($0.kind.rawValue, "\($0.value) each") } }

  private var usage: [(String, String)] {
    let usage = plan.usage
    let amounts: [(LimitExcess.Limit, Int?)] = [
      (.memory, usage.memory), (.cpuTime, usage.cpuTime), (.wallTime, usage.wallTime), (.container, usage.container),
      (.containerFiles, usage.containerFiles),
    ]
    return amounts.compactMap { limit, value in value.map { (limit.key, LimitExcess.text(limit, $0)) } }
      + (usage.processors.map { [("processors", "\(Double($0) / 1000)")] } ?? [])
  }

  private var usageJSON: JSONObject {
    let usage = plan.usage
    var json: JSONObject = ["cgroup": .bool(usage.wantsGroup)]
    json.set("memory", usage.memory)
    json.set("cpu_time", usage.cpuTime)
    json.set("wall_time", usage.wallTime)
    json.set("container", usage.container)
    json.set("container_files", usage.containerFiles)
    if let processors = usage.processors { json["processors"] = .double(Double(processors) / 1000) }
    return json
  }

  // MARK: For programs

  var json: JSONObject {
    [
      "identifier": .string(planned.identifier), "policy": .string(planned.capabilities.policyName),
      "program": .string(plan.program), "arguments": .array(plan.arguments.map { .string($0) }),
      "directory": .string(plan.directory), "insideID": JSONValue(Int(plan.insideID)),
      "namespaces": .array(plan.namespaces.names.map { .string($0) }),
      "scopeLimit": JSONValue(planned.capabilities.scopeLimit), "observe": .bool(planned.capabilities.observe),
      "entitlements": .object([
        "given": .array(planned.ruling.given.widening.map { .string($0.key) }),
        "withheld": .array(planned.ruling.withheld.map { .string($0.key) }),
        "asked": .array(planned.ruling.undecided.map { .string($0.rawValue) }),
        "refused": .array(planned.ruling.refused.map { .string($0.rawValue) }),
      ]),
      "execute": .bool(planned.capabilities.execute), "executePicked": .bool(planned.capabilities.executesPicked),
      "root": .array(plan.root.map { .object(Self.json($0)) }), "layers": layers.json,
      "documents": .array(documents.map { .object(Self.json($0)) }),
      "filter": .object([
        "groups": .array(
          planned.filter.groups.map { group in
            .object([
              "name": .string(group.name), "reason": .string(group.reason),
              "calls": .array(Set(group.rules.map(\.call)).sorted().map { .string($0) }),
            ])
          }), "otherwise": .string(planned.filter.otherwise.sentence),
      ]),
      "profiles": .array(
        planned.foreign.map {
          .object(["file": .string($0.file), "summary": .object(ProfileSummary($0.evaluated).json)])
        }),
      "limits": .object(
        JSONObject(Dictionary(uniqueKeysWithValues: plan.limits.map { ($0.kind.rawValue, "\($0.value)") }))),
      "usage": .object(usageJSON),
      "environment": .object(JSONObject(plan.environment)),
      "narrowed": .array(
        planned.capabilities.narrowings.map {
          .object([
            "field": .string($0.field), "from": .string($0.from), "to": .string($0.to), "file": .string($0.file),
          ])
        }),
    ]
  }

  private static func json(_ folder: DocumentFolder) -> JSONObject {
    var json: JSONObject = ["path": .string(folder.path), "fileSystem": .string(folder.fileSystem)]
    json.set("method", folder.method?.rawValue)
    json.set("cost", folder.cost)
    if folder.method == nil { json["failure"] = .string(folder.failure) }
    return json
  }

  private static func json(_ entry: SandboxPlan.Entry) -> JSONObject {
    var json: JSONObject = ["path": .string(entry.path)]
    switch entry {
    case .directory: json["kind"] = "directory"
    case .link(_, let target):
      json["kind"] = "link"
      json["to"] = .string(target)
    case .file: json["kind"] = "file"
    case .bind(_, let source, _, let attributes):
      json["kind"] = "bind"
      json["from"] = .string(source)
      json["attributes"] = .array(attributes.names.map { .string($0) })
    case .temporary(_, _, let size, let inodes, let attributes):
      json["kind"] = "tmpfs"
      json["size"] = .string(size)
      json["inodes"] = .string(inodes)
      json["attributes"] = .array(attributes.names.map { .string($0) })
    case .documents: json["kind"] = "documents"
    case .processes: json["kind"] = "proc"
    case .terminals: json["kind"] = "devpts"
    case .listener: json["kind"] = "socket"
    case .masked: json["kind"] = "masked"
    case .readOnly: json["kind"] = "readOnly"
    }
    return json
  }
}

extension String {
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
