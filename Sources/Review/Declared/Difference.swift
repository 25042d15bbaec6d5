internal import Paths

/// The change of an app's abilities from one explanation to another, regardless of the lines that state them.
///
/// A folder inside one that was open before is not new. If a folder closes, the parts that stay open are named.
package struct Difference: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable, Codable {
    /// It was impossible and is possible.
    case possible
    /// It goes further than before.
    case more
    /// It goes as far as before, in another way.
    case otherwise
    /// It goes less far than before.
    case less
    /// It was possible and is impossible.
    case impossible

    /// Whether an app can do more by it.
    package var widens: Bool { self == .possible || self == .more }

    package var mirrored: Kind {
      switch self {
      case .possible: .impossible
      case .more: .less
      case .otherwise: .otherwise
      case .less: .more
      case .impossible: .possible
      }
    }
  }

  package struct Change: Equatable, Sendable {
    package let kind: Kind
    package let ability: Ability
    /// The parts of the subject that do not change.
    package let except: [String]
    package let before: Extent
    package let after: Extent
    /// How it happened, and how it will, where that has several ways.
    package let manners: (before: String?, after: String?)
    /// The decisions about the new ability, or about its end.
    package let decisions: [Decision]

    package static func == (left: Change, right: Change) -> Bool {
      left.kind == right.kind && left.ability == right.ability && left.except == right.except
        && left.before == right.before && left.after == right.after && left.manners == right.manners
        && left.decisions == right.decisions
    }
  }

  /// In the order of the vocabulary.
  package let changes: [Change]

  package var isEmpty: Bool { changes.isEmpty }
  package var widens: Bool { changes.contains { $0.kind.widens } }

  package init(from before: Explanation, to after: Explanation) {
    changes = Ability.Verb.allCases.flatMap { verb in
      let closing = after.closing[verb] ?? []
      return verb.subjects.areRegions
        ? Self.regions(before[verb], after[verb], closing) : Self.named(before[verb], after[verb], closing)
    }
  }

  // MARK: Abilities with one entry for each subject

  /// - Parameter closing: the decisions about subjects without an entry in the second.
  private static func named(
    _ before: [Explanation.Entry], _ after: [Explanation.Entry], _ closing: [Decision]
  ) -> [Change] {
    var subjects = after.map(\.ability)
    subjects += before.map(\.ability).filter { !subjects.contains($0) }
    return subjects.compactMap { ability in
      let old = before.first { $0.ability == ability }
      let new = after.first { $0.ability == ability }
      let (from, to) = (old?.extent ?? .no, new?.extent ?? .no)
      guard let kind = kind(from, to, old?.manner, new?.manner) else { return nil }
      return Change(
        kind: kind, ability: ability, except: [], before: from, after: to, manners: (old?.manner, new?.manner),
        decisions: new?.decisions ?? closing)
    }
  }

  private static func kind(_ from: Extent, _ to: Extent, _ old: String?, _ new: String?) -> Kind? {
    if from == to {
      // The manner of an impossible thing makes no difference, unless the explanation states it.
      return old == new ? nil : .otherwise
    }
    if from == .no { return .possible }
    if to == .no { return .impossible }
    return from < to ? .more : .less
  }

  // MARK: Abilities of which one can cover others

  private static func regions(
    _ before: [Explanation.Entry], _ after: [Explanation.Entry], _ closing: [Decision]
  ) -> [Change] {
    let (old, new) = (before.filter(\.extent.isPossible), after.filter(\.extent.isPossible))
    return missing(from: old, in: new).map { region in
      Change(
        kind: .possible, ability: region.ability, except: region.except, before: .no, after: .yes,
        manners: (nil, nil), decisions: region.decisions)
    }
      + missing(from: new, in: old).map { region in
        Change(
          kind: .impossible, ability: region.ability, except: region.except, before: .yes, after: .no,
          manners: (nil, nil), decisions: closing)
      }
  }

  /// The regions that the second open and the first do not: each one without the parts that the first open.
  private static func missing(
    from known: [Explanation.Entry], in regions: [Explanation.Entry]
  ) -> [Explanation.Entry] {
    var found: [Explanation.Entry] = []
    for region in regions {
      // One that another of its own side has in it whole says nothing more.
      if found.contains(where: { $0.ability.covers(region.ability) && !$0.except.contains(where: region.covers) }) {
        continue
      }
      if known.contains(where: { $0.ability.covers(region.ability) }) {
        // Open before, but for single names that were taken out of it.
        let closed = known.flatMap(\.except).filter { region.opens($0) && !known.contains(where: $0.isOpened) }
        for name in closed where !found.contains(where: { $0.ability.subject.isSamePath(as: name) }) {
          found.append(Explanation.Entry(Ability(region.ability.verb, name), .yes, by: region.decisions))
        }
        continue
      }
      let inner = known.filter { region.ability.covers($0.ability) }
      var rest = region
      rest.except += inner.map(\.ability.subject).filter { !rest.except.contains($0) }
      found.append(rest)
      let closed = inner.flatMap(\.except).filter { region.opens($0) && !known.contains(where: $0.isOpened) }
      for name in closed where !found.contains(where: { $0.ability.subject.isSamePath(as: name) }) {
        found.append(Explanation.Entry(Ability(region.ability.verb, name), .yes, by: region.decisions))
      }
    }
    return found
  }
}

extension Ability.Subjects {
  /// Whether one subject can cover others.
  var areRegions: Bool {
    switch self {
    case .paths, .variables, .extensions: true
    case .none, .names: false
    }
  }
}

extension Explanation.Entry {
  /// Whether it opens a single name or path.
  func opens(_ subject: String) -> Bool {
    ability.covers(Ability(ability.verb, subject)) && !except.contains(subject)
  }

  func covers(_ subject: String) -> Bool { ability.covers(Ability(ability.verb, subject)) }
}

extension String {
  fileprivate func isOpened(_ entry: Explanation.Entry) -> Bool { entry.opens(self) }
}
