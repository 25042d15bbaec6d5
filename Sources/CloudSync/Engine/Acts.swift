/// A local act under way.
struct Acting: Codable, Hashable, Sendable {
  let number: Int
  let entry: String
  let act: LocalAct
  /// The temporary that the act moves into the folder.
  let staged: SyncEntry.Staged?

  /// The place that the act takes.
  fileprivate var target: FolderIndex.Place? {
    switch act {
    case .place(_, let parent, let name): FolderIndex.Place(parent, name)
    case .move(_, _, let to): FolderIndex.Place(to.parent, to.name)
    case .replace, .remove, .keep: nil
    }
  }
}

/// The local acts under way: one for each entry at most, and one for each place.
struct Acts: Sendable {
  private var byNumber: [Int: Acting] = [:]
  private var numbers: [String: Int] = [:]
  private var targets: [FolderIndex.Place: Int] = [:]

  var count: Int { byNumber.count }
  var isEmpty: Bool { byNumber.isEmpty }

  /// In the order of their numbers.
  var all: [Acting] { byNumber.values.sorted { $0.number < $1.number } }

  subscript(number: Int) -> Acting? { byNumber[number] }

  func has(entry id: String) -> Bool { numbers[id] != nil }

  /// Another act is about to take the place, or a name that collides.
  func isTaken(_ parent: String, _ name: String) -> Bool { targets[FolderIndex.Place(parent, name)] != nil }

  mutating func add(_ acting: Acting) {
    byNumber[acting.number] = acting
    numbers[acting.entry] = acting.number
    if let target = acting.target { targets[target] = acting.number }
  }

  mutating func remove(_ number: Int) -> Acting? {
    guard let acting = byNumber.removeValue(forKey: number) else { return nil }
    if numbers[acting.entry] == number { numbers[acting.entry] = nil }
    if let target = acting.target, targets[target] == number { targets[target] = nil }
    return acting
  }
}

/// As a list.
extension Acts: Codable {
  init(from decoder: any Decoder) throws { for acting in try [Acting](from: decoder) { add(acting) } }
  func encode(to encoder: any Encoder) throws { try all.encode(to: encoder) }
}
