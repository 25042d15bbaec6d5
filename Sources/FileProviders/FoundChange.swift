internal import Paths

/// A file or folder that lies in a provider's folder.
package struct FoundFile: Sendable, Equatable {
  /// Below the provider's folder.
  package let path: String
  /// Inode and time of birth: an inode's number is given to another file again.
  package let node: String
  package let isFolder: Bool
  /// Its mode lets no user open it. A placeholder is so; one that is no item's was made just before a broker was killed.
  package let isShut: Bool

  package init(path: String, node: String, isFolder: Bool, isShut: Bool = false) {
    (self.path, self.node, self.isFolder, self.isShut) = (path, node, isFolder, isShut)
  }
}

/// An act of a user or an app in a provider's folder that the provider does not know yet.
package enum FoundChange: Sendable, Equatable {
  /// A new file or folder.
  case made(FoundFile)
  /// It has another name, or another folder.
  case moved(ProvidedFile, to: String)
  /// Another file has its place: a program saved by `rename(2)`.
  case replaced(ProvidedFile, by: FoundFile)
  case removed(ProvidedFile)

  /// Where it is now; of something that was removed, where it was.
  package var path: String {
    switch self {
    case .made(let file): file.path
    case .moved(_, let path): path
    case .replaced(let file, _), .removed(let file): file.path
    }
  }

  /// The steps from the provider's items to the folder's: new folders and moves, then removals, the deepest first, and new
  /// documents, whose names are free then.
  ///
  /// A move of a folder is one step; its contents went with it. A look passes hidden files over: a hidden item is there while
  /// its folder is.
  package static func changes(from known: [ProvidedFile], to found: [FoundFile]) -> [FoundChange] {
    var byNode: [String: Int] = [:]
    byNode.reserveCapacity(known.count)
    for (index, file) in known.enumerated() where !file.node.isEmpty { byNode[file.node] = byNode[file.node] ?? index }
    // Most looks find nothing new.
    let isSame = found.allSatisfy { file in
      byNode[file.node].map { known[$0].path == file.path && known[$0].item.isFolder == file.isFolder } ?? false
    }
    if isSame, found.count == known.count || found.count == known.count(where: { !$0.isHidden }) { return [] }
    let byPath = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let present = Dictionary(found.map { ($0.node, $0) }, uniquingKeysWith: { first, _ in first })
    /// Whether an item's own file is there under some name.
    func isThere(_ item: ProvidedFile) -> Bool { present[item.node].map { $0.isFolder == item.item.isFolder } ?? false }
    var steps: [FoundChange] = []
    var documents: [FoundChange] = []
    var seen: Set<String> = []
    var moves: [(from: String, to: String)] = []
    func now(_ path: String) -> String {
      moves.reduce(path) { path, move in
        path.path(within: move.from).map { $0.isEmpty ? move.to : "\(move.to)/\($0)" } ?? path
      }
    }
    for file in found.sorted(by: { $0.path < $1.path }) {
      if let item = byNode[file.node].map({ known[$0] }), item.item.isFolder == file.isFolder,
        seen.insert(item.item.identifier).inserted
      {
        guard now(item.path) != file.path else { continue }
        steps.append(.moved(item, to: file.path))
        if file.isFolder { moves.append((now(item.path), file.path)) }
      } else if let item = byPath[file.path], !isThere(item), item.item.isFolder == file.isFolder,
        seen.insert(item.item.identifier).inserted
      {
        documents.append(.replaced(item, by: file))
      } else if file.isFolder {
        steps.append(.made(file))
      } else if !file.isShut {
        documents.append(.made(file))
      }
    }
    let missing = known.filter { !seen.contains($0.item.identifier) }
    let folders = Set(missing.filter { $0.item.isFolder && !$0.isHidden }.map(\.path))
    let gone = missing.filter { !$0.isHidden || $0.isBelow(folders) }.sorted { $0.path > $1.path }
    return steps + gone.map { .removed($0) } + documents
  }
}

extension ProvidedFile {
  /// It, or a folder around it, has a hidden name.
  fileprivate var isHidden: Bool { path.pathNames.contains { $0.isHiddenName } }

  fileprivate func isBelow(_ folders: Set<String>) -> Bool {
    var place = path
    while let folder = place.parentPath, !folder.isEmpty {
      if folders.contains(folder) { return true }
      place = folder
    }
    return false
  }
}
