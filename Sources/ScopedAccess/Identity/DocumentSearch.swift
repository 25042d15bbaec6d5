internal import Kernel

/// A walk through folders, nearest to the last place first: by the inode number that reading a folder tells anyway,
/// so that nothing but true candidates is opened. It looks for several documents of one volume at once.
///
/// What it keeps is the numbers of the folders that it has been in, and the names of those that it still has to go to:
/// some sixteen bytes for each folder that it has read, whatever the number of files.
struct DocumentSearch {
  let finder: DocumentFinder
  private let volume: [UInt8]
  /// What is looked for, by inode number.
  private var wanted: [UInt64: [FileIdentity]] = [:]
  /// Without these the search goes on.
  private var essential: Set<FileIdentity>
  private(set) var found: [FileIdentity: (document: FoundDocument, by: FindMethod)] = [:]
  /// It has not ended before it had been everywhere.
  private(set) var isComplete = true

  private var budget: Int
  private let deadline: Int64
  private var visited: Set<UInt64> = []
  private var begun: Set<String> = []
  private var scan = FolderScan()

  /// More folders than these are not kept in mind, nor gone to.
  private static let mostFolders = 1 << 19

  /// - Parameters:
  ///   - identities: all of one volume.
  ///   - companions: looked for on the way, and no further.
  init(
    finder: DocumentFinder, _ identities: [FileIdentity], companions: [FileIdentity] = [], budget: Int,
    time: Int64 = DocumentFinder.searchTime
  ) {
    self.finder = finder
    self.budget = budget
    volume = identities.first?.volume ?? []
    essential = Set(identities)
    deadline = Clock.monotonic() + time
    for identity in identities + companions where identity.volume == volume {
      wanted[identity.inode, default: []].append(identity)
    }
  }

  private var isOver: Bool { essential.isEmpty || budget <= 0 }

  /// Outwards from each of these paths: in the folders of all of them, then below those, then in the folders above.
  mutating func run(from paths: [String]) {
    let ancestors = paths.map(\.ancestors)
    for distance in 0..<(ancestors.map(\.count).max() ?? 0) {
      // A folder's own entries before what is below them: most documents do not go far.
      for deep in distance == 0 ? [false, true] : [true] {
        for chain in ancestors where distance < chain.count && !isOver {
          begin(at: chain[distance], by: deep ? .search : .siblings, deep: deep)
        }
      }
    }
    searchOtherMounts()
    if !essential.isEmpty, budget <= 0 { isComplete = false }
  }

  private mutating func begin(at path: String, by method: FindMethod, deep: Bool) {
    guard begun.insert("\(deep) \(path)").inserted,
      let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
      let status = try? folder.status(), (try? folder.volumeIdentity()) == volume
    else { return }
    visited.insert(status.inode)
    walk(folder, device: status.device, method, deep: deep)
  }

  /// In one folder with all that is below it, and nowhere else.
  mutating func run(in folder: Descriptor) {
    guard
      let start = try? Descriptor.open(
        ".", below: folder, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
      let status = try? start.status()
    else { return }
    visited.insert(status.inode)
    walk(start, device: status.device, .search, deep: true)
    if !essential.isEmpty, budget <= 0 { isComplete = false }
  }

  /// Its volume may be mounted somewhere else than it was (`BMK-1`).
  private mutating func searchOtherMounts() {
    for mount in isOver ? [] : MountTable.localMountPoints() where !isOver {
      guard let folder = try? Descriptor.open(mount, flags: [.read, .directory, .nonBlocking]),
        let status = try? folder.status(), (try? folder.volumeIdentity()) == volume,
        visited.insert(status.inode).inserted
      else { continue }
      walk(folder, device: status.device, .search, deep: true)
    }
  }

  /// Depth first, and a folder is opened only when its turn comes: what is open at a time is one folder a level.
  private mutating func walk(_ start: Descriptor, device: UInt64, _ method: FindMethod, deep: Bool) {
    var waiting: [(name: String, parent: Descriptor)] = []
    var current: Descriptor? = start
    while true {
      if let folder = current {
        look(in: folder, method, deep: deep, &waiting)
        if isOver { return }
      }
      guard let next = waiting.popLast() else { return }
      // What is mounted in a folder is not of this volume, or reached by its own place; and it may keep one waiting.
      current = try? Descriptor.open(
        next.name, below: next.parent, flags: [.read, .directory, .noFollow, .nonBlocking],
        resolve: [.noSymlinks, .sameMount])
      if (try? current?.status().device) != device { current = nil }
    }
  }

  private mutating func look(
    in folder: Descriptor, _ method: FindMethod, deep: Bool, _ waiting: inout [(name: String, parent: Descriptor)]
  ) {
    let (wanted, left, deadline) = (wanted, budget, deadline)
    let only = wanted.count == 1 ? wanted.keys.first : nil
    let read = try? scan.read(folder, while: { $0 < left && Clock.monotonic() < deadline }) { inode, kind in
      if deep, kind == .directory || kind == nil { return true }
      return only.map { $0 == inode } ?? (wanted[inode] != nil)
    }
    guard let read else { return }
    budget -= read.count + 1
    if Clock.monotonic() >= deadline { budget = 0 }
    for entry in read.entries {
      for identity in wanted[entry.inode] ?? [] where found[identity] == nil {
        guard let document = finder.candidate(entry.name, below: folder, identity) else { continue }
        found[identity] = (document, method)
        essential.remove(identity)
      }
      guard deep, entry.kind == .directory || entry.kind == nil, visited.insert(entry.inode).inserted else { continue }
      if waiting.count + visited.count > Self.mostFolders {
        isComplete = false
      } else {
        waiting.append((entry.name, folder))
      }
    }
  }
}
