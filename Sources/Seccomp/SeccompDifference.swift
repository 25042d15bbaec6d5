/// How two profiles treat a call differently.
package struct SeccompDifference: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The first never lets it through, the second does, at least with some arguments.
    case possible
    /// The other way round.
    case impossible
    /// Both may let it through, or neither does, and not in the same way.
    case other
  }

  package let call: String
  package let kind: Kind
  package let before: SeccompProfile.Explanation
  package let after: SeccompProfile.Explanation

  /// Of these calls those that come out differently: the newly possible, the newly impossible, and the rest, each by name.
  package static func between(_ first: SeccompProfile, _ second: SeccompProfile, calls: [String]) -> [SeccompDifference]
  {
    let found = Set(calls).sorted().compactMap { call -> SeccompDifference? in
      let (before, after) = (first.explanation(of: call), second.explanation(of: call))
      guard before.decision != after.decision else { return nil }
      let kind: Kind =
        switch (before.canPass, after.canPass) {
        case (false, true): .possible
        case (true, false): .impossible
        default: .other
        }
      return SeccompDifference(call: call, kind: kind, before: before, after: after)
    }
    return Kind.allCases.flatMap { kind in found.filter { $0.kind == kind } }
  }
}

extension SeccompProfile.Explanation {
  /// The deciding rules, without their places in the file: equal for profiles that treat the call in the same way and say
  /// so in the same comparisons.
  fileprivate var decision: Decision {
    let always = parts.filter(\.conditions.isEmpty).map(\.action).min { $0.rank < $1.rank }
    let conditional = parts.filter { !$0.conditions.isEmpty && $0.action.rank < always?.rank ?? .max }
    return Decision(
      rules: Set(conditional.map { SeccompRule(call, $0.action, $0.conditions) }), otherwise: always ?? otherwise)
  }

  fileprivate struct Decision: Equatable {
    let rules: Set<SeccompRule>
    let otherwise: SeccompAction
  }
}
