/// Puts documents together by folder until no more places are left than a picture can show.
///
/// The rule, as the page states it: the folder that holds most is folded first, with everything below it; where each holds one,
/// the deepest give way to the folders that they lie in.
struct PlaceFolding {
  struct Folded: Equatable {
    var places: [(path: String, documents: Int, isFolded: Bool)]
    /// The place of each document, in the order in which they were given.
    var indices: [Int]

    static func == (left: Self, right: Self) -> Bool {
      left.indices == right.indices
        && left.places.elementsEqual(right.places) {
          $0.path.utf8.elementsEqual($1.path.utf8) && $0.documents == $1.documents && $0.isFolded == $1.isFolded
        }
    }
  }

  /// A path as its bytes: to Swift's strings two spellings of a letter are equal.
  private typealias Name = [UInt8]
  private static let slash = UInt8(ascii: "/")

  static func fold(_ paths: [String], most: Int) -> Folded {
    let most = max(1, most)
    var nodes = paths.map { trimmed(Array($0.utf8)) }
    var folded: Set<Name> = []
    var distinct = Set(nodes)
    while distinct.count > most {
      let targets = round(distinct, most)
      if targets.isEmpty { break }
      nodes = nodes.map { raised($0, into: targets) }
      folded = Set(folded.map { raised($0, into: targets) }).union(targets)
      distinct = Set(nodes)
    }
    let order = distinct.sorted { $0.lexicographicallyPrecedes($1) }
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    let indices = nodes.map { places[$0] ?? 0 }
    var documents = Array(repeating: 0, count: order.count)
    for index in indices { documents[index] += 1 }
    return Folded(
      places: order.enumerated().map { index, name in
        (String(decoding: name, as: UTF8.self), documents[index], folded.contains(name))
      }, indices: indices)
  }

  /// The folders that are folded next.
  private static func round(_ nodes: Set<Name>, _ most: Int) -> Set<Name> {
    var held: [Name: Int] = [:]
    for node in nodes {
      if let parent = parent(of: node) { held[parent, default: 0] += 1 }
    }
    let order = held.filter { $0.value > 1 }.sorted { left, right in
      if left.value != right.value { return left.value > right.value }
      let (leftDepth, rightDepth) = (depth(left.key), depth(right.key))
      return leftDepth == rightDepth ? left.key.lexicographicallyPrecedes(right.key) : leftDepth > rightDepth
    }
    var left = nodes.count
    var targets: Set<Name> = []
    for (folder, count) in order where left > most {
      targets.insert(folder)
      left -= count - 1
    }
    if targets.isEmpty {
      let deepest = nodes.map(depth).max() ?? 0
      targets = Set(nodes.filter { depth($0) == deepest }.compactMap(parent))
    }
    return targets
  }

  /// The name, or the outermost of the folders that it lies in.
  private static func raised(_ name: Name, into targets: Set<Name>) -> Name {
    var found = name
    var next = parent(of: name)
    while let folder = next {
      if targets.contains(folder) { found = folder }
      next = parent(of: folder)
    }
    return found
  }

  /// The folder that a name stands in. The root, and names without a folder, stand in the empty one, and that in none.
  private static func parent(of name: Name) -> Name? {
    guard !name.isEmpty else { return nil }
    guard name != [slash] else { return [] }
    guard let last = name.lastIndex(of: slash) else { return [] }
    return last == 0 ? [slash] : trimmed(Array(name[..<last]))
  }

  private static func depth(_ name: Name) -> Int { name.count { $0 == slash } }

  private static func trimmed(_ name: Name) -> Name {
    var name = name
    while name.count > 1, name.last == slash { name.removeLast() }
    return name
  }
}
