public import Foundation
internal import Query

/// Predicates by format, which Foundation on Linux lacks: comparisons and what combines them, for items of queries.
///
///     NSPredicate(format: "%K ENDSWITH[c] %@ AND %K > %d", NSMetadataItemFSNameKey, ".txt", NSMetadataItemFSSizeKey, 1024)
///
/// The forms: `==`, `!=`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE`, `MATCHES`, `IN` with `[c]`, `[d]` and
/// `[cd]`; `AND`, `OR`, `NOT`; `TRUEPREDICATE`, `FALSEPREDICATE`; keys, texts, numbers, lists, `nil`, and dates as arguments.
extension NSPredicate {
  /// A predicate by its format. One that cannot be used is true of nothing, and no query starts with it; see ``init(checking:_:)``.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(Self.parse(format, arguments))
  }

  /// The same with the arguments in an array.
  public convenience init(format: String, argumentArray: [Any]?) {
    self.init(Self.parse(format, argumentArray ?? []))
  }

  /// The same with an error for a format that cannot be used. Ambit's addition.
  ///
  /// - Throws: ``PredicateFormatError``.
  public convenience init(checking format: String, _ arguments: Any?...) throws(PredicateFormatError) {
    self.init(.success(try Self.parse(format, arguments).get()))
  }

  /// Foundation's predicates can only be extended by a block. So the block also answers a question of this file's own: which predicate it
  /// stands for.
  private convenience init(_ parsed: Result<MetadataPredicate, PredicateFormatError>) {
    let matcher = (try? parsed.get()).map { PredicateMatcher($0, by: AppTypes.decider) }
    self.init(block: { object, _ in
      if let question = object as? PredicateQuestion {
        question.answer = parsed
        return false
      }
      guard let matcher, let item = object as? NSMetadataItem else { return false }
      return matcher.matches(item.record)
    })
  }

  private static func parse(
    _ format: String, _ arguments: [Any?]
  ) -> Result<MetadataPredicate, PredicateFormatError> {
    do throws(PredicateFault) {
      return .success(try PredicateParser.parse(format, arguments.map(PredicateArgument.init(object:))))
    } catch { return .failure(PredicateFormatError(error)) }
  }

  /// The predicate as a value, also of those that were combined.
  func metadataPredicate() throws(PredicateFormatError) -> MetadataPredicate {
    if let compound = self as? NSCompoundPredicate {
      var parts: [MetadataPredicate] = []
      for part in compound.subpredicates { parts.append(try part.metadataPredicate()) }
      switch compound.compoundPredicateType {
      case .and: return .and(parts)
      case .or: return .or(parts)
      case .not: return .not(parts.first ?? .constant(false))
      @unknown default: throw PredicateFormatError(.unsupported, "this compound predicate is not supported")
      }
    }
    for value in [true, false] where isEqual(NSPredicate(value: value)) { return .constant(value) }
    let question = PredicateQuestion()
    _ = evaluate(with: question)
    guard let answer = question.answer else {
      throw PredicateFormatError(.notAFormat, "queries take predicates that were made by a format, and no blocks")
    }
    return try answer.get()
  }
}

/// Asks a predicate which one it is.
private final class PredicateQuestion {
  var answer: Result<MetadataPredicate, PredicateFormatError>?
}

extension PredicateArgument {
  init(object: Any?) {
    guard let object else {
      self = .value(.none)
      return
    }
    switch object {
    case let text as String: self = .value(.text(text))
    case let text as Substring: self = .value(.text(String(text)))
    case let text as NSString: self = .value(.text(text as String))
    case let flag as Bool: self = .value(.flag(flag))
    case let number as any BinaryInteger:
      self = .value(Int64(exactly: number).map { .integer($0) } ?? .number(Double(number)))
    case let number as Double: self = .value(.number(number))
    case let number as Float: self = .value(.number(Double(number)))
    case let number as NSNumber: self = .value(.number(number.doubleValue))
    case let date as Date: self = .value(.date(date.timeIntervalSinceReferenceDate))
    case let date as NSDate: self = .value(.date(date.timeIntervalSinceReferenceDate))
    case let url as URL: self = .value(.text(NSFileCoordinator.path(of: url)))
    case is NSNull: self = .value(.none)
    case let all as [Any]: self.init(list: all)
    case let all as NSArray: self.init(list: Array(all))
    case let all as Set<AnyHashable>: self.init(list: all.map(\.base))
    default: self = .other("\(type(of: object))")
    }
  }

  private init(list: [Any]) {
    var values: [MetadataValue] = []
    for object in list {
      switch PredicateArgument(object: object) {
      case .value(.list):
        self = .other("list in a list")
        return
      case .value(let value): values.append(value)
      case .other(let type):
        self = .other(type)
        return
      }
    }
    self = .value(.list(values))
  }
}
