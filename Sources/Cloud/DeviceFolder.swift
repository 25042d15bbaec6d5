internal import CloudSync
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// Accesses of a device to its own documents, so that apps which present them save first and hear of each change.
package protocol DeviceAccess: Sendable {
  /// Reads documents in their turn, together. The body runs at most once.
  func read<Value>(_ paths: [String], _ body: () throws -> Value) throws -> Value
  /// Changes, moves or deletes items in their turn, together. The body runs at most once.
  func write<Value>(_ items: [DeviceIntent], _ body: () throws -> Value) throws -> Value
  /// Keeps the present content of a document as a conflict version.
  func keepConflict(_ path: String, device: String) throws
}

/// An act of a device on an item.
package struct DeviceIntent: Sendable, Equatable {
  package enum Use: Sendable, Equatable {
    case merge, delete
    case move(to: String)
  }

  package let path: String
  package let use: Use
}

/// The folder that a device keeps the same as its cloud. Everything in it is reached without links. Hidden files are the device's own.
///
/// Temporaries and the engine's state are in `.ambit-cloud` there: on the same file system, so that moving a temporary into its place is
/// one step.
final class DeviceFolder {
  let path: String
  private let root: Descriptor
  private let own: Descriptor
  private let access: any DeviceAccess
  private let watcher: ChangeWatcher?
  /// Places of items at the last look, by their identities.
  private var places: [String: String] = [:]
  /// Folders that acts have changed and that are not durable yet.
  private var touched: [String: Descriptor] = [:]
  /// Names in folders, as the cloud compares them, for as long as nothing but acts has come between.
  private var names: [String: Set<String>] = [:]
  let staging: DeviceStaging

  /// All folders were watched at the last look.
  private(set) var isWatched = true
  /// Something has changed during the last look.
  private(set) var hasNews = false
  /// Something was moved during it.
  private var hasMoved = false
  /// Looks in a row during which something was moved.
  private var motions = 0
  private static let mostMotions = 50
  /// At one time.
  private static let mostLooks = 4

  static let ownName = ".ambit-cloud"
  /// Of a replaced document, until it goes.
  private static let formerPrefix = ".ambit-former-"
  /// Items at most.
  private static let most = 100_000

  /// - Throws: where the folder cannot be used, or another device uses it.
  init(_ path: String, _ access: any DeviceAccess) throws {
    self.path = path
    self.access = access
    root = try Descriptor.open(path, flags: [.read, .directory])
    do throws(KernelError) { try root.makeDirectory(Self.ownName, mode: 0o700) } catch {
      guard error.errno == .fileExists else { throw error }
    }
    own = try Descriptor.open(Self.ownName, below: root, flags: [.read, .directory, .noFollow])
    watcher = try? ChangeWatcher()
    staging = DeviceStaging(own: own)
  }

  var changes: Descriptor? { watcher?.descriptor }

  /// Forgets the watch's news.
  func clearChanges() { while let watcher, !watcher.events().isEmpty {} }

  /// Held as long as this device runs.
  func lock() throws -> FileLock {
    let file = try Descriptor.open("lock", below: own, flags: [.readWrite, .create, .noFollow], mode: 0o600)
    guard let lock = try FileLock(of: file) else {
      throw StateError("another device keeps \(path) the same as its cloud")
    }
    return lock
  }

  /// - Parameter revision: of the cloud, that the device has seen.
  func knownCloud(at revision: Int) throws(KernelError) -> KnownCloud { try KnownCloud(in: own, revision: revision) }

  /// The engine's state, below the folder's own part.
  func store() throws -> DeviceStore { try DeviceStore(path: path.path(of: "\(Self.ownName)/engine.sqlite")) }

  // MARK: Scanning

  /// All files and folders, without hidden ones and names too long for the cloud.
  ///
  /// An item that was there at the last look and is missing counts as deleted. While items are moved, a look may miss one: its new folder
  /// was read before, and its old one after. So where something is missing and something was moved meanwhile, the folder is looked at
  /// again. Where it cannot be watched, two looks have to miss the same.
  ///
  /// - Throws: ``FolderInMotion``; another error where a part of the folder cannot be read.
  func scan() throws -> [LocalItem] {
    var missed: Set<String>?
    for _ in 0..<Self.mostLooks {
      clearChanges()
      let look = try look()
      let missing = Set(places.keys.filter { look.places[$0] == nil })
      let isAgain = missing == missed && !look.isTorn
      let isSure = missing.isEmpty && !look.isTorn || isWatched && !hasMoved || !isWatched && isAgain
      // A program that moves something all the time keeps the folder from the cloud for some time, and not for ever.
      if isSure || isAgain && motions >= Self.mostMotions {
        motions = 0
        places = look.places
        return look.items
      }
      missed = missing
    }
    motions += 1
    throw FolderInMotion()
  }

  private struct Look {
    var items: [LocalItem] = []
    /// By their identities.
    var places: [String: String] = [:]
    /// Something went while it was looked at.
    var isTorn = false
  }

  private func look() throws -> Look {
    var look = Look()
    (hasNews, hasMoved, isWatched) = (false, false, watcher != nil)
    var open = [(folder: root, id: LocalItem.root, path: "")]
    while let (folder, id, path) = open.popLast() {
      if let watcher, (try? watcher.watch(folder)) == nil { isWatched = false }
      let mount = try folder.status().mount ?? folder.mount
      let entries = try DirectoryReader.entries(of: folder, limit: Self.most + 1)
      guard entries.count <= Self.most else { throw StateError("\(self.path) has more than \(Self.most) items") }
      for entry in entries {
        // Left by a device that died.
        if entry.name.hasPrefix(Self.formerPrefix) { try? folder.removeFile(entry.name) }
        guard CloudInterface.Change.isName(entry.name) else { continue }
        guard let place = try Self.open(entry.name, below: folder, .place) else {
          look.isTorn = true
          continue
        }
        let status = try place.status()
        guard status.kind == .regular || status.kind == .directory, status.mount ?? place.mount == mount else {
          continue
        }
        let item = Self.item(entry.name, status, in: id)
        // A second name of one file is another document, once it is one.
        guard look.places[item.id] == nil else { continue }
        guard look.items.count < Self.most else { throw StateError("\(self.path) has more than \(Self.most) items") }
        let inner = path.isEmpty ? entry.name : "\(path)/\(entry.name)"
        look.places[item.id] = inner
        look.items.append(item)
        guard item.kind == .folder else { continue }
        if let inside = try Self.open(entry.name, below: folder, [.read, .directory, .noFollow]) {
          open.append((inside, item.id, inner))
        } else {
          look.isTorn = true
        }
      }
    }
    while let events = watcher?.events(), !events.isEmpty {
      hasNews = true
      if events.contains(where: { [.movedAway, .movedHere, .lost].contains($0.kind) }) { hasMoved = true }
    }
    return look
  }

  /// - Returns: `nil`: it has gone, or something else has its name by now.
  private static func open(
    _ name: String, below folder: Descriptor, _ flags: OpenFlags
  ) throws(KernelError) -> Descriptor? {
    do throws(KernelError) { return try Descriptor.open(name, below: folder, flags: flags) } catch {
      if [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) { return nil }
      throw error
    }
  }

  static func item(_ name: String, _ status: FileStatus, in parent: String) -> LocalItem {
    LocalItem(
      id: "\(status.inode) \(status.birth)", parent: parent, name: name,
      kind: status.kind == .directory ? .folder : .document, stamp: stamp(status))
  }

  /// The size in a document's stamp, in bytes.
  static func size(_ stamp: String) -> Int64 { stamp.split(separator: " ").first.flatMap { Int64($0) } ?? 0 }
  static func stamp(_ status: FileStatus) -> String { "\(status.size) \(status.modified) \(status.changed)" }
  /// The facts that a rename does not change.
  static func content(_ stamp: String) -> [Substring] { Array(stamp.split(separator: " ").prefix(2)) }

  /// The present place of an item, below the folder.
  private func place(_ id: String) throws -> String {
    if id == LocalItem.root { return "" }
    if let known = places[id], try Self.id(at: known, root) == id { return known }
    _ = try scan()
    guard let found = places[id] else { throw DeviceRefusal() }
    return found
  }

  private static func id(at path: String, _ root: Descriptor) throws -> String? {
    guard let place = try? Descriptor.open(path, below: root, flags: .place, resolve: [.beneath, .noSymlinks]) else {
      return nil
    }
    let status = try place.status()
    return "\(status.inode) \(status.birth)"
  }

  private func folder(_ path: String) throws(KernelError) -> Descriptor {
    path.isEmpty
      ? root : try Descriptor.open(path, below: root, flags: [.read, .directory], resolve: [.beneath, .noSymlinks])
  }

  private func item(at inner: String, in parent: String) throws -> LocalItem {
    let status = try Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks]).status()
    return Self.item(inner.lastPathName, status, in: parent)
  }

  // MARK: Contents

  /// Reads documents from another thread.
  var reader: DeviceReader { DeviceReader(folder: path, root: root, access: access) }

  /// The place of an item at the last look.
  func lastPlace(_ id: String) -> String? { places[id] }

  /// The name of a temporary.
  private func temporary(_ id: String) throws -> String {
    if let name = staging.name(of: id), let place = try? Descriptor.open(name, below: own, flags: .place),
      let status = try? place.status(), "\(status.inode) \(status.birth)" == id
    {
      return name
    }
    for entry in try DirectoryReader.entries(of: own) where entry.name.hasPrefix("new-") {
      let status = try Descriptor.open(entry.name, below: own, flags: .place).status()
      if "\(status.inode) \(status.birth)" == id { return entry.name }
    }
    throw DeviceRefusal()
  }

  func discard(_ id: String) {
    guard let name = try? temporary(id) else { return }
    staging.forget(id)
    remove(name)
  }

  private func remove(_ name: String) {
    if (try? own.removeFile(name)) == nil { try? own.removeDirectory(name) }
  }

  /// Removes the temporaries that a device which ended has left, and documents that were on their way out. What a program has written
  /// into one of these goes back into the folder.
  func removeTemporaries(but kept: Set<String>) throws {
    for entry in try DirectoryReader.entries(of: own) {
      let departing = DepartingFile(fileName: entry.name)
      guard entry.name.hasPrefix("new-") || departing != nil else { continue }
      let status = try Descriptor.open(entry.name, below: own, flags: .place).status()
      let id = "\(status.inode) \(status.birth)"
      switch departing?.judge(id, Self.stamp(status)) ?? .staged {
      case .staged where kept.contains(id):
        if departing != nil { try own.moveAside(entry.name, to: own, as: Self.temporaryName()) }
      case .staged, .unchanged: remove(entry.name)
      case .foreign: try rescue(entry.name, departing)
      }
    }
  }

  static func temporaryName() -> String { "new-\(UInt64.random(in: 0...UInt64.max))" }

  /// Puts a document beside the one that has its place, or else at the top.
  private func rescue(_ entry: String, _ departing: DepartingFile?) throws {
    _ = try scan()
    let successor = departing?.staged.flatMap { places[$0] }
    let name = successor?.lastPathName ?? departing?.name ?? ""
    try putBeside(entry, name.isEmpty ? "Document" : name, try folder(successor?.parentPath ?? ""))
  }

  // MARK: Acts

  /// Carries out acts on different items, each one whole or not at all. When this returns, they are on the disk.
  ///
  /// - Returns: for each act the item after it, `nil` where it is gone; or ``DeviceRefusal``.
  /// - Throws: where the disk cannot keep the act.
  func perform(_ acts: [LocalAct]) throws -> [Result<LocalItem?, any Error>] {
    names = [:]
    var results: [Result<LocalItem?, any Error>] = []
    var next = 0
    while next < acts.count {
      let run = acts[next...].prefix { Self.isShared($0) }.prefix(Self.mostTogether)
      let part = run.isEmpty ? [acts[next]] : Array(run)
      results += part.count > 1 ? together(part) ?? part.map(result(of:)) : part.map(result(of:))
      next += part.count
    }
    try synchronize()
    return results
  }

  private func result(of act: LocalAct) -> Result<LocalItem?, any Error> { Result { try perform(act) } }

  /// Of one coordinated access.
  private static let mostTogether = 64

  private static func isShared(_ act: LocalAct) -> Bool {
    switch act {
    case .replace: true
    case .remove(_, let stamp): stamp != nil
    case .place, .move, .keep: false
    }
  }

  /// Changes several documents in one coordinated access.
  ///
  /// - Returns: `nil`: the access was not granted, and nothing was done.
  private func together(_ acts: [LocalAct]) -> [Result<LocalItem?, any Error>]? {
    let bodies = acts.map { act in
      Result { () throws -> (intent: DeviceIntent, body: () throws -> LocalItem?) in
        switch act {
        case .replace(let id, let stamp, let staged): try replacing(id, stamp, by: staged)
        case .remove(let id, let stamp): try removing(id, stamp)
        default: throw DeviceRefusal()
        }
      }
    }
    let intents = bodies.compactMap { try? $0.get().intent }
    guard !intents.isEmpty else { return bodies.map { $0.flatMap { _ in .success(nil) } } }
    var results: [Result<LocalItem?, any Error>]?
    try? access.write(intents) {
      results = bodies.map { body in Result { try Self.refusing { try body.get().body() } } }
    }
    return results
  }

  /// Waits until the changed folders are on the disk.
  private func synchronize() throws {
    defer { touched = [:] }
    if touched.count > 8 { return try root.synchronizeFileSystem() }
    for folder in touched.values { try folder.synchronize() }
  }

  private func touch(_ place: String, _ folder: Descriptor) { touched[place] = folder }

  /// Carries out an act, whole or not at all.
  ///
  /// - Returns: the item after it; `nil`: it is gone.
  /// - Throws: ``DeviceRefusal``.
  private func perform(_ act: LocalAct) throws -> LocalItem? {
    try Self.refusing {
      switch act {
      case .place(let staged, let parent, let name): return try put(staged, parent, name)
      case .replace(let id, let stamp, let staged):
        let (intent, body) = try replacing(id, stamp, by: staged)
        return try access.write([intent], body)
      case .move(let id, let from, let to): return try move(id, from, to)
      case .remove(let id, let stamp):
        let (intent, body) = try removing(id, stamp)
        return try access.write([intent], body)
      case .keep(_, let id, let content, let device):
        let inner = try place(id)
        try keep(inner, content, device)
        return try item(at: inner, in: parent(of: inner))
      }
    }
  }

  /// Keeps the content of a document as a conflict version. The version is made by the path. So the path has to lead to the document, and
  /// the document has to have the content, before and after.
  private func keep(_ inner: String, _ content: String, _ device: String) throws {
    func confirm() throws -> String {
      let place = try Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks])
      let status = try place.status()
      let named = try Descriptor.open(path.path(of: inner), flags: .place)
      guard status.kind == .regular, try named.status().inode == status.inode, named.mount == place.mount else {
        throw DeviceRefusal()
      }
      return Self.stamp(status)
    }
    let stamp = try confirm()
    let file = try Descriptor.open(
      inner, below: root, flags: [.read, .nonBlocking, .noFollow], resolve: [.beneath, .noSymlinks])
    guard try CloudStore.name(of: file) == content else { throw DeviceRefusal() }
    try access.keepConflict(path.path(of: inner), device: device)
    guard try confirm() == stamp else { throw DeviceRefusal() }
  }

  /// The folder is not as the engine thought.
  private static func refusing(_ body: () throws -> LocalItem?) throws -> LocalItem? {
    do { return try body() } catch let error as KernelError {
      switch error.errno {
      case .fileExists, .noSuchFileOrDirectory, .directoryNotEmpty, .notDirectory, .tooManySymbolicLinkLevels,
        .isDirectory, .invalidArgument:
        throw DeviceRefusal()
      default: throw error
      }
    }
  }

  private func parent(of inner: String) throws -> String {
    guard let parent = inner.parentPath, !parent.isEmpty else { return LocalItem.root }
    guard let id = try Self.id(at: parent, root) else { throw DeviceRefusal() }
    return id
  }

  private func put(_ staged: String, _ parent: String, _ name: String) throws -> LocalItem {
    guard CloudInterface.Change.isName(name) else { throw DeviceRefusal() }
    guard places.count < Self.most else {
      throw StateError("\(path) has \(Self.most) items; “\(name)” has no room in it")
    }
    let (temporary, place) = (try temporary(staged), try place(parent))
    let folder = try folder(place)
    let inner = place.isEmpty ? name : "\(place)/\(name)"
    // Taken out, so that the set is changed and not copied.
    var taken = try names.removeValue(forKey: place) ?? Self.names(in: folder)
    defer { names[place] = taken }
    guard taken.insert(name.lowercased()).inserted else { throw DeviceRefusal() }
    let new = try StagedFile(temporary, in: own)
    try own.moveAside(temporary, to: folder, as: name)
    touch(place, folder)
    places[staged] = inner
    staging.forget(staged)
    return try new.item(name, in: parent)
  }

  /// As the cloud compares them.
  private static func names(in folder: Descriptor) throws(KernelError) -> Set<String> {
    Set(try DirectoryReader.entries(of: folder, limit: most).map { $0.name.lowercased() })
  }

  /// A temporary on its way into the folder.
  private struct StagedFile {
    let place: Descriptor
    private let stamp: String

    init(_ name: String, in own: Descriptor) throws(KernelError) {
      place = try Descriptor.open(name, below: own, flags: .place)
      stamp = DeviceFolder.stamp(try place.status())
    }

    /// The file itself, even if another has its name by now. If a program has written into it already, it has another stamp than the disk says.
    func item(_ name: String, in parent: String) throws(KernelError) -> LocalItem {
      var item = DeviceFolder.item(name, try place.status(), in: parent)
      if DeviceFolder.content(item.stamp) != DeviceFolder.content(stamp) { item.stamp = stamp }
      return item
    }
  }

  /// Names are compared without case, as the cloud does.
  private func isFree(_ name: String, in folder: Descriptor, but own: String? = nil) throws {
    let wanted = name.lowercased()
    for entry in try DirectoryReader.entries(of: folder, limit: Self.most)
    where entry.name != own && entry.name.lowercased() == wanted { throw DeviceRefusal() }
  }

  private func replacing(
    _ id: String, _ stamp: String, by staged: String
  ) throws -> (intent: DeviceIntent, body: () throws -> LocalItem?) {
    let (temporary, inner) = (try temporary(staged), try place(id))
    let parent = try parent(of: inner)
    return (
      DeviceIntent(path: path.path(of: inner), use: .merge),
      { [self] in
        let place = inner.parentPath ?? ""
        let folder = try folder(place)
        let name = inner.lastPathName
        let former = try Descriptor.open(name, below: folder, flags: .place)
        guard Self.stamp(try former.status()) == stamp else { throw DeviceRefusal() }
        try former.copyAttributes(to: Descriptor.open(temporary, below: own, flags: [.write, .noFollow]))
        let new = try StagedFile(temporary, in: own)
        let departing = DepartingFile(id, stamp, staged, named: name)
        let out = departing.fileName
        try own.moveAside(temporary, to: own, as: out)
        do throws(KernelError) { try own.exchange(out, with: name, in: folder) } catch {
          try own.moveAside(out, to: own, as: temporary)
          throw error
        }
        // A program that coordinates nothing may have written in this moment, or put another file there.
        let gone = try Descriptor.open(out, below: own, flags: .place).status()
        guard departing.judge("\(gone.inode) \(gone.birth)", Self.stamp(gone)) == .unchanged else {
          if try takeBack(out, name, folder, staged) { try own.moveAside(out, to: own, as: temporary) }
          throw DeviceRefusal()
        }
        // It goes from the folder that it was in: there its end is seen, and the new file is the document from then on.
        let old = "\(Self.formerPrefix)\(UInt64.random(in: 0...UInt64.max))"
        try own.moveAside(out, to: folder, as: old)
        try folder.removeFile(old)
        touch(place, folder)
        places[id] = nil
        places[staged] = inner
        staging.forget(staged)
        return try new.item(name, in: parent)
      }
    )
  }

  /// A program's file that was taken out of the folder by mistake goes back into its place. If another program's file has that by now,
  /// it gets a name beside it.
  ///
  /// - Returns: whether the staged file is out of the folder again.
  private func takeBack(_ out: String, _ name: String, _ folder: Descriptor, _ staged: String) throws -> Bool {
    try own.exchange(out, with: name, in: folder)
    let status = try Descriptor.open(out, below: own, flags: .place).status()
    if "\(status.inode) \(status.birth)" == staged { return true }
    try putBeside(out, name, folder)
    return false
  }

  /// Moves a file out of the device's own folder, to its name or to one beside it.
  private func putBeside(_ file: String, _ name: String, _ folder: Descriptor) throws(KernelError) {
    var next = name
    while true {
      do throws(KernelError) { return try own.moveAside(file, to: folder, as: next) } catch {
        guard error.errno == .fileExists else { throw error }
      }
      next = Names.spare(for: next) { _ in false }
    }
  }

  private func move(_ id: String, _ from: LocalPlace, _ to: LocalPlace) throws -> LocalItem {
    let inner = try place(id)
    guard CloudInterface.Change.isName(to.name), inner.lastPathName == from.name, try parent(of: inner) == from.parent
    else { throw DeviceRefusal() }
    let target = try place(to.parent)
    let there = target.isEmpty ? to.name : "\(target)/\(to.name)"
    guard there.path(within: inner) == nil || there == inner else { throw DeviceRefusal() }
    let intent = DeviceIntent(path: path.path(of: inner), use: .move(to: path.path(of: there)))
    return try access.write([intent]) {
      let (folder, next) = (try folder(inner.parentPath ?? ""), try folder(target))
      let moved = try Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks])
      let status = try moved.status()
      guard "\(status.inode) \(status.birth)" == id else { throw DeviceRefusal() }
      try isFree(to.name, in: next, but: from.parent == to.parent ? from.name : nil)
      try folder.moveAside(from.name, to: next, as: to.name)
      touch(target, next)
      names = [:]
      places[id] = there
      if status.kind == .directory {
        for (other, place) in places {
          if let rest = place.path(within: inner) { places[other] = there.path(of: rest) }
        }
      }
      return Self.item(to.name, try moved.status(), in: to.parent)
    }
  }

  private func removing(
    _ id: String, _ stamp: String?
  ) throws -> (intent: DeviceIntent, body: () throws -> LocalItem?) {
    let inner = try place(id)
    return (
      DeviceIntent(path: path.path(of: inner), use: .delete),
      { [self] in
        let place = inner.parentPath ?? ""
        let folder = try folder(place)
        let name = inner.lastPathName
        guard try Self.id(at: inner, root) == id else { throw DeviceRefusal() }
        names = [:]
        guard let stamp else {
          try folder.removeDirectory(name)
          places[id] = nil
          return nil
        }
        let former = try Descriptor.open(name, below: folder, flags: .place)
        guard Self.stamp(try former.status()) == stamp else { throw DeviceRefusal() }
        let departing = DepartingFile(id, stamp, nil, named: name)
        let out = departing.fileName
        try folder.moveAside(name, to: own, as: out)
        let gone = try Descriptor.open(out, below: own, flags: .place).status()
        guard departing.judge("\(gone.inode) \(gone.birth)", Self.stamp(gone)) == .unchanged else {
          try putBeside(out, name, folder)
          throw DeviceRefusal()
        }
        try own.removeFile(out)
        touch(place, folder)
        places[id] = nil
        return nil
      }
    )
  }
}

/// The folder changes while it is looked at, so that it is not known which items it has.
struct FolderInMotion: Error {}

/// A condition of an act does not hold; nothing was changed.
struct DeviceRefusal: Error {}
