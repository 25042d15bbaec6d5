internal import AppModel
internal import Policy
internal import Review
internal import Sandbox
internal import Terminal
internal import Wire

/// An explanation in words, and as JSON.
struct ExplanationReport {
  let subject: AuditSubject
  let explanation: Explanation
  let exposure: Exposure

  init(_ subject: AuditSubject, on ground: Ground) {
    self.subject = subject
    explanation = subject.explanation(on: ground)
    exposure = Exposure(explanation)
  }

  // MARK: For people

  /// - Parameter width: columns of the terminal; `nil`: nothing is cut.
  func text(_ style: Style, width: Int?) -> String {
    var text = style.bold(printable(subject.title))
    if let app = subject.app { text += style.dim("  \(printable(app.identifier))") }
    if let files = subject.files {
      text += style.dim("\n\(printable(files.path))  sha256 \(files.digest)")
    }
    text += "\n" + policyLine(style) + "\n"
    let table = DecisionTable(
      [
        .init("", minWidth: 1), .init("it can", minWidth: 40, maxWidth: 64), .init("how far", minWidth: 8),
        .init("exposure", alignment: .trailing, minWidth: 8),
      ], style: style, width: width)
    let groups = Ability.Group.allCases.map { group in
      (
        title: group.title,
        rows: ExplanationLine.lines(explanation.entries.filter { $0.ability.verb.group == group }).map {
          (cells: row($0), decisions: $0.decisions)
        }
      )
    }
    return text + "\n" + table.text(groups) + "\n" + summary(style)
  }

  private func policyLine(_ style: Style) -> String {
    let lineage = subject.policy.lineage.map { printable($0) }.joined(separator: " ← ")
    return style.dim(lineage) + (subject.policy.description.map { style.dim("  \(printable($0))") } ?? "")
  }

  private func row(_ line: ExplanationLine) -> [Table.Cell] {
    let (mark, colour) = line.mark
    // Of a verb that has several lines, the one has the points that they come of.
    let part = exposure[line.verb].flatMap { line.has($0.ability) ? $0 : nil }
    let points = part.flatMap { $0.tenths > 0 ? Exposure.text($0.tenths) : nil } ?? ""
    return [
      Table.Cell(mark, colour), Table.Cell(line.phrase), Table.Cell(line.extent, colour),
      Table.Cell(points, colour),
    ]
  }

  private func summary(_ style: Style) -> String {
    let (word, colour) = Self.level(exposure.level)
    var text =
      style.bold("Exposure \(Exposure.text(exposure.tenths)) of 100: ") + style.apply([colour], to: word) + "\n"
    let remedies = exposure.remedies.prefix(5)
    guard !remedies.isEmpty else { return text }
    text += "What would lower it most:\n"
    for (remedy, tenths) in remedies {
      let points = "−\(Exposure.text(tenths))"
      text += "  " + String(repeating: " ", count: max(0, 6 - points.count)) + points + "  \(remedy)\n"
    }
    return text
  }

  static func level(_ level: Exposure.Level) -> (String, Style.Attribute) {
    switch level {
    case .tight: ("tight", .green)
    case .moderate: ("moderate", .cyan)
    case .exposed: ("exposed", .yellow)
    case .open: ("wide open", .red)
    }
  }

  // MARK: For programs

  var json: JSONObject {
    var json: JSONObject = [
      "policy": .object([
        "name": .string(subject.policy.name),
        "files": .array(subject.policy.lineage.map { .string($0) }),
      ]),
      "exposure": .object(Self.json(exposure)), "abilities": .array(explanation.entries.map { .object(Self.json($0)) }),
    ]
    if let app = subject.app {
      var description: JSONObject = [
        "name": .string(app.name), "identifier": .string(app.identifier),
        "version": app.manifest?.version.map { .string($0) } ?? .null,
      ]
      description.set("path", subject.files?.path)
      description.set("digest", subject.files?.digest.description)
      json["app"] = .object(description)
    }
    return json
  }

  static func json(_ exposure: Exposure) -> JSONObject {
    [
      "score": .double(Double(exposure.tenths) / 10), "of": JSONValue(100), "level": .string(exposure.level.rawValue),
      "parts": .array(
        exposure.parts.map { part in
          .object([
            "ability": .string(part.verb.rawValue), "points": .double(Double(part.tenths) / 10),
            "weight": JSONValue(part.weight), "remedy": part.remedy.map { .string($0) } ?? .null,
          ])
        }),
    ]
  }

  static func json(_ entry: Explanation.Entry) -> JSONObject {
    var json: JSONObject = [
      "group": .string(entry.ability.verb.group.rawValue), "ability": .string(entry.ability.verb.rawValue),
      "extent": .string(entry.extent.name), "words": .string(ExplanationLine([entry]).sentence),
      "decisions": .array(entry.decisions.map { .object(Self.json($0)) }),
    ]
    if !entry.ability.subject.isEmpty { json["subject"] = .string(entry.ability.subject) }
    if let amount = entry.extent.amount {
      json["amount"] = JSONValue(amount)
      json["unit"] = .string(entry.ability.verb.unit.rawValue)
    }
    if !entry.except.isEmpty { json["except"] = .array(entry.except.map { .string($0) }) }
    json.set("manner", entry.manner)
    return json
  }

  static func json(_ decision: Decision) -> JSONObject {
    var json: JSONObject = ["by": .string(decision.kind), "words": .string(decision.words)]
    switch decision {
    case .policy(let origin):
      json["file"] = .string(origin.file)
      json["line"] = JSONValue(origin.position.line)
      json["column"] = JSONValue(origin.position.column)
      json["key"] = .string(origin.key)
      json["value"] = .string(origin.value)
    case .machine(let narrowing):
      json["file"] = .string(narrowing.file)
      if let line = narrowing.line { json["line"] = JSONValue(line) }
      json["key"] = .string(narrowing.field)
      json["from"] = .string(narrowing.from)
      json["value"] = .string(narrowing.to)
    case .unsaid(let key): json["key"] = .string(key)
    case .manifest(let file, let key, let line), .entitlement(let file, let key, let line):
      json["file"] = .string(file)
      if let line { json["line"] = JSONValue(line) }
      json["key"] = .string(key)
    case .notAsked(let keys): json["keys"] = .array(keys.map { .string($0) })
    case .ambit(let rule): json["rule"] = .string(rule)
    case .kernel(let layer, let enforcement):
      json["layer"] = .string(layer.rawValue)
      json["enforcement"] = .string(enforcement.name)
      json.set("reason", enforcement.reason)
    }
    return json
  }
}
