internal import Kernel

/// A walk through folders, nearest to the last place first: by the inode number that reading a folder tells anyway,
/// so that nothing but true candidates is opened. It looks for several documents of one volume at once.
///
/// A volume may have subvolumes (btrfs), each with inode numbers and a device number of its own. No file leaves its subvolume, but
/// subvolumes are renamed and moved themselves: so those of the documents are gone into wherever they are met, and others last, and
/// only if there are more in them. Snapshots, which hold copies of everything, mostly have none.
///
/// It keeps the numbers of the folders that it has been in, and the names of those that it still has to go to: some sixteen bytes
/// for each folder that it has read, for any number of files.
struct DocumentSearch {
  let finder: DocumentFinder
  private let volume: [UInt8]
  /// The wanted files, by inode number.
  private var wanted: [UInt64: [FileIdentity]] = [:]
  /// Without these the search goes on.
  private var essential: Set<FileIdentity>
  private(set) var found: [FileIdentity: (document: FoundDocument, by: FindMethod)] = [:]
  /// It has not ended before it had been everywhere.
  private(set) var isComplete = true

  private var budget: Int
  private let deadline: Int64
  /// By the number of the device, which each subvolume has its own.
  private var visited: [UInt64: Set<UInt64>] = [:]
  private var visitedCount = 0
  /// The subvolumes that the documents are in; `nil` where there are none.
  private let subvolumes: Set<UInt64?>
  /// Folders at the top of other subvolumes, for the end.
  private var others: [String] = []
  private var begun: Set<String> = []
  private var scan = FolderScan()

  /// More folders than these are not kept in mind, nor gone to.
  private static let mostFolders = 1 << 19
  private static let mostOthers = 4096

  /// - Parameters:
  ///   - identities: all of one volume.
  ///   - batch: looked for on the way, and no further.
  init(
    finder: DocumentFinder, _ identities: [FileIdentity], batch: [FileIdentity] = [], budget: Int,
    time: Int64 = DocumentFinder.searchTime
  ) {
    self.finder = finder
    self.budget = budget
    volume = identities.first?.volume ?? []
    essential = Set(identities)
    deadline = Clock.monotonic() + time
    let all = (identities + batch).filter { [volume] in $0.volume == volume }
    subvolumes = Set(all.map(\.handle.subvolume))
    for identity in all {
      wanted[identity.inode, default: []].append(identity)
      // The folder around it says the number of the subvolume instead.
      if identity.inode == FileHandle.topOfSubvolume, let subvolume = identity.handle.subvolume {
        wanted[subvolume, default: []].append(identity)
      }
    }
  }

  private var isOver: Bool { essential.isEmpty || budget <= 0 }

  /// Outwards from each of these paths: in the folders of all of them, then below those, then in the folders above.
  mutating func run(from paths: [String]) {
    let ancestors = paths.map(\.ancestors)
    for distance in 0..<(ancestors.map(\.count).max() ?? 0) {
      // A folder's own entries before those below them: most documents do not go far.
      for deep in distance == 0 ? [false, true] : [true] {
        for chain in ancestors where distance < chain.count && !isOver {
          begin(at: chain[distance], by: deep ? .search : .siblings, deep: deep)
        }
      }
    }
    searchOtherMounts()
    searchOtherSubvolumes()
  }

  private mutating func begin(at path: String, by method: FindMethod, deep: Bool) {
    guard begun.insert("\(deep) \(path)").inserted,
      let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
      let status = try? folder.status(), (try? folder.volumeIdentity()) == volume
    else { return }
    if deep, !isWorthwhile(folder) {
      others.append(path)
      return
    }
    visit(status)
    walk(folder, device: status.device, method, deep: deep)
  }

  /// - Returns: whether it is the first time.
  @discardableResult
  private mutating func visit(_ folder: FileStatus) -> Bool {
    let isNew = visited[folder.device, default: []].insert(folder.inode).inserted
    if isNew { visitedCount += 1 }
    return isNew
  }

  /// Whether a folder is in a subvolume that a document is in.
  private func isWorthwhile(_ folder: Descriptor) -> Bool {
    guard subvolumes != [nil] else { return true }
    return subvolumes.contains((try? FileHandle(of: folder))?.subvolume)
  }

  /// In one folder with all that is below it, and nowhere else.
  mutating func run(in folder: Descriptor) {
    guard
      let start = try? Descriptor.open(
        ".", below: folder, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
      let status = try? start.status()
    else { return }
    visit(status)
    walk(start, device: status.device, .search, deep: true)
    searchOtherSubvolumes()
  }

  /// Its volume may be mounted somewhere else than it was (`BMK-1`).
  private mutating func searchOtherMounts() {
    for mount in isOver ? [] : MountTable.localMountPoints() where !isOver {
      guard let folder = try? Descriptor.open(mount, flags: [.read, .directory, .nonBlocking]),
        let status = try? folder.status(), (try? folder.volumeIdentity()) == volume
      else { continue }
      if !isWorthwhile(folder) {
        others.append(mount)
      } else if visit(status) {
        walk(folder, device: status.device, .search, deep: true)
      }
    }
  }

  /// Where no document is, and one of their subvolumes may be.
  private mutating func searchOtherSubvolumes() {
    while !isOver, !others.isEmpty {
      let path = others.removeFirst()
      guard let folder = try? Descriptor.open(path, flags: [.read, .directory, .nonBlocking], resolve: .noSymlinks),
        folder.mayHaveSubvolumes, let status = try? folder.status(), visit(status)
      else { continue }
      walk(folder, device: status.device, .search, deep: true)
    }
    if !essential.isEmpty, budget <= 0 { isComplete = false }
  }

  /// Depth first, and a folder is opened only when its turn comes: one folder a level is open at a time.
  private mutating func walk(_ start: Descriptor, device: UInt64, _ method: FindMethod, deep: Bool) {
    var waiting: [Waiting] = []
    var current: (folder: Descriptor, device: UInt64)? = (start, device)
    while true {
      if let (folder, device) = current {
        look(in: folder, device: device, method, deep: deep, &waiting)
        if isOver { return }
      }
      guard let next = waiting.popLast() else { return }
      current = enter(next)
    }
  }

  private struct Waiting {
    let name: String
    let parent: Descriptor
    let device: UInt64
  }

  private mutating func enter(_ next: Waiting) -> (folder: Descriptor, device: UInt64)? {
    // A mount in a folder is not of this volume, or reached by its own place; and it may keep one waiting.
    guard
      let folder = try? Descriptor.open(
        next.name, below: next.parent, flags: [.read, .directory, .noFollow, .nonBlocking],
        resolve: [.noSymlinks, .sameMount]), let status = try? folder.status()
    else { return nil }
    if status.device != next.device {
      // Another one of the same mount is a subvolume.
      guard (try? folder.volumeIdentity()) == volume else { return nil }
      guard isWorthwhile(folder) else {
        if others.count < Self.mostOthers, let path = folder.currentPath {
          others.append(path)
        } else {
          isComplete = false
        }
        return nil
      }
    }
    return visit(status) ? (folder, status.device) : nil
  }

  private mutating func look(
    in folder: Descriptor, device: UInt64, _ method: FindMethod, deep: Bool, _ waiting: inout [Waiting]
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
      guard deep, entry.kind == .directory || entry.kind == nil else { continue }
      if waiting.count + visitedCount > Self.mostFolders {
        isComplete = false
      } else {
        waiting.append(Waiting(name: entry.name, parent: folder, device: device))
      }
    }
  }
}
