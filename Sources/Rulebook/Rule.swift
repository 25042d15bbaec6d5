/// One statement of the catalogue, `docs/reference/catalogue.md`: something that Ambit promises, and that can be tested.
package struct Rule: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    /// A test cites it, or the escape battery tries it.
    case inForce
    /// Ambit does not promise it yet.
    case planned

    /// The state as the catalogue writes it.
    package var words: String {
      switch self {
      case .inForce: "in force"
      case .planned: "planned"
      }
    }
  }

  /// Where a statement comes from.
  package enum Strength: String, CaseIterable, Sendable {
    /// Apple's talks or documentation state it.
    case a = "A"
    /// Another implementation or its tests state it.
    case b = "B"
    /// Users observed it, or it was measured.
    case c = "C"
    /// Ambit decided it.
    case d = "D"

    package var words: String {
      switch self {
      case .a: "stated by Apple"
      case .b: "stated by another implementation"
      case .c: "observed"
      case .d: "Ambit's decision"
      }
    }
  }

  /// `PCK-9`, or `A1` for an escape.
  package let id: String
  package let statement: String
  /// Where the statement comes from, in the catalogue's short form: `S18@36:30`, `open_tree(2)`.
  package let source: String
  package let strength: Strength
  package let state: State

  package init(_ id: String, _ statement: String, source: String, _ strength: Strength, _ state: State) {
    self.id = id
    self.statement = statement
    self.source = source
    self.strength = strength
    self.state = state
  }
}

/// The statements about one subject.
package struct RuleFamily: Equatable, Sendable {
  /// `PCK`, or `A` for escapes.
  package let id: String
  /// The subject, in a few words.
  package let title: String
  package let rules: [Rule]

  package init(_ id: String, _ title: String, _ rules: [Rule]) {
    self.id = id
    self.title = title
    self.rules = rules
  }

  package func count(_ state: Rule.State) -> Int { rules.count { $0.state == state } }
}
