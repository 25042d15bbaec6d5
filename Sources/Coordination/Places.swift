internal import Paths

/// The places of items as a tree, with the requests and presenters at each. Places have numbers, so that paths are compared only once.
struct Places: Sendable {
  struct Place: Sendable {
    fileprivate let path: PathKey
    /// The folder around it.
    let parent: Int?
    fileprivate var children: Set<Int> = []
    /// Requests with an intent to read or to write here, in rising order.
    var readers: [Int] = []
    var writers: [Int] = []
    /// Those among them that meet the uses of places below.
    var takers: [Int] = []
    var presenters: [Int] = []

    fileprivate var isEmpty: Bool { children.isEmpty && readers.isEmpty && writers.isEmpty && presenters.isEmpty }
  }

  /// Places with requests or presenters, and the folders around them. Others are left over, for paths to come.
  private var places: [Place] = []
  private var numbers: [PathKey: Int] = [:]
  private var leftOver: [Int] = []
  /// Places without use that are still known: most items are asked for again soon.
  private var unused: Set<Int> = []
  private static let mostUnused = 64
  /// Bytes of a path; the folders of a longer one would take too much room.
  private static let longestUnused = 256

  subscript(number: Int) -> Place { places[number] }

  // MARK: Coming and going

  /// - Returns: the number of its place.
  mutating func insert(_ id: Int, _ intent: Intent) -> Int {
    let number = place(at: intent.item.place)
    if intent.isWrite { places[number].writers.insert(id) } else { places[number].readers.insert(id) }
    if intent.takesPlace { places[number].takers.insert(id) }
    return number
  }

  mutating func remove(_ id: Int, from number: Int) {
    places[number].readers.remove(id)
    places[number].writers.remove(id)
    places[number].takers.remove(id)
    prune(number)
  }

  mutating func insert(presenter id: Int, _ item: Item) { places[place(at: item.place)].presenters.insert(id) }

  mutating func remove(presenter id: Int, _ item: Item) {
    guard let number = numbers[item.place] else { return }
    places[number].presenters.remove(id)
    prune(number)
  }

  private mutating func place(at path: PathKey) -> Int {
    if let number = numbers[path] { return number }
    let parent = path.parent.map { place(at: $0) }
    let new = Place(path: path, parent: parent)
    let number = leftOver.popLast() ?? places.count
    if number == places.count { places.append(new) } else { places[number] = new }
    numbers[path] = number
    if let parent { places[parent].children.insert(number) }
    return number
  }

  private mutating func prune(_ number: Int) {
    guard places[number].isEmpty else { return }
    if places[number].path.text.utf8.count > Self.longestUnused { return forget(number) }
    guard unused.insert(number).inserted, unused.count > Self.mostUnused else { return }
    for number in unused { forget(number) }
    unused = []
  }

  /// Forgets a place without use, and the folders that are only around it.
  private mutating func forget(_ number: Int) {
    var next: Int? = number
    while let number = next, places[number].isEmpty, numbers[places[number].path] == number {
      next = places[number].parent
      if let next { places[next].children.remove(number) }
      numbers[places[number].path] = nil
      leftOver.append(number)
    }
  }

  // MARK: Looking around

  /// The places inside a place.
  func below(_ number: Int) -> [Int] {
    var found = Array(places[number].children)
    var position = 0
    while position < found.count {
      found += places[found[position]].children
      position += 1
    }
    return found
  }

  /// A path's place and those around it; with its contents: those inside it as well.
  private func near(_ path: PathKey, withContents: Bool) -> [Int] {
    var found = withContents ? numbers[path].map { below($0) } ?? [] : []
    var path: PathKey? = path
    while let each = path {
      if let number = numbers[each] { found.append(number) }
      path = each.parent
    }
    return found
  }

  func requests(near path: PathKey) -> Set<Int> {
    Set(near(path, withContents: true).flatMap { places[$0].readers + places[$0].writers })
  }

  func presenters(near path: PathKey, withContents: Bool) -> Set<Int> {
    Set(near(path, withContents: withContents).flatMap { places[$0].presenters })
  }
}

extension PathKey {
  fileprivate var parent: PathKey? { text.utf8.count > 1 ? text.parentPath.map { PathKey($0) } : nil }
}

/// Numbers in rising order, each once.
extension [Int] {
  fileprivate mutating func insert(_ number: Int) {
    let position = firstPosition(from: number)
    if position == count || self[position] != number { insert(number, at: position) }
  }

  fileprivate mutating func remove(_ number: Int) {
    let position = firstPosition(from: number)
    if position < count, self[position] == number { remove(at: position) }
  }

  /// The position of the first number that is not below another.
  func firstPosition(from number: Int) -> Int {
    // Most numbers are added at the end, and removed at the front.
    guard let first, let last, last >= number else { return count }
    if first >= number { return 0 }
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if self[middle] < number { range = middle + 1..<range.upperBound } else { range = range.lowerBound..<middle }
    }
    return range.lowerBound
  }
}
