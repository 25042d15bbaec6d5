internal import Policy
internal import Review
internal import Terminal
internal import Wire

/// The changes between two explanations, in words and as JSON.
struct AbilityChangeReport {
  let before: AuditSubject
  let after: AuditSubject
  let difference: Difference
  private let exposures: (before: Exposure, after: Exposure)

  /// - Parameter ground: the system on which each of them would be launched. The features to look for there depend on its policy.
  init(from before: AuditSubject, to after: AuditSubject, on ground: (AuditSubject) -> Ground) {
    self.before = before
    self.after = after
    let (old, new) = (before.explanation(on: ground(before)), after.explanation(on: ground(after)))
    difference = Difference(from: old, to: new)
    exposures = (Exposure(old), Exposure(new))
  }

  // MARK: For people

  /// - Parameter width: columns of the terminal; `nil`: nothing is cut.
  func text(_ style: Style, width: Int?) -> String {
    var text = "from  " + style.bold(printable(before.title)) + "\nto    " + style.bold(printable(after.title)) + "\n\n"
    if difference.isEmpty { return text + "Nothing changes in what an app can do.\n" }
    let table = DecisionTable(
      [
        .init("", minWidth: 1), .init("it can", minWidth: 36, maxWidth: 64), .init("before", minWidth: 8),
        .init("after", minWidth: 8),
      ], style: style, width: width)
    text += table.text(
      Difference.Kind.allCases.map { kind in
        (
          title: Self.title(kind),
          rows: Self.lines(difference.changes.filter { $0.kind == kind }).map {
            (cells: row(kind, $0), decisions: $0[0].decisions.words(ofSeveral: $0.count > 1))
          }
        )
      })
    let (old, new) = (exposures.before, exposures.after)
    return text + "\n" + style.bold("Exposure") + " \(Exposure.text(old.tenths)) "
      + style.apply([ExplanationReport.level(old.level).1], to: ExplanationReport.level(old.level).0)
      + " → \(Exposure.text(new.tenths)) "
      + style.apply([ExplanationReport.level(new.level).1], to: ExplanationReport.level(new.level).0) + "\n"
  }

  /// Changes that differ in their subject alone, together.
  private static func lines(_ changes: [Difference.Change]) -> [[Difference.Change]] {
    changes.reduce(into: []) { lines, change in
      if let last = lines.indices.last, let other = lines[last].first, other.ability.verb == change.ability.verb,
        other.except.isEmpty, change.except.isEmpty, other.before == change.before, other.after == change.after,
        other.manners == (nil, nil), change.manners == (nil, nil)
      {
        lines[last].append(change)
      } else {
        lines.append([change])
      }
    }
  }

  private func row(_ kind: Difference.Kind, _ changes: [Difference.Change]) -> [Table.Cell] {
    let (mark, colour) = Self.mark(kind)
    let first = changes[0]
    return [
      Table.Cell(mark, colour), Table.Cell(Self.phrase(changes)),
      Table.Cell(Self.how(first.ability.verb, first.before, first.manners.before)),
      Table.Cell(Self.how(first.ability.verb, first.after, first.manners.after), colour),
    ]
  }

  private static func phrase(_ changes: [Difference.Change]) -> String {
    let first = changes[0]
    let phrase = first.ability.verb.phrase(of: changes.map(\.ability.subject).filter { !$0.isEmpty })
    return first.except.isEmpty ? phrase : "\(phrase), but for \(first.except.joined(separator: ", "))"
  }

  private static func how(_ verb: Ability.Verb, _ extent: Extent, _ manner: String?) -> String {
    guard let manner else { return verb.text(extent) }
    return verb == .givenVariable ? manner : "\(verb.text(extent)): \(manner)"
  }

  private static func mark(_ kind: Difference.Kind) -> (String, Style.Attribute) {
    switch kind {
    case .possible: ("+", .red)
    case .more: ("↑", .red)
    case .otherwise: ("~", .yellow)
    case .less: ("↓", .green)
    case .impossible: ("−", .green)
    }
  }

  private static func title(_ kind: Difference.Kind) -> String {
    switch kind {
    case .possible: "Becomes possible"
    case .more: "Goes further"
    case .otherwise: "Happens otherwise"
    case .less: "Goes less far"
    case .impossible: "Becomes impossible"
    }
  }

  // MARK: For programs

  var json: JSONObject {
    [
      "before": .object(Self.json(before, exposures.before)), "after": .object(Self.json(after, exposures.after)),
      "changes": .array(difference.changes.map { .object(Self.json($0)) }), "widens": .bool(difference.widens),
    ]
  }

  private static func json(_ subject: AuditSubject, _ exposure: Exposure) -> JSONObject {
    var json: JSONObject = [
      "policy": .string(subject.policy.name), "exposure": .double(Double(exposure.tenths) / 10),
      "level": .string(exposure.level.rawValue),
    ]
    if let app = subject.app {
      json["app"] = .string(app.name)
      json["identifier"] = .string(app.identifier)
    }
    return json
  }

  private static func json(_ change: Difference.Change) -> JSONObject {
    var json: JSONObject = [
      "change": .string(change.kind.rawValue), "group": .string(change.ability.verb.group.rawValue),
      "ability": .string(change.ability.verb.rawValue), "words": .string(phrase([change])),
      "before": .object(Self.json(change.ability.verb, change.before, change.manners.before)),
      "after": .object(Self.json(change.ability.verb, change.after, change.manners.after)),
      "decisions": .array(change.decisions.map { .object(ExplanationReport.json($0)) }),
    ]
    if !change.ability.subject.isEmpty { json["subject"] = .string(change.ability.subject) }
    if !change.except.isEmpty { json["except"] = .array(change.except.map { .string($0) }) }
    return json
  }

  private static func json(_ verb: Ability.Verb, _ extent: Extent, _ manner: String?) -> JSONObject {
    var json: JSONObject = ["extent": .string(extent.name)]
    if let amount = extent.amount {
      json["amount"] = JSONValue(amount)
      json["unit"] = .string(verb.unit.rawValue)
    }
    json.set("manner", manner)
    return json
  }
}
