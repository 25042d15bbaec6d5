internal import ArgumentParser
internal import Policy
internal import Rulebook
package import Terminal
package import Wire

/// Rules of the catalogue, as they were asked for.
package struct CatalogueReport {
  private typealias Entry = (rule: Rule, family: RuleFamily)

  private let entries: [Entry]
  /// A single rule was asked for by its own name: it is shown with everything that the catalogue has of it.
  private let isOneRule: Bool

  /// - Parameters:
  ///   - names: rules and families, in any case; none: the whole catalogue. A rule that is named twice is there once.
  ///   - onlyPlanned: rules that are in force are left out.
  /// - Throws: `ValidationError` for names that are not in the catalogue, with the nearest ones.
  package init(_ names: [String], onlyPlanned: Bool = false) throws {
    var entries: [Entry] = []
    var seen: Set<String> = []
    var unknown: [String] = []
    var families = 0
    func add(_ rule: Rule, _ family: RuleFamily) {
      if !(onlyPlanned && rule.state == .inForce), seen.insert(rule.id).inserted { entries.append((rule, family)) }
    }
    for name in names.isEmpty ? Rulebook.families.map(\.id) : names {
      switch Rulebook.named(name) {
      case .family(let family):
        families += 1
        for rule in family.rules { add(rule, family) }
      case .rule(let rule, let family): add(rule, family)
      case nil: unknown.append(name)
      }
    }
    guard unknown.isEmpty else { throw ValidationError(unknown.map(Self.complaint).joined(separator: "\n")) }
    self.entries = entries
    isOneRule = families == 0 && entries.count == 1
  }

  package var json: JSONObject {
    [
      "rules": .array(
        entries.map { rule, family in
          [
            "rule": .string(rule.id), "family": .string(family.id), "statement": .string(rule.statement),
            "source": .string(rule.source), "strength": .string(rule.strength.rawValue),
            "state": .string(rule.state.rawValue),
          ]
        })
    ]
  }

  /// - Parameter width: columns of the terminal; `nil`: nothing is wrapped, and each rule of a list has one line.
  package func text(_ style: Style, width: Int?) -> String {
    if isOneRule, let (rule, family) = entries.first { return Self.whole(rule, family, style, width) }
    if entries.isEmpty { return "All of these rules are in force.\n" }
    let idWidth = entries.reduce(0) { max($0, $1.rule.id.count) }
    let stateWidth = Rule.State.allCases.reduce(0) { max($0, $1.words.count) }
    var text = ""
    var family = ""
    for entry in entries {
      // A pipe gets nothing but rules, a line each.
      if width != nil, entry.family.id != family {
        text += (text.isEmpty ? "" : "\n") + style.bold("\(entry.family.id): \(entry.family.title)") + "\n"
      }
      family = entry.family.id
      let indent = idWidth + 2 + stateWidth + 2
      for (index, line) in wrapped(entry.rule.statement, to: width.map { max(20, $0 - indent) }).enumerated() {
        text +=
          index > 0
          ? String(repeating: " ", count: indent)
          : style.cyan(entry.rule.id) + Self.blanks(idWidth - entry.rule.id.count + 2)
            + Self.state(entry.rule, style) + Self.blanks(stateWidth - entry.rule.state.words.count + 2)
        text += line + "\n"
      }
    }
    return text
  }

  /// Everything that the catalogue has of a rule.
  private static func whole(_ rule: Rule, _ family: RuleFamily, _ style: Style, _ width: Int?) -> String {
    var text = "\(style.bold(rule.id)), \(family.title): \(state(rule, style))\n\n"
    for line in wrapped(rule.statement, to: width.map { max(20, $0 - 2) }) { text += "  \(line)\n" }
    let label = "  Source: "
    let source = "\(rule.source) (\(rule.strength.rawValue): \(rule.strength.words))"
    for (index, line) in wrapped(source, to: width.map { max(20, $0 - label.count) }).enumerated() {
      text += index == 0 ? "\n\(style.dim(label))\(line)\n" : "\(blanks(label.count))\(line)\n"
    }
    return text
  }

  private static func state(_ rule: Rule, _ style: Style) -> String {
    rule.state == .inForce ? style.green(rule.state.words) : style.yellow(rule.state.words)
  }

  private static func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

  /// That there is no such rule, and which ones may have been meant.
  private static func complaint(_ name: String) -> String {
    let nearest = nearest(to: name)
    let hint = nearest.isEmpty ? "“ambit rule” lists the families." : "Did you mean \(alternatives(nearest))?"
    return "The catalogue has no rule \(printable(name)). \(hint)"
  }

  private static func alternatives(_ names: [String]) -> String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
  }

  /// At most three identifiers that are equally near: rules for a name with a digit, else families. Those of the same family come
  /// first, and of a family the last ones: a number beyond its end is likely a new one.
  package static func nearest(to name: String) -> [String] {
    // A word that long is no slip of the finger, and its distance is not worth its square in time.
    guard name.unicodeScalars.count <= 16 else { return [] }
    let word = name.uppercased()
    let family = word.prefix { $0.isLetter }
    let isRule = word.contains { $0.isNumber }
    let candidates = Rulebook.identifiers.enumerated().filter { $0.element.contains { $0.isNumber } == isRule }
      .map { place, id in
        (distance: editDistance(word, id), other: id.prefix { $0.isLetter } == family ? 0 : 1, place: -place, id: id)
      }
    guard let least = candidates.map(\.distance).min(), least <= word.count / 2 else { return [] }
    return candidates.filter { $0.distance == least }
      .sorted { ($0.other, $0.place) < ($1.other, $1.place) }
      .prefix(3).map(\.id)
  }
}
