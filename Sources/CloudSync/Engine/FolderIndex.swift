/// The items in each folder and their names, on one side: the device's or the cloud's. Items are positions of entries.
struct FolderIndex: Sendable {
  /// An item's place.
  struct Spot: Hashable, Sendable {
    var parent: String
    var name: String
    /// Nothing is known that takes the item out of its folder.
    var stays: Bool
  }

  struct Folder: Sendable {
    var members: Set<Int> = []
    /// The number of members that stay.
    var staying = 0

    var state: State { members.isEmpty ? .empty : staying > 0 ? .kept : .leaving }
  }

  /// The effect of a folder's members on its removal.
  enum State {
    case empty
    /// All members are about to go.
    case leaving
    case kept
  }

  /// A folder and a name in it, as names collide.
  struct Place: Hashable, Sendable {
    let parent, name: String
    init(_ parent: String, _ name: String) { (self.parent, self.name) = (parent, Names.folded(name)) }
  }

  private var folders: [String: Folder] = [:]
  /// The first item at each place, and further ones in rising order. A device may have names that differ only in case.
  private var first: [Place: Int] = [:]
  private var others: [Place: [Int]] = [:]

  func state(of folder: String) -> State { folders[folder]?.state ?? .empty }

  /// In rising order.
  func members(of folder: String) -> [Int] { folders[folder]?.members.sorted() ?? [] }

  /// The first item whose name collides, of those that `isWanted` accepts.
  func occupant(of parent: String, _ name: String, where isWanted: (Int) -> Bool) -> Int? {
    let place = Place(parent, name)
    guard let one = first[place] else { return nil }
    return isWanted(one) ? one : others[place]?.first(where: isWanted)
  }

  /// - Returns: the folders whose ``state(of:)`` has changed.
  mutating func move(_ i: Int, from old: Spot?, to new: Spot?) -> [String] {
    var changed: [String] = []
    if old?.parent == new?.parent, let new {
      if old?.stays != new.stays, count(new.stays ? 1 : -1, in: new.parent) { changed.append(new.parent) }
    } else {
      if let old, leave(i, old) { changed.append(old.parent) }
      if let new, join(i, new) { changed.append(new.parent) }
    }
    if old?.parent != new?.parent || old?.name != new?.name {
      if let old { removeName(i, Place(old.parent, old.name)) }
      if let new { addName(i, Place(new.parent, new.name)) }
    }
    return changed
  }

  private mutating func count(_ difference: Int, in folder: String) -> Bool {
    let before = state(of: folder)
    folders[folder]?.staying += difference
    return state(of: folder) != before
  }

  private mutating func join(_ i: Int, _ spot: Spot) -> Bool {
    let before = state(of: spot.parent)
    folders[spot.parent, default: Folder()].members.insert(i)
    if spot.stays { folders[spot.parent]?.staying += 1 }
    return state(of: spot.parent) != before
  }

  private mutating func leave(_ i: Int, _ spot: Spot) -> Bool {
    let before = state(of: spot.parent)
    folders[spot.parent]?.members.remove(i)
    if spot.stays { folders[spot.parent]?.staying -= 1 }
    let after = state(of: spot.parent)
    if after == .empty { folders[spot.parent] = nil }
    return after != before
  }

  private mutating func addName(_ i: Int, _ place: Place) {
    guard let one = first[place] else {
      first[place] = i
      return
    }
    var rest = others[place] ?? []
    let later = max(one, i)
    rest.insert(later, at: rest.firstIndex { $0 > later } ?? rest.count)
    first[place] = min(one, i)
    others[place] = rest
  }

  private mutating func removeName(_ i: Int, _ place: Place) {
    var rest = others[place] ?? []
    if first[place] == i { first[place] = rest.isEmpty ? nil : rest.removeFirst() } else { rest.removeAll { $0 == i } }
    others[place] = rest.isEmpty ? nil : rest
  }
}
