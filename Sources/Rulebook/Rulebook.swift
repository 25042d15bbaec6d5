/// The catalogue of Ambit's promises, as it was when this program was built.
package enum Rulebook {
  /// Either of the two that a name can mean.
  package enum Match: Equatable, Sendable {
    case family(RuleFamily)
    case rule(Rule, in: RuleFamily)
  }

  /// Every identifier of the catalogue, in its order; families come before their rules.
  package static var identifiers: [String] {
    families.flatMap { [$0.id] + $0.rules.map(\.id) }
  }

  /// The family or the rule of this name, in any case: `PCK`, `pck-9`. `nil`: there is neither.
  package static func named(_ name: String) -> Match? {
    let name = name.uppercased()
    for family in families {
      if family.id == name { return .family(family) }
      if let rule = family.rules.first(where: { $0.id == name }) { return .rule(rule, in: family) }
    }
    return nil
  }
}
