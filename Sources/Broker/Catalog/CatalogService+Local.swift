internal import BrokerCore
internal import Catalog
internal import Folders
internal import Kernel
internal import Paths
internal import Query

/// The apps' own documents: what threads read of them, and what the kernel tells of them.
extension CatalogService {
  typealias Place = FolderListing.Place

  /// Entries of a new folder that are read on the loop, for an access that is about to end.
  private static let mostInline = 512
  /// Folders that come, go or move, and places that are looked at, in one turn of the loop. With more of an app, a thread reads all of
  /// its documents again: an app can change them faster than the loop can follow.
  private static let mostMoves = 32
  private static let mostLookedAt = 4096
  /// As many places as a package takes the time of: all in it is looked at.
  private static let weightOfPackage = 128

  // MARK: Reading

  /// Has a thread read a folder and all in it.
  func read(_ folder: String, in catalog: AppCatalog) {
    if !catalog.listing.waiting.contains(where: { $0.isSamePath(as: folder) }) {
      catalog.listing.waiting.append(folder)
    }
    beginReading(catalog)
  }

  private func beginReading(_ catalog: AppCatalog) {
    guard !catalog.listing.isReading, !catalog.listing.waiting.isEmpty, let files = catalog.files else { return }
    let folders = catalog.listing.waiting
    catalog.listing.waiting = []
    catalog.listing.isReading = true
    catalog.listing.isFull = false
    let (scan, inbox) = (LocalScan(files: files, table: catalog.table, watches: watches), inbox)
    // Not by the app: another catalog of it may be there by then. This one is kept until the thread is done.
    let target = ObjectIdentifier(catalog)
    jobs.start(owner: "catalog of \(catalog.app)", subject: "Documents") { heartbeat in
      do throws(StateError) {
        _ = try scan.run(folders, while: heartbeat.beat) { inbox.add(.scan(target, $0)) }
        return String?.none
      } catch { return "\(error)" }
    } then: { (failure: String??) in
      self.finishReading(catalog, folders, failure)
    }
  }

  /// - Parameter failure: the outer `nil`: nothing has come back.
  private func finishReading(_ catalog: AppCatalog, _ folders: [String], _ failure: String??) {
    takeReports()
    guard apps[catalog.app] === catalog else { return }
    catalog.listing.isReading = false
    guard let failure else { return giveUp(catalog, "the container could not be read in time") }
    if let failure {
      complain("\(failure)")
      return startAnew()
    }
    if folders.contains("") { catalog.listing.isWhole = true }
    let touched = catalog.listing.touched
    catalog.listing.touched = []
    if isTooMuch(touched, in: catalog) {
      catalog.listing.waiting = [""]
    } else {
      look(at: touched, in: catalog, wereRead: true)
    }
    beginReading(catalog)
    catalog.settleWaits()
  }

  func take(_ report: CatalogInbox.Report) {
    switch report {
    case .results(let target, let ids):
      queries.first { ObjectIdentifier($0) == target }?.note(ids)
    case .scan(let target, let report):
      if let catalog = apps.values.first(where: { ObjectIdentifier($0) == target }) { take(report, in: catalog) }
    }
  }

  private func take(_ report: LocalScan.Report, in catalog: AppCatalog) {
    switch report {
    case .found(let folder, let all, let news):
      // Until now, nobody was told of what the catalog said of this folder.
      let isFirst = !catalog.listing.isWhole && !catalog.listing.read.contains(PathKey(folder))
      catalog.listing.begun.insert(PathKey(folder))
      post(isFirst ? all : news, in: catalog)
    case .gone(let ids): post(ids, in: catalog)
    case .reference(let path, let grant): catalog.setReference(path.text, grant)
    case .read(let folder, let references):
      catalog.listing.begun.insert(PathKey(folder))
      catalog.listing.read.insert(PathKey(folder))
      catalog.keepReferences(references, in: LocalFiles.path(folder))
    case .unwatched(let folder): catalog.listing.unwatched.insert(PathKey(folder))
    case .full: catalog.listing.isFull = true
    case .count(let count): catalog.listing.room = LocalScan.most - count
    }
  }

  // MARK: Looking

  /// Looks at places, and has the catalog say what is there.
  ///
  /// - Parameter wereRead: a thread has read them meanwhile, perhaps folders that had gone to another place by then.
  func look(at places: some Sequence<Place>, in catalog: AppCatalog, wereRead: Bool = false) {
    guard let files = catalog.files else { return }
    var (items, gone): ([CatalogItem], [String]) = ([], [])
    var trees: [String] = []
    for (folder, places) in Dictionary(grouping: places, by: \.folder) {
      let opened = files.open(folder.text)
      for place in places {
        let path = LocalFiles.path(folder.text, place.name.text)
        switch opened.map({ files.look(at: place.name.text, in: $0, folder.text) }) ?? .nothing {
        case .item(let item):
          items.append(item)
          catalog.setReference(path, nil)
        case .reference(let grant):
          gone.append(path)
          catalog.setReference(path, grant)
        case .nothing:
          gone.append(path)
          if wereRead { trees.append(place.inner) }
          catalog.setReference(path, nil)
        }
      }
    }
    catalog.listing.room -= items.count
    if catalog.listing.room < 0 {
      catalog.listing.room = LocalScan.most - ((try? catalog.table.count()) ?? 0)
      catalog.listing.isFull = catalog.listing.room <= 0
    }
    if catalog.listing.isFull {
      items = items.filter { ((try? catalog.table.item(at: $0.record.path)) ?? nil) != nil }
    }
    change(catalog) { table throws(StateError) in
      var changed = try table.put(items).filter(\.isNews).map(\.id) + table.remove(gone)
      for tree in trees { changed += try table.removeTree(tree) }
      return changed
    }
  }

  private func change(_ catalog: AppCatalog, _ body: (CatalogTable) throws(StateError) -> [Int64]) {
    do throws(StateError) { post(try body(catalog.table), in: catalog) } catch {
      complain("\(error)")
      startAnew()
    }
  }

  private func isTooMuch(_ places: Set<Place>, in catalog: AppCatalog) -> Bool {
    let packages = places.count { catalog.files?.isPackage($0.name.text) == true }
    return places.count + packages * Self.weightOfPackage > Self.mostLookedAt
  }

  /// Nothing is followed any more until all has been read.
  private func readAnew(_ catalog: AppCatalog) {
    watches.leaveTree(catalog.app, "")
    read("", in: catalog)
  }

  // MARK: Events

  /// Follows what has happened, in its order, and looks at each place when all is known.
  func carryOut(_ events: [ChangeWatcher.Event], inline: Bool) {
    var dirty: [String: Set<Place>] = [:]
    /// Places that something has left, by app and by the number of the move.
    var away: [String: [UInt32: (place: Place, isFolder: Bool)]] = [:]
    var moves: [String: Int] = [:]
    var isReadAnew: Set<String> = []
    /// - Returns: `false`: there are too many.
    func countMove(_ catalog: AppCatalog) -> Bool {
      moves[catalog.app, default: 0] += 1
      if moves[catalog.app, default: 0] > Self.mostMoves, isReadAnew.insert(catalog.app).inserted { readAnew(catalog) }
      return !isReadAnew.contains(catalog.app)
    }
    for event in events {
      if event.kind == .lost {
        for catalog in apps.values {
          catalog.lookAt(catalog.externals.keys.sorted())
          read("", in: catalog)
        }
        continue
      }
      for role in watches.roles(of: event.watch) {
        guard let catalog = apps[role.app] else { continue }
        switch role {
        case .external(_, let folder): noticed(event, in: folder, catalog)
        case .container:
          // The app has made, removed or renamed the whole folder.
          guard event.name == LocalFiles.folder, event.kind != .content, event.kind != .attributes else { continue }
          if isReadAnew.insert(catalog.app).inserted { readAnew(catalog) }
        case .package where isReadAnew.contains(catalog.app), .folder where isReadAnew.contains(catalog.app): continue
        case .package(let app, let path):
          guard let package = outermostPackage(path.text, catalog) else { continue }
          dirty[app, default: []].insert(package)
          if event.isFolder, event.kind == .created || event.kind == .movedHere, countMove(catalog) {
            appeared(Place(path.text, event.name), catalog, inline)
          }
        case .folder(let app, let folder):
          let place = Place(folder.text, event.name)
          dirty[app, default: []].insert(place)
          // A folder's own date changes with its entries.
          if !folder.text.isEmpty {
            let (parent, name) = LocalFiles.split(folder.text)
            if event.kind != .content, event.kind != .attributes { dirty[app, default: []].insert(Place(parent, name)) }
          }
          guard LocalFiles.isShown(event.name) else { continue }
          if event.isFolder, event.kind != .content, event.kind != .attributes, !countMove(catalog) { continue }
          switch event.kind {
          case .movedAway: away[app, default: [:]][event.move] = (place, event.isFolder)
          case .movedHere:
            if let from = away[app]?.removeValue(forKey: event.move) {
              moved(from.place, to: place, isFolder: event.isFolder, catalog, inline)
            } else if event.isFolder {
              appeared(place, catalog, inline)
            }
          case .created: if event.isFolder { appeared(place, catalog, inline) }
          case .deleted: if event.isFolder { vanished(place, catalog) }
          case .content, .attributes, .lost: break
          }
        }
      }
    }
    for (app, left) in away {
      guard let catalog = apps[app], !isReadAnew.contains(app) else { continue }
      for (place, isFolder) in left.values where isFolder { vanished(place, catalog) }
    }
    for (app, places) in dirty {
      guard let catalog = apps[app], !isReadAnew.contains(app) else { continue }
      guard !isTooMuch(places, in: catalog) else {
        readAnew(catalog)
        continue
      }
      look(at: places, in: catalog)
      if catalog.listing.isReading, catalog.listing.touched.count <= Self.mostLookedAt {
        catalog.listing.touched.formUnion(places)
      }
    }
  }

  private func outermostPackage(_ path: String, _ catalog: AppCatalog) -> Place? {
    var folder = ""
    for name in path.pathNames {
      if catalog.files?.isPackage(name) == true { return Place(folder, name) }
      folder = LocalFiles.inner(folder, name)
    }
    return nil
  }

  /// A folder is there that was not.
  private func appeared(_ place: Place, _ catalog: AppCatalog, _ inline: Bool) {
    guard let files = catalog.files else { return }
    let scan = LocalScan(
      files: files, table: catalog.table, watches: watches, budget: min(Self.mostInline, inlineLeft))
    // A package is one item: only its changes are of interest.
    if let package = outermostPackage(place.inner, catalog) {
      if !scan.watchPackage(place.inner) { catalog.listing.unwatched.insert(package.folder) }
      return
    }
    guard inline, inlineLeft > 0, !catalog.listing.isReading else { return read(place.inner, in: catalog) }
    let start = place.inner
    var isMore = false
    do throws(StateError) {
      _ = try scan.run(
        [start], while: { true }
      ) { report in
        switch report {
        case .full: isMore = true
        case .read:
          inlineLeft -= 1
          take(report, in: catalog)
        case .found(_, let all, _):
          inlineLeft -= all.count
          take(report, in: catalog)
        default: take(report, in: catalog)
        }
      }
    } catch {
      complain("\(error)")
      return startAnew()
    }
    if isMore { read(start, in: catalog) }
  }

  private func vanished(_ place: Place, _ catalog: AppCatalog) {
    watches.leaveTree(catalog.app, place.inner)
    change(catalog) { table throws(StateError) in try table.removeTree(place.inner) }
    let path = LocalFiles.path(place.inner)
    for reference in catalog.references.all.keys where reference.text.lies(below: path) {
      catalog.setReference(reference.text, nil)
    }
  }

  /// Something has another name or another folder, and is the same item as before.
  private func moved(_ old: Place, to new: Place, isFolder: Bool, _ catalog: AppCatalog, _ inline: Bool) {
    guard let files = catalog.files, let opened = files.open(new.folder.text),
      case .item(let item) = files.look(at: new.name.text, in: opened, new.folder.text)
    else {
      if isFolder { vanished(old, catalog) }
      return
    }
    change(catalog) { table throws(StateError) in
      try table.move(from: LocalFiles.path(old.folder.text, old.name.text), to: item)
    }
    guard isFolder else { return }
    let wasPackage = files.isPackage(old.name.text)
    if wasPackage || item.record.kind == .package {
      vanished(old, catalog)
    } else {
      watches.moveTree(catalog.app, from: old.inner, to: new.inner)
      change(catalog) { table throws(StateError) in
        try table.moveTree(from: old.inner, to: new.inner, root: LocalFiles.root)
      }
      catalog.movedFolder(old.inner, new.inner)
    }
    appeared(new, catalog, inline)
  }

  /// Looks at the items that an access has written, whatever the kernel has told of them.
  ///
  /// - Returns: whether the app may know one of them.
  func lookAt(written places: [PathKey], in catalog: AppCatalog) -> Bool {
    let documents = host.realContainer(of: catalog.app).path(of: "Documents")
    var written: Set<Place> = []
    var isKnown = false
    for place in places {
      if let rest = place.text.path(within: documents), !rest.isEmpty {
        let (folder, name) = LocalFiles.split(rest)
        if let package = outermostPackage(rest, catalog) {
          written.insert(package)
        } else if !rest.pathNames.contains(where: { !LocalFiles.isShown($0) }) {
          written.insert(Place(folder, name))
        }
      }
      for (grant, external) in catalog.externals {
        guard let found = external.found else {
          catalog.lookAt([grant])
          continue
        }
        guard found.path.text.lies(within: place.text) || place.text.lies(within: found.path.text) else { continue }
        isKnown = true
        catalog.lookAt([grant])
      }
    }
    guard !written.isEmpty else { return isKnown }
    look(at: written, in: catalog)
    // The kernel tells of folders one level at a time.
    for place in written where !catalog.listing.begun.contains(PathKey(place.inner)) && catalog.listing.isWhole {
      let item = try? catalog.table.item(at: LocalFiles.path(place.inner))
      if let item, item.record.kind == .folder { appeared(place, catalog, true) }
    }
    return true
  }
}
