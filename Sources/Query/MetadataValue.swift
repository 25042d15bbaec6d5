internal import Foundation

/// The value of an attribute, or one that it is compared with.
package enum MetadataValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case number(Double)
  case flag(Bool)
  /// Seconds since the beginning of 2001, as Foundation counts them.
  case date(Double)
  case list([MetadataValue])
  /// The item has no such attribute.
  case none

  /// - Parameter nanoseconds: since 1970, as file systems count them.
  package init(nanoseconds: Int64) {
    self = .date(Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).timeIntervalSinceReferenceDate)
  }

  /// As a number, if it is one; flags count as 0 and 1.
  var numeric: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .flag(let value): value ? 1 : 0
    default: nil
    }
  }

  /// The order of two values of one kind; `nil` for values that have none.
  package func order(_ other: MetadataValue, _ options: TextOptions = []) -> Order? {
    switch (self, other) {
    case (.text(let one), .text(let two)):
      if one == two, options.isEmpty { return .same }
      return Order(SearchText.bytes(one, options), SearchText.bytes(two, options))
    case (.date(let one), .date(let two)): return Order(one, two)
    case (.integer(let one), .integer(let two)): return Order(one, two)
    case (.none, .none): return .same
    default:
      guard let one = numeric, let two = other.numeric else { return nil }
      return Order(one, two)
    }
  }

  package enum Order: Sendable {
    case before, same, after

    init?(_ one: Double, _ two: Double) {
      if one.isNaN || two.isNaN { return nil }
      self = one < two ? .before : one > two ? .after : .same
    }

    init(_ one: Int64, _ two: Int64) { self = one < two ? .before : one > two ? .after : .same }

    init(_ one: [UInt8], _ two: [UInt8]) {
      self = one == two ? .same : one.lexicographicallyPrecedes(two) ? .before : .after
    }
  }
}
