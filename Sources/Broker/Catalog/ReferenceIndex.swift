internal import Paths

/// The references in an app's `Documents`, by their paths as the app sees them.
struct ReferenceIndex {
  /// The grant that each of them stands for.
  private(set) var all: [PathKey: String] = [:]
  private var ofGrant: [String: Set<PathKey>] = [:]
  private var inFolder: [PathKey: Set<PathKey>] = [:]

  private static let most = 16_384

  /// A reference stands at a path, or none does any more.
  ///
  /// - Returns: the grants that this concerns.
  mutating func set(_ path: String, _ grant: String?) -> [String] {
    let key = PathKey(path)
    let former = all[key]
    guard former != grant, all.count < Self.most || former != nil else { return [] }
    all[key] = grant
    let folder = PathKey(path.parentPath ?? "")
    if grant == nil { inFolder[folder]?.remove(key) } else { inFolder[folder, default: []].insert(key) }
    if let former { ofGrant[former]?.remove(key) }
    if let grant { ofGrant[grant, default: []].insert(key) }
    return [former, grant].compactMap(\.self)
  }

  func paths(in folder: String) -> Set<PathKey> { inFolder[PathKey(folder)] ?? [] }

  /// The one that comes first by its path.
  func first(of grant: String) -> String? { ofGrant[grant]?.min()?.text }
}
