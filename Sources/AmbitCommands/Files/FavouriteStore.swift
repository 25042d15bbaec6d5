internal import Folders
internal import Kernel
internal import Launcher
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Terminal
internal import UserFiles

#if canImport(Glibc)
  internal import Glibc
#endif

/// The user's favourites on the disk: `favourites` in Ambit's state folder.
struct FavouriteStore {
  private static let name = "favourites"
  private let folder: Descriptor
  private let path: String

  init(_ folders: AmbitFolders) throws {
    try folders.make()
    folder = try Descriptor.open(folders.state, flags: [.read, .directory])
    path = folders.state.path(of: Self.name)
  }

  static func favourite(_ file: HeldFile) throws(KernelError) -> Favourite {
    let identity = try FileIdentity(of: file.item)
    return Favourite(
      path: file.path, volume: identity.volume, handle: identity.handle, inode: identity.inode, birth: identity.birth)
  }

  /// Where they are now, in their order. Those that have moved are found by their identity, and noted at their new place.
  ///
  /// - Returns: `path` is `nil` where a file is nowhere to be found.
  func found() throws -> [(known: Favourite, path: String?)] {
    // A lost file is looked for in the neighbourhood, and not for long.
    let finder = DocumentFinder(searchBudget: 200_000)
    let all = try read().all
    var paths: [(known: Favourite, path: String?)] = []
    for each in all {
      let identity = FileIdentity(volume: each.volume, handle: each.handle, inode: each.inode, birth: each.birth)
      paths.append((each, finder.find(identity, lastSeenAt: each.path, pinned: nil)?.document.path))
    }
    let moved = paths.filter { $0.path.map { [known = $0.known] in !$0.isSamePath(as: known.path) } ?? false }
    if !moved.isEmpty {
      try change { favourites in
        for (known, path) in moved where favourites.contains(known) {
          var known = known
          known.path = path ?? known.path
          _ = favourites.add(known)
        }
      }
    }
    return paths
  }

  func read() throws -> Favourites {
    let file: Descriptor
    do throws(KernelError) {
      file = try Descriptor.open(Self.name, below: folder, flags: [.read, .nonBlocking, .noFollow])
    } catch {
      if error.errno == .noSuchFileOrDirectory { return Favourites() }
      throw error
    }
    let bytes = try file.readAll(limit: Favourites.limit + 1)
    guard bytes.count <= Favourites.limit, let favourites = Favourites(String(decoding: bytes, as: UTF8.self)) else {
      throw Failure(
        "\(printable(path)) is no list of favourites of this version of Ambit. Move it away, and add them again.")
    }
    return favourites
  }

  /// Two commands at a time change it one after the other; a reader sees it before or after.
  func change(_ body: (inout Favourites) throws -> Void) throws {
    let lock = try Descriptor.open(
      "\(Self.name).lock", below: folder, flags: [.write, .create, .noFollow], mode: 0o600)
    try KernelError.check("flock", path) { flock(lock.rawValue, LOCK_EX) }
    var favourites = try read()
    let before = favourites
    try body(&favourites)
    guard favourites != before else { return }
    let temporary = ".\(Self.name)-\(Grant.makeID())"
    let file = try Descriptor.open(temporary, below: folder, flags: [.write, .create, .exclusive], mode: 0o600)
    do {
      try file.writeAll(Array(favourites.text.utf8))
      try file.synchronize()
      try folder.move(temporary, to: folder, as: Self.name)
    } catch {
      try? folder.removeFile(temporary)
      throw error
    }
    try? folder.synchronize()
  }
}
