public import Foundation
internal import Query

/// Sorting by keys, which Foundation on Linux lacks: for items of queries.
extension NSSortDescriptor {
  /// Sorts items by an attribute.
  ///
  /// - Parameter key: for example ``NSMetadataItemFSNameKey``.
  public convenience init(key: String, ascending: Bool) {
    self.init(keyPath: \SortedItem[key], ascending: ascending) { one, other in
      guard let left = one as? SortedValue, let right = other as? SortedValue else { return .orderedSame }
      return left.compared(to: right)
    }
  }

  /// The order as a value; `nil` for one that was not made by a key.
  var resultOrder: ResultOrder? {
    guard let path = keyPath as? KeyPath<SortedItem, SortedValue>,
      let attribute = MetadataAttribute(rawValue: SortedItem(nil)[keyPath: path].key)
    else { return nil }
    return ResultOrder(attribute, ascending: ascending)
  }
}

/// An item as key paths reach its attributes: by their keys.
struct SortedItem {
  let item: NSMetadataItem?
  init(_ item: NSMetadataItem?) { self.item = item }
  subscript(key: String) -> SortedValue {
    let value = item.flatMap { item in
      MetadataAttribute(rawValue: key).map { item.record.value(of: $0, by: AppTypes.decider) }
    }
    return SortedValue(key: key, value: value ?? .none)
  }
}

struct SortedValue {
  let key: String
  let value: MetadataValue

  func compared(to other: SortedValue) -> ComparisonResult {
    switch value.order(other.value) {
    case .before: .orderedAscending
    case .after: .orderedDescending
    case .same, nil: .orderedSame
    }
  }
}
