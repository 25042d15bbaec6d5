package import ContentTypes

/// Evaluates a predicate. It alone decides; the catalog's SQL only leaves fewer items to ask it about.
package struct PredicateMatcher: Sendable {
  private indirect enum Node: Sendable {
    case constant(Bool)
    case and([Node])
    case or([Node])
    case not(Node)
    case comparison(Operand, MetadataComparison.Relation, Operand, TextOptions)
    case pattern(Operand, TextPattern)
  }

  private enum Operand: Sendable {
    case attribute(MetadataAttribute)
    /// With the bytes of a text.
    case value(MetadataValue, [UInt8]?)

    func value(in record: MetadataRecord, by types: TypeDecider) -> MetadataValue {
      switch self {
      case .attribute(let attribute): record.value(of: attribute, by: types)
      case .value(let value, _): value
      }
    }

    func bytes(of value: MetadataValue, _ options: TextOptions) -> [UInt8]? {
      if case .value(_, let bytes?) = self { return bytes }
      guard case .text(let text) = value else { return nil }
      return SearchText.bytes(text, options)
    }
  }

  private let root: Node
  private let types: TypeDecider
  /// The instructions of all patterns: they take the most time, and each takes it for every character.
  package let instructions: Int

  /// - Parameter types: the system's, and those that the asking app declares.
  package init(_ predicate: MetadataPredicate, by types: TypeDecider = .system) {
    (root, self.types) = (Self.prepared(predicate), types)
    instructions = Self.instructions(root)
  }

  private static func instructions(_ node: Node) -> Int {
    switch node {
    case .constant, .comparison: 0
    case .and(let all), .or(let all): all.reduce(0) { $0 + instructions($1) }
    case .not(let one): instructions(one)
    case .pattern(_, let pattern): pattern.length
    }
  }

  private static func prepared(_ predicate: MetadataPredicate) -> Node {
    switch predicate {
    case .constant(let value): .constant(value)
    case .and(let all): .and(all.map(prepared))
    case .or(let all): .or(all.map(prepared))
    case .not(let one): .not(prepared(one))
    case .comparison(let comparison): prepared(comparison)
    }
  }

  private static func prepared(_ comparison: MetadataComparison) -> Node {
    let left = operand(comparison.left, comparison.options)
    if comparison.relation == .like || comparison.relation == .matches {
      guard case .value(.text(let text)) = comparison.right,
        let pattern = try? TextPattern(text, comparison.relation, comparison.options)
      else { return .constant(false) }
      return .pattern(left, pattern)
    }
    return .comparison(
      left, comparison.relation, operand(comparison.right, comparison.options), comparison.options)
  }

  private static func operand(_ expression: MetadataComparison.Expression, _ options: TextOptions) -> Operand {
    switch expression {
    case .key(let key): return MetadataAttribute(rawValue: key).map { .attribute($0) } ?? .value(.none, nil)
    case .value(.text(let text)): return .value(.text(text), SearchText.bytes(text, options))
    case .value(let value): return .value(value, nil)
    }
  }

  package func matches(_ record: MetadataRecord) -> Bool { evaluate(root, record) }

  private func evaluate(_ node: Node, _ record: MetadataRecord) -> Bool {
    switch node {
    case .constant(let value): return value
    case .and(let all): return all.allSatisfy { evaluate($0, record) }
    case .or(let all): return all.contains { evaluate($0, record) }
    case .not(let one): return !evaluate(one, record)
    case .pattern(let operand, let pattern):
      return Self.anyValue(of: operand.value(in: record, by: types)) { value in
        if case .text(let text) = value { pattern.matches(text) } else { false }
      }
    case .comparison(let left, let relation, let right, let options):
      let other = right.value(in: record, by: types)
      return Self.anyValue(of: left.value(in: record, by: types)) { value in
        Self.compare(value, left, relation, other, right, options)
      }
    }
  }

  /// A list matches if one of its values does, as Spotlight has it.
  private static func anyValue(of value: MetadataValue, _ body: (MetadataValue) -> Bool) -> Bool {
    if case .list(let all) = value { all.contains(where: body) } else { body(value) }
  }

  private static func compare(
    _ value: MetadataValue, _ left: Operand, _ relation: MetadataComparison.Relation, _ other: MetadataValue,
    _ right: Operand, _ options: TextOptions
  ) -> Bool {
    func order(_ other: MetadataValue) -> MetadataValue.Order? { value.order(other, options) }
    switch relation {
    case .equal, .notEqual:
      let isEqual: Bool
      // An item without the attribute equals nil and nothing else.
      if case .list(let all) = other {
        isEqual = all.contains { order($0) == .same }
      } else if let bytes = right.bytes(of: other, options), case .text = value {
        isEqual = left.bytes(of: value, options) == bytes
      } else {
        isEqual = order(other) == .same
      }
      return isEqual == (relation == .equal)
    case .less: return value != .none && order(other) == .before
    case .greater: return value != .none && order(other) == .after
    case .lessOrEqual: return value != .none && (order(other) == .before || order(other) == .same)
    case .greaterOrEqual: return value != .none && (order(other) == .after || order(other) == .same)
    case .between:
      guard case .list(let bounds) = other, bounds.count == 2, let low = order(bounds[0]), let high = order(bounds[1])
      else { return false }
      return value != .none && low != .before && high != .after
    case .within:
      switch other {
      case .list(let all): return all.contains { order($0) == .same }
      case .text:
        guard let text = right.bytes(of: other, options), let part = left.bytes(of: value, options) else {
          return false
        }
        return SearchText.contains(text, part)
      default: return false
      }
    case .beginsWith, .endsWith, .contains:
      guard let part = right.bytes(of: other, options), let text = left.bytes(of: value, options) else { return false }
      switch relation {
      case .beginsWith: return text.starts(with: part)
      case .endsWith: return part.count <= text.count && text.suffix(part.count).elementsEqual(part)
      default: return SearchText.contains(text, part)
      }
    case .like, .matches: return false
    }
  }
}
