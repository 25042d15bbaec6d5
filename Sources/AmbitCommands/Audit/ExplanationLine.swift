internal import Policy
internal import Review
internal import Terminal

/// One line of an explanation: entries that differ in their subject alone are one.
struct ExplanationLine {
  private let entries: [Explanation.Entry]

  /// - Parameter entries: not empty; of one verb, extent and decision.
  init(_ entries: [Explanation.Entry]) { self.entries = entries }

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
    return groups.map { ExplanationLine($0) }
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

  func has(_ ability: Ability) -> Bool { entries.contains { $0.ability == ability } }

  /// ✗ for an ability that exposes, ◐ for one that exposes in part, ✓ for one that does not.
  var mark: (String, Style.Attribute) {
    switch entries[0].extent {
    case .no: ("✓", .green)
    case _ where verb.weight == 0 || entries.allSatisfy(\.isByDesign): ("·", .dim)
    case .ifAllowed, .ifAsked, .upTo: ("◐", .yellow)
    case .yes: ("✗", .red)
    }
  }

  var isClosed: Bool { entries[0].extent == .no }

  var extent: String { verb.text(entries[0].extent) }

  var phrase: String {
    var text = verb.phrase(of: entries.map(\.ability.subject).filter { !$0.isEmpty })
    let except = entries[0].except
    if !except.isEmpty { text += ", but for \(except.joined(separator: ", "))" }
    if let manner = entries[0].manner { text += verb == .givenVariable ? " = \(manner)" : ": \(manner)" }
    return text
  }

  var sentence: String { "\(phrase): \(extent)" }

  var decisions: String { entries[0].decisions.words(ofSeveral: entries.count > 1) }
}

extension [Decision] {
  /// In one line.
  ///
  /// - Parameter several: about several elements of one list; then the list is named, and no element.
  func words(ofSeveral several: Bool) -> String {
    map { decision in
      if several, case .policy(let origin) = decision {
        return "\(origin.file):\(origin.position.line) \(origin.key)"
      }
      return decision.words
    }
    .joined(separator: "; ")
  }
}
