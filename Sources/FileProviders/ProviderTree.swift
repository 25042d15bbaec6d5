internal import Paths

/// The items of a provider as a tree of paths. Items that cannot be shown are left out, and named.
package struct ProviderTree: Sendable {
  package struct Placed: Sendable, Equatable {
    package let item: ProviderItem
    /// Below the provider's folder, without a slash at its beginning.
    package let path: String

    package init(item: ProviderItem, path: String) { (self.item, self.path) = (item, path) }
  }

  package struct Fault: Sendable, Equatable, CustomStringConvertible {
    package let identifier: String
    package let reason: String
    package var description: String { "\(identifier): \(reason)" }
  }

  /// Folders before their contents.
  package private(set) var placed: [Placed] = []
  package private(set) var faults: [Fault] = []
  /// Items of one provider.
  package static let most = 100_000
  private static let deepest = 64

  package init(_ items: [ProviderItem]) {
    var known: Set<String> = []
    known.reserveCapacity(min(items.count, Self.most))
    var children: [String: [Int]] = [:]
    for index in items.indices.prefix(Self.most) {
      let item = items[index]
      if let fault = item.fault {
        faults.append(.init(identifier: Self.name(item), reason: fault.description))
      } else if !known.insert(item.identifier).inserted {
        faults.append(.init(identifier: Self.name(item), reason: "two items have this identifier"))
      } else {
        children[item.parent, default: []].append(index)
      }
    }
    if items.count > Self.most {
      faults.append(.init(identifier: "", reason: "a provider has \(Self.most) items at most"))
    }
    var places: [(path: String, index: Int)] = []
    var open = [(ProviderItem.root, "", 0)]
    while let (folder, path, depth) = open.popLast() {
      let inner = children.removeValue(forKey: folder) ?? []
      var names: Set<String> = []
      names.reserveCapacity(inner.count)
      for index in inner {
        let item = items[index]
        guard names.insert(item.filename).inserted else {
          faults.append(.init(identifier: Self.name(item), reason: "another item of its folder has its name"))
          continue
        }
        let place = path.isEmpty ? item.filename : "\(path)/\(item.filename)"
        guard depth < Self.deepest, place.utf8.count < 3000 else {
          faults.append(.init(identifier: Self.name(item), reason: "its folders are too deep"))
          continue
        }
        places.append((place, index))
        if item.isFolder { open.append((item.identifier, place, depth + 1)) }
      }
    }
    // Items in the trash are not shown.
    var thrownAway = [ProviderItem.trash]
    while let folder = thrownAway.popLast() {
      thrownAway += (children.removeValue(forKey: folder) ?? []).map { items[$0] }.filter(\.isFolder).map(\.identifier)
    }
    // The rest hangs on nothing: no such folder, or folders in a circle.
    let rest = children.values.flatMap(\.self).map { items[$0] }
    for item in rest.sorted(by: { $0.identifier < $1.identifier }) {
      faults.append(.init(identifier: Self.name(item), reason: "its parent is no folder of this provider's"))
    }
    placed = places.sorted { $0.path < $1.path }.map { Placed(item: items[$0.index], path: $0.path) }
  }

  private static func name(_ item: ProviderItem) -> String { String(item.identifier.prefix(80)) }
}

/// The steps from a folder's present items to its provider's.
package enum ProviderChange: Sendable, Equatable {
  case add(ProviderTree.Placed)
  /// From one path to the same: it is there already, with its folder.
  case move(ProviderItem, from: String, to: String)
  /// Other content is at the provider: the content here is of no use any more. If there is none here, one that a killed broker left halfway
  /// goes as well.
  case renew(ProviderTree.Placed, was: ProviderItem, mayBeLeftOver: Bool)
  /// The content is the same; the provider allows something else, or says something else of it.
  case describe(ProviderTree.Placed, was: ProviderItem)
  case remove(ProvidedFile)

  /// Nothing that was changed here is renewed or removed.
  package static func steps(from shown: [ProvidedFile], to tree: ProviderTree) -> [ProviderChange] {
    var places: [String: Int] = [:]
    places.reserveCapacity(shown.count)
    for (index, file) in shown.enumerated() { places[file.item.identifier] = index }
    var isGone = [Bool](repeating: true, count: shown.count)
    var steps: [ProviderChange] = []
    // With a folder goes all that is in it.
    var moves: [(from: String, to: String)] = []
    func present(_ path: String) -> String {
      moves.reduce(path) { path, move in
        path.path(within: move.from).map { $0.isEmpty ? move.to : move.to.path(of: $0) } ?? path
      }
    }
    for placed in tree.placed {
      guard let index = places[placed.item.identifier] else {
        steps.append(.add(placed))
        continue
      }
      let before = shown[index]
      isGone[index] = false
      guard before.item.isFolder == placed.item.isFolder else {
        steps.append(.add(placed))
        continue
      }
      if before.path != placed.path {
        let path = present(before.path)
        steps.append(.move(placed.item, from: path, to: placed.path))
        if placed.item.isFolder, path != placed.path { moves.append((path, placed.path)) }
      }
      if before.item.version != placed.item.version || before.item.size != placed.item.size, !before.isChanged,
        !placed.item.isFolder
      {
        steps.append(.renew(placed, was: before.item, mayBeLeftOver: !before.isHere))
      } else if !before.item.isDescribed(as: placed.item) {
        steps.append(.describe(placed, was: before.item))
      }
    }
    // The deepest first.
    let gone = shown.indices.filter { isGone[$0] && !shown[$0].isChanged }.map { shown[$0] }
    return gone.sorted { $0.path > $1.path }.map { .remove($0) } + steps
  }
}
