public import Foundation
internal import Query

/// Why a format is no predicate that queries evaluate. Foundation on Apple's systems ends the program instead.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with it.
  public enum Problem: String, Hashable, Sendable {
    /// It is not written as predicates are.
    case syntax
    /// It is a predicate of a form that there is not here.
    case unsupported
    /// The arguments do not fit the format.
    case argument
    /// The pattern of a `LIKE` or `MATCHES` cannot be used.
    case pattern
    /// It exceeds a limit.
    case tooLarge
    /// It was not made of a format: a block, for example.
    case notAFormat
  }

  /// What is wrong with it.
  public let problem: Problem
  /// Where in the format, in Unicode scalars from its beginning.
  public let position: Int
  /// A sentence.
  public let description: String

  init(_ problem: Problem, at position: Int = 0, _ description: String) {
    (self.problem, self.position, self.description) = (problem, position, description)
  }

  init(_ error: PredicateFault) {
    let problem: Problem =
      switch error.problem {
      case .syntax: .syntax
      case .unsupported: .unsupported
      case .argument: .argument
      case .pattern: .pattern
      case .tooLarge: .tooLarge
      }
    self.init(problem, at: error.position, error.description)
  }
}

extension PredicateFormatError: LocalizedError {
  /// The same sentence, for people.
  public var errorDescription: String? { description }
}
