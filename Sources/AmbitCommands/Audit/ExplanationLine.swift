internal import Policy
internal import Review
internal import Terminal

/// One line of an explanation: entries that differ in their subject alone are one.
struct ExplanationLine {
  private let entries: [Explanation.Entry]
  let isFirst: Bool

  /// - Parameter entries: not empty; of one verb, extent and decision.
  init(_ entries: [Explanation.Entry], isFirst: Bool = true) {
    self.entries = entries
    self.isFirst = isFirst
  }

  /// - Parameter entries: of whole verbs, together.
  static func lines(_ entries: [Explanation.Entry]) -> [ExplanationLine] {
    var groups: [[Explanation.Entry]] = []
    for entry in entries {
      if let last = groups.indices.last, let other = groups[last].first, isLike(other, entry) {
        groups[last].append(entry)
      } else {
        groups.append([entry])
      }
    }
    var seen: Set<Ability.Verb> = []
    return groups.compactMap { group in
      guard let first = group.first else { return nil }
      return ExplanationLine(group, isFirst: seen.insert(first.ability.verb).inserted)
    }
  }

  private static func isLike(_ left: Explanation.Entry, _ right: Explanation.Entry) -> Bool {
    guard left.ability.verb == right.ability.verb, left.extent == right.extent, left.except == right.except else {
      return false
    }
    return left.manner == right.manner && left.decisions.map(place) == right.decisions.map(place)
  }

  /// Elements of one list may stand on lines of their own.
  private static func place(_ decision: Decision) -> String {
    if case .policy(let origin) = decision { return "\(origin.file) \(origin.key)" }
    return decision.words
  }

  var verb: Ability.Verb { entries[0].ability.verb }

  /// ✗ for what exposes, ◐ for what does in part, ✓ for what does not.
  var mark: (String, Style.Attribute) {
    switch entries[0].extent {
    case .no: ("✓", .green)
    case _ where verb.weight == 0 || entries.allSatisfy(\.isByDesign): ("·", .dim)
    case .ifAsked, .upTo: ("◐", .yellow)
    case .yes: ("✗", .red)
    }
  }

  var extent: String { verb.text(entries[0].extent) }

  var phrase: String {
    var text = verb.phrase(of: entries.map(\.ability.subject).filter { !$0.isEmpty })
    let except = entries[0].except
    if !except.isEmpty { text += ", but for \(except.joined(separator: ", "))" }
    if let manner = entries[0].manner { text += verb == .givenVariable ? " = \(manner)" : ": \(manner)" }
    return text
  }

  var sentence: String { "\(phrase): \(extent)" }

  /// Of several elements of one list only the list is named.
  var decisions: String {
    entries[0].decisions.map { decision in
      if entries.count > 1, case .policy(let origin) = decision {
        return "\(origin.file):\(origin.position.line) \(origin.key)"
      }
      return decision.words
    }
    .joined(separator: "; ")
  }
}
