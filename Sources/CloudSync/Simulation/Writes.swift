/// All contents that users have written in a life: the base of each, and its fate.
struct Writes {
  private var bases: [Int] = []
  /// The cloud's item that had the content first.
  private var homes: [String?] = []
  private var kept: [Bool] = []
  private var deleted: [Bool] = []
  /// A bit for each device.
  private var seen: [UInt8] = []

  var count: Int { bases.count }

  /// - Returns: the name of a new content.
  mutating func write(over base: String?, on device: Int) -> String {
    bases.append(base.flatMap(Self.number) ?? -1)
    homes.append(nil)
    kept.append(false)
    deleted.append(false)
    seen.append(1 << UInt8(device))
    return "c\(bases.count - 1)"
  }

  private static func number(_ content: String) -> Int? { Int(content.dropFirst()) }

  mutating func accept(_ content: String, by item: String) {
    if let n = Self.number(content), homes[n] == nil { homes[n] = item }
  }

  func home(of content: String) -> String? { Self.number(content).flatMap { homes[$0] } }

  mutating func keep(_ content: String) { if let n = Self.number(content) { kept[n] = true } }
  mutating func delete(_ content: String) { if let n = Self.number(content) { deleted[n] = true } }

  func isWhole(_ content: String) -> Bool { Self.number(content).map { bases.indices.contains($0) } ?? false }

  func isKept(_ content: String) -> Bool { Self.number(content).map { kept[$0] } ?? false }

  /// The cloud has had it, or the device has kept it.
  func isSafe(_ content: String) -> Bool { Self.number(content).map { homes[$0] != nil || kept[$0] } ?? false }

  mutating func show(_ content: String, on device: Int) {
    if let n = Self.number(content) { seen[n] |= 1 << UInt8(device) }
  }

  /// The document with this content has been in the device's folder.
  func isSeen(_ content: String, on device: Int) -> Bool {
    Self.number(content).map { seen[$0] & (1 << UInt8(device)) != 0 } ?? false
  }

  func descends(_ content: String, from ancestor: String) -> Bool {
    guard var n = Self.number(content), let goal = Self.number(ancestor) else { return false }
    while n >= 0 {
      if n == goal { return true }
      n = bases[n]
    }
    return false
  }

  /// The first content that is neither current, nor kept, nor deleted by a user who had it, nor an ancestor of such a content.
  func firstLost(current: [String]) -> String? {
    var safe = (0..<bases.count).map { kept[$0] || deleted[$0] }
    for content in current { if let n = Self.number(content) { safe[n] = true } }
    for n in stride(from: bases.count - 1, through: 0, by: -1) where safe[n] && bases[n] >= 0 { safe[bases[n]] = true }
    return safe.firstIndex(of: false).map { "c\($0)" }
  }
}
