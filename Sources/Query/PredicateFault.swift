/// Why a text is no predicate that Ambit evaluates.
package struct PredicateFault: Error, Hashable, Sendable {
  package enum Problem: Hashable, Sendable {
    /// It is not written as predicates are; a sentence.
    case syntax(String)
    /// It is a predicate of a form that queries here do not have; its name.
    case unsupported(String)
    /// The format has more or fewer placeholders than there are arguments, or one of another kind.
    case argument(String)
    /// The pattern of a `LIKE` or `MATCHES`; a sentence.
    case pattern(String)
    /// It exceeds a limit of ``MetadataPredicate/Limit``; a sentence.
    case tooLarge(String)
  }

  package let problem: Problem
  /// Where in the text, in Unicode scalars from its beginning.
  package let position: Int

  package init(_ problem: Problem, at position: Int) { (self.problem, self.position) = (problem, position) }
}

extension PredicateFault: CustomStringConvertible {
  package var description: String {
    switch problem {
    case .syntax(let words): "\(words), at \(position)"
    case .unsupported(let form): "\(form) is not supported, at \(position)"
    case .argument(let words): "\(words), at \(position)"
    case .pattern(let words): "\(words), at \(position)"
    case .tooLarge(let words): words
    }
  }
}

/// An argument for a placeholder of a format.
package enum PredicateArgument: Sendable {
  case value(MetadataValue)
  /// Of another kind than predicates have; its type.
  case other(String)
}

enum PredicateWords {
  /// Words that name no key unless `#` stands before them.
  private static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
    "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO", "UTI-EQUALS",
  ]
  static func isReserved(_ word: String) -> Bool { reserved.contains(word.uppercased()) }
  static let relations: [String: MetadataComparison.Relation] = [
    "BETWEEN": .between, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith, "CONTAINS": .contains, "LIKE": .like,
    "MATCHES": .matches, "IN": .within,
  ]
  static let symbols: [String: MetadataComparison.Relation] = [
    "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
    ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]
  /// Forms that Foundation knows besides.
  static let foreign: Set<String> = [
    "ALL", "NONE", "SUBQUERY", "FETCH", "FUNCTION", "SELF", "FIRST", "LAST", "SIZE", "ANYKEY", "UTI-CONFORMS-TO",
    "UTI-EQUALS",
  ]

  /// Whether a text can stand in a predicate as a key.
  static func isKey(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, PredicateLexer.beginsWord(first), text.utf8.last != UInt8(ascii: ".")
    else { return false }
    return text.unicodeScalars.allSatisfy(PredicateLexer.isInWord) && text.utf8.count <= 128
  }
}
