package import ContentTypes
internal import Paths

/// The order of results by one attribute.
package struct ResultOrder: Hashable, Sendable {
  package let attribute: MetadataAttribute
  package let ascending: Bool
  package init(_ attribute: MetadataAttribute, ascending: Bool = true) {
    (self.attribute, self.ascending) = (attribute, ascending)
  }

  /// Whether one comes before another; `nil`: this attribute does not tell. An item without it comes first.
  fileprivate func precedes(_ one: MetadataRecord, _ other: MetadataRecord, by types: TypeDecider) -> Bool? {
    let (left, right) = (one.value(of: attribute, by: types), other.value(of: attribute, by: types))
    let isBefore: Bool
    switch (left, right) {
    case (.none, .none): return nil
    case (.none, _): isBefore = true
    case (_, .none): isBefore = false
    default:
      switch left.order(right) {
      case .before: isBefore = true
      case .after: isBefore = false
      case .same, nil: return nil
      }
    }
    return isBefore == ascending
  }
}

/// The results of a query in their order, and else in the order of their paths. Items have numbers of the query's own, in the order in which it was told of them.
package struct ResultList: Sendable {
  package let orders: [ResultOrder]
  package private(set) var records: [Int: MetadataRecord] = [:]
  private var ordered: [Int] = []
  private var positions: [Int: Int]?
  private let types: TypeDecider

  /// - Parameter types: the system's, and those that the asking app declares.
  package init(_ orders: [ResultOrder] = [], by types: TypeDecider = .system) {
    (self.orders, self.types) = (orders, types)
  }

  package var count: Int { ordered.count }
  /// The items' numbers, in order.
  package var numbers: [Int] { ordered }

  package subscript(index: Int) -> Int { ordered[index] }

  /// The place of an item.
  package mutating func index(of number: Int) -> Int? {
    if positions == nil {
      positions = Dictionary(ordered.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
    return positions?[number]
  }

  /// What has become of a list.
  package struct Difference: Hashable, Sendable {
    package var added: [Int] = []
    package var changed: [Int] = []
    package var removed: [Int] = []
    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
    package init() {}
  }

  /// Takes over what is told of items: their records now, and those that are no results any more.
  package mutating func apply(_ present: [(number: Int, record: MetadataRecord)], removed: [Int]) -> Difference {
    var difference = Difference()
    var moved: Set<Int> = []
    for number in removed where records.removeValue(forKey: number) != nil {
      difference.removed.append(number)
      moved.insert(number)
    }
    var placed: [Int] = []
    for (number, record) in present {
      if let former = records.updateValue(record, forKey: number) {
        if former == record { continue }
        difference.changed.append(number)
        if orders.isEmpty, former.path.isSamePath(as: record.path) { continue }
        moved.insert(number)
      } else {
        difference.added.append(number)
      }
      placed.append(number)
    }
    guard !moved.isEmpty || !placed.isEmpty else { return difference }
    if !moved.isEmpty { ordered.removeAll { moved.contains($0) } }
    place(placed)
    positions = nil
    return difference
  }

  private mutating func place(_ new: [Int]) {
    let new = new.sorted { precedes($0, $1) }
    if let last = ordered.last, let first = new.first, !precedes(last, first) {
      var merged: [Int] = []
      merged.reserveCapacity(ordered.count + new.count)
      var from = 0
      for number in new {
        let to = insertion(of: number, from: from)
        merged += ordered[from..<to]
        merged.append(number)
        from = to
      }
      ordered = merged + ordered[from...]
    } else {
      ordered += new
    }
  }

  private func insertion(of number: Int, from start: Int) -> Int {
    var (low, high) = (start, ordered.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(ordered[middle], number) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func precedes(_ one: Int, _ other: Int) -> Bool {
    guard let left = records[one], let right = records[other] else { return one < other }
    for order in orders {
      if let precedes = order.precedes(left, right, by: types) { return precedes }
    }
    // So that the order tells nothing of when items were found.
    let (first, second) = (PathKey(left.path), PathKey(right.path))
    return first == second ? one < other : first < second
  }

  // MARK: Values and groups

  /// The different values of an attribute in the results, each with how many have it; in the order of the results.
  package func values(of attribute: MetadataAttribute) -> [(value: MetadataValue, count: Int)] {
    var counts: [MetadataValue: Int] = [:]
    var order: [MetadataValue] = []
    for number in ordered {
      guard let value = records[number]?.value(of: attribute, by: types) else { continue }
      if counts.updateValue((counts[value] ?? 0) + 1, forKey: value) == nil { order.append(value) }
    }
    return order.map { ($0, counts[$0] ?? 0) }
  }

  /// Results that share the value of an attribute.
  package struct Group: Hashable, Sendable {
    package let attribute: MetadataAttribute
    package let value: MetadataValue
    package let numbers: [Int]
    package let subgroups: [Group]
  }

  /// The results by the values of attributes, one in the other.
  package func groups(by attributes: [MetadataAttribute]) -> [Group] { groups(ordered, attributes[...]) }

  private func groups(_ numbers: [Int], _ attributes: ArraySlice<MetadataAttribute>) -> [Group] {
    guard let attribute = attributes.first else { return [] }
    var members: [MetadataValue: [Int]] = [:]
    var order: [MetadataValue] = []
    for number in numbers {
      let value = records[number]?.value(of: attribute, by: types) ?? .none
      if members[value] == nil { order.append(value) }
      members[value, default: []].append(number)
    }
    return order.map { value in
      Group(
        attribute: attribute, value: value, numbers: members[value] ?? [],
        subgroups: groups(members[value] ?? [], attributes.dropFirst()))
    }
  }
}
