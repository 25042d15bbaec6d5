package import Paths

/// A file or folder that is coordinated: its path on the host, and the place at which it counts.
///
/// A package is one item with all that is in it (`COO-2`): each path in it counts as the package's own.
package struct Item: Hashable, Sendable {
  /// Absolute, without a slash at its end.
  package var path: PathKey
  /// The outermost package around it, or the package itself; `nil`: it is in none.
  package var package: PathKey?

  package init(_ path: String, package: String? = nil) {
    (self.path, self.package) = (PathKey(path), package.map { PathKey($0) })
  }

  /// The path at which its readers and writers meet.
  package var place: PathKey { package ?? path }

  /// Its path after a move, if it was moved.
  ///
  /// - Returns: whether it was the moved item, or in it.
  mutating func follow(from: PathKey, to: PathKey) -> Bool {
    guard let new = Self.moved(path, from, to) else { return false }
    path = new
    // A package that moves stays one. An item that leaves its package is an item of its own.
    package = package.map { Self.moved($0, from, to) ?? $0 }.flatMap { new.text.lies(within: $0.text) ? $0 : nil }
    return true
  }

  /// How another item lies to this one. All that is in a package is the package itself (`COO-2`), even if an item does not say so:
  /// it may have been moved there.
  func relation(of other: Item) -> Relation {
    switch place.relation(of: other.place) {
    case .inside where package != nil: .same
    case .around where other.package != nil: .same
    case let relation: relation
    }
  }

  private static func moved(_ path: PathKey, _ from: PathKey, _ to: PathKey) -> PathKey? {
    if path == from { return to }
    guard let rest = path.text.path(within: from.text), !rest.isEmpty else { return nil }
    return PathKey(to.text.path(of: rest))
  }
}

/// How two places lie to each other.
enum Relation { case same, inside, around, apart }

extension PathKey {
  /// How another place lies to this one: `inside`: below it.
  func relation(of other: PathKey) -> Relation {
    if self == other { return .same }
    if other.text.lies(below: text) { return .inside }
    return text.lies(below: other.text) ? .around : .apart
  }
}
