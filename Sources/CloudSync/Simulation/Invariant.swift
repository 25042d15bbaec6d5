/// The rules that hold in each life.
package enum Invariant: String, Sendable {
  /// In the end, all devices and the cloud have the same items with the same contents.
  case agreement
  /// Devices without faults come to rest.
  case rest
  /// A content that a user wrote is current, or an ancestor of a current or kept one, or kept, or deleted by a user who had it.
  case lost
  /// Only whole contents are visible, and in the cloud.
  case whole
  /// No device replaces, moves or deletes a state that it has not seen.
  case unseen
  /// The cloud's items form a tree, and no two items have one place.
  case structure
  /// An id is given once, and an item comes to the cloud once.
  case identity
  /// The ledger's revisions rise, and what it has answered stays.
  case order
  /// A conflict version is kept only of a content that the winning one is not based on.
  case needless
}

/// A broken invariant.
package struct Failure: Hashable, Sendable, CustomStringConvertible {
  package let invariant: Invariant
  package let sentence: String

  package var description: String { sentence }
}
