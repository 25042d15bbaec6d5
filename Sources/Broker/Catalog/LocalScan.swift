internal import Catalog
internal import Folders
internal import Kernel
internal import Paths
internal import Query

/// Reads folders of an app's `Documents` into its catalog, in a thread or on the loop. Each folder is watched before it is read.
struct LocalScan: Sendable {
  /// A part that has been read.
  enum Report: Sendable {
    /// Items of a folder that is being read.
    case found(folder: String, all: [Int64], news: [Int64])
    /// Items that are not there any more.
    case gone([Int64])
    case reference(PathKey, grant: String)
    /// All of a folder is in the catalog, and these are the references in it.
    case read(folder: String, references: Set<PathKey>)
    /// A folder is not watched: there is no room for that.
    case unwatched(folder: String)
    /// More than a catalog takes is there.
    case full
    /// How many items the catalog has.
    case count(Int)
  }

  /// Documents of an app that are catalogued at most.
  static let most = 250_000
  private static let batch = 128

  let files: LocalFiles
  let table: CatalogTable
  let watches: CatalogWatches
  /// How many entries there may be in all.
  var budget = LocalScan.most

  /// - Parameters:
  ///   - folders: from `Documents` on; what is in them is read as well.
  ///   - goesOn: asked now and then.
  /// - Returns: `false`: not all was read.
  func run(
    _ folders: [String], while goesOn: () -> Bool, _ report: (Report) -> Void
  ) throws(StateError) -> Bool {
    var left = folders
    if folders.contains(""), !watches.watch(files.container, as: .container(app: files.app)) {
      report(.unwatched(folder: ""))
    }
    // Of all folders, or of what the others leave.
    var budget = folders.contains("") ? budget : min(budget, max(0, Self.most - (try table.count())))
    while let folder = left.popLast() {
      guard goesOn() else { return false }
      guard folder.pathNames.count < LocalFiles.mostDepth else { continue }
      let found: Descriptor?
      do { found = try files.opened(folder) } catch {
        // What is in it is not gone: it is looked for again.
        report(.unwatched(folder: folder))
        continue
      }
      guard let opened = found else {
        watches.leaveTree(files.app, folder)
        report(.gone(try table.removeTree(folder)))
        report(.read(folder: folder, references: []))
        continue
      }
      if !watches.watch(opened, as: .folder(app: files.app, PathKey(folder))) { report(.unwatched(folder: folder)) }
      guard let entries = try? DirectoryReader.entries(of: opened, limit: budget + 1) else {
        report(.unwatched(folder: folder))
        continue
      }
      let isPart = entries.count > budget
      if isPart { report(.full) }
      let names = entries.prefix(budget).map(\.name)
      budget -= names.count
      var (kept, references): (Set<PathKey>, Set<PathKey>) = ([], [])
      var items: [CatalogItem] = []
      func flush() throws(StateError) {
        let put = try table.put(items)
        items = []
        if !put.isEmpty {
          report(.found(folder: folder, all: put.map(\.id), news: put.filter(\.isNews).map(\.id)))
        }
      }
      for name in names {
        // First, so that no change falls between the two.
        if files.isPackage(name), !watchPackage(LocalFiles.inner(folder, name)) { report(.unwatched(folder: folder)) }
        switch files.look(at: name, in: opened, folder) {
        case .nothing: break
        case .reference(let grant):
          references.insert(PathKey(LocalFiles.path(folder, name)))
          report(.reference(PathKey(LocalFiles.path(folder, name)), grant: grant))
        case .item(let item):
          kept.insert(PathKey(item.record.path))
          items.append(item)
          let inner = LocalFiles.inner(folder, name)
          if item.record.kind == .folder { left.append(inner) }
        }
        if items.count == Self.batch {
          try flush()
          guard goesOn() else { return false }
        }
      }
      try flush()
      // What was not looked at may be there.
      if !isPart { report(.gone(try table.sweep(folder: folder, keeping: kept))) }
      report(.read(folder: folder, references: references))
    }
    report(.count(try table.count()))
    return true
  }

  /// Watches the folders of a package, or of a part of one.
  ///
  /// - Parameter path: from `Documents` on.
  /// - Returns: `false`: some of it is not watched.
  @discardableResult
  func watchPackage(_ path: String) -> Bool {
    guard let package = files.open(path) else { return true }
    var isWhole = watches.watch(package, as: .package(app: files.app, PathKey(path)))
    var left = [(package, path)]
    var folders = 0
    while let (folder, path) = left.popLast() {
      guard folders < 64 else { return isWhole }
      for entry in (try? DirectoryReader.entries(of: folder, limit: 1024)) ?? [] where entry.kind == .directory {
        guard
          let inner = try? Descriptor.open(
            entry.name, below: folder, flags: [.read, .directory, .noFollow, .nonBlocking],
            resolve: [.beneath, .noSymlinks, .sameMount])
        else { continue }
        folders += 1
        let place = path.path(of: entry.name)
        if !watches.watch(inner, as: .package(app: files.app, PathKey(place))) { isWhole = false }
        left.append((inner, place))
      }
    }
    return isWhole
  }
}
