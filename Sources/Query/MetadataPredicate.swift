/// A condition on items: comparisons, and what combines them. A value; its text can be parsed again.
package indirect enum MetadataPredicate: Hashable, Sendable {
  case constant(Bool)
  case comparison(MetadataComparison)
  case and([MetadataPredicate])
  case or([MetadataPredicate])
  case not(MetadataPredicate)

  /// How large a predicate may be. Evaluating one for an item then takes a bounded time.
  package enum Limit {
    /// Bytes of its text.
    package static let bytes = 16 << 10
    /// Parentheses and negations in one another.
    package static let depth = 32
    /// Comparisons, combinations and the elements of lists.
    package static let parts = 512
    /// Patterns (`LIKE`, `MATCHES`), which take the longest.
    package static let patterns = 16
  }

  /// Comparisons, combinations and elements of lists. A list may be long and is looked through for each item.
  package var parts: Int {
    switch self {
    case .constant: 1
    case .comparison(let comparison): 1 + comparison.left.elements + comparison.right.elements
    case .and(let all), .or(let all): all.reduce(1) { $0 + $1.parts }
    case .not(let one): 1 + one.parts
    }
  }

  package var patterns: Int {
    switch self {
    case .constant: 0
    case .comparison(let comparison): comparison.relation == .like || comparison.relation == .matches ? 1 : 0
    case .and(let all), .or(let all): all.reduce(0) { $0 + $1.patterns }
    case .not(let one): one.patterns
    }
  }
}

/// Two expressions and how they stand to each other.
package struct MetadataComparison: Hashable, Sendable {
  package enum Relation: String, Hashable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case between = "BETWEEN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case matches = "MATCHES"
    case within = "IN"
  }

  package enum Expression: Hashable, Sendable {
    /// An attribute by its key. Items have no value for a key that is unknown.
    case key(String)
    case value(MetadataValue)

    fileprivate var elements: Int {
      if case .value(.list(let all)) = self { all.count } else { 0 }
    }
  }

  package var left: Expression
  package var relation: Relation
  package var right: Expression
  package var options: TextOptions

  package init(
    _ left: Expression, _ relation: Relation, _ right: Expression, _ options: TextOptions = []
  ) {
    (self.left, self.relation, self.right, self.options) = (left, relation, right, options)
  }
}

// MARK: Text

extension MetadataPredicate: CustomStringConvertible {
  /// The predicate's text, which the parser reads back as the same predicate.
  package var description: String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .and(let all): Self.joined(all, "AND", empty: true)
    case .or(let all): Self.joined(all, "OR", empty: false)
    case .not(let one): "NOT (\(one))"
    }
  }

  private static func joined(_ all: [MetadataPredicate], _ word: String, empty: Bool) -> String {
    switch all.count {
    case 0: "\(MetadataPredicate.constant(empty))"
    case 1: all[0].description
    default:
      all.map { part in
        switch part {
        case .and, .or: "(\(part))"
        default: part.description
        }
      }.joined(separator: " \(word) ")
    }
  }
}

extension MetadataComparison: CustomStringConvertible {
  package var description: String { "\(left) \(relation.rawValue)\(suffix) \(right)" }

  private var suffix: String {
    switch options {
    case []: ""
    case .caseInsensitive: "[c]"
    case .diacriticInsensitive: "[d]"
    default: "[cd]"
    }
  }
}

extension MetadataComparison.Expression: CustomStringConvertible {
  package var description: String {
    switch self {
    case .key(let key): PredicateWords.isReserved(key) ? "#\(key)" : key
    case .value(let value): Self.text(value)
    }
  }

  private static func text(_ value: MetadataValue) -> String {
    switch value {
    case .text(let text): quoted(text)
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .flag(let flag): flag ? "TRUE" : "FALSE"
    case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
    case .list(let all): "{" + all.map(text).joined(separator: ", ") + "}"
    case .none: "nil"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
