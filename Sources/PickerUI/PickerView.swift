/// How the picker shows a folder; it stays from one folder to the next, and for as long as its caller keeps it.
package struct PickerView: Sendable, Equatable {
  var order = ListOrder.name
  /// The other way round than the order has it.
  var isReversed = false
  /// Names in columns.
  var isGrid = false
  /// The look of the document under the cursor.
  var hasPreview = false

  package init() {}

  /// For the line of the place; nil: the usual order.
  var orderWords: String? {
    order == .name && !isReversed ? nil : "by \(order.rawValue) \(order.isFalling != isReversed ? "↓" : "↑")"
  }
}

/// Folders come first in all of them; equals are in the order of their names.
enum ListOrder: String, Sendable, CaseIterable {
  case name, date, size, kind

  /// The newest or the largest is first.
  var isFalling: Bool { self == .date || self == .size }
  /// It needs facts that the folder itself does not tell.
  var needsFacts: Bool { isFalling }

  /// The key that asks for it.
  var key: String {
    switch self {
    case .name: "Alt-N"
    case .date: "Alt-D"
    case .size: "Alt-S"
    case .kind: "Alt-K"
    }
  }

  var next: ListOrder {
    switch self {
    case .name: .date
    case .date: .size
    case .size: .kind
    case .kind: .name
    }
  }
}

/// The facts of an entry that it can be sorted by.
struct EntryFacts: Sendable, Equatable {
  /// Bytes.
  var size: Int64
  /// Nanoseconds since 1970, of the last change of the content.
  var modified: Int64

  /// Of a file that does not answer.
  static let unknown = EntryFacts(size: 0, modified: .min)
}
