internal import CloudSync
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage
internal import Wire

/// Accesses of a device to its own documents, so that apps which present them save first and hear of what comes.
package protocol DeviceAccess: Sendable {
  /// Reads a document in its turn.
  func read<Value>(_ path: String, _ body: () throws -> Value) throws -> Value
  /// Changes, moves or deletes an item in its turn.
  func write<Value>(_ path: String, _ use: DeviceUse, _ body: () throws -> Value) throws -> Value
  /// Keeps the present content of a document as a conflict version.
  func keepConflict(_ path: String, device: String) throws
}

/// What a device does to an item.
package enum DeviceUse: Sendable, Equatable {
  case merge, delete
  case move(to: String)
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
  }

  var changes: Descriptor? { watcher?.descriptor }

  /// Forgets what the watch has told.
  func clearChanges() { while let watcher, !watcher.events().isEmpty {} }

  /// Held as long as this device runs.
  func lock() throws -> FileLock {
    let file = try Descriptor.open("lock", below: own, flags: [.readWrite, .create, .noFollow], mode: 0o600)
    guard let lock = try FileLock(of: file) else {
      throw StateError("another device keeps \(path) the same as its cloud")
    }
    return lock
  }

  /// The engine's state, below the folder's own part.
  func store() throws -> DeviceStore { try DeviceStore(path: path.path(of: "\(Self.ownName)/engine.sqlite")) }

  // MARK: Scanning

  /// All items of the folder: files and folders, but no hidden ones and nothing that is neither.
  func scan() throws -> [LocalItem] {
    var items: [LocalItem] = []
    var places: [String: String] = [:]
    var open = [(folder: root, id: LocalItem.root, path: "")]
    while let (folder, id, path) = open.popLast() {
      if let watcher { _ = try? watcher.watch(folder) }
      for entry in try DirectoryReader.entries(of: folder, limit: Self.most) {
        // Left by a device that died.
        if entry.name.hasPrefix(Self.formerPrefix) { try? folder.removeFile(entry.name) }
        guard !entry.name.hasPrefix(".") else { continue }
        guard let place = try? Descriptor.open(entry.name, below: folder, flags: .place),
          let status = try? place.status(), status.kind == .regular || status.kind == .directory,
          place.mount == folder.mount
        else { continue }
        let item = Self.item(entry.name, status, in: id)
        // A second name of one file is another document, once it is one.
        guard places[item.id] == nil else { continue }
        guard items.count < Self.most else { throw StateError("\(self.path) has more than \(Self.most) items") }
        let inner = path.isEmpty ? entry.name : "\(path)/\(entry.name)"
        places[item.id] = inner
        items.append(item)
        if item.kind == .folder,
          let inside = try? Descriptor.open(entry.name, below: folder, flags: [.read, .directory, .noFollow])
        {
          open.append((inside, item.id, inner))
        }
      }
    }
    self.places = places
    return items
  }

  static func item(_ name: String, _ status: FileStatus, in parent: String) -> LocalItem {
    LocalItem(
      id: "\(status.inode) \(status.birth)", parent: parent, name: name,
      kind: status.kind == .directory ? .folder : .document, stamp: stamp(status))
  }

  static func stamp(_ status: FileStatus) -> String { "\(status.size) \(status.modified) \(status.changed)" }
  /// What a rename does not change.
  fileprivate static func content(_ stamp: String) -> [Substring] { Array(stamp.split(separator: " ").prefix(2)) }

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

  var staging: DeviceStaging { DeviceStaging(own: own) }

  /// Reads a document from another thread.
  func reader(_ id: String) -> DeviceReader {
    DeviceReader(inner: places[id], folder: path, root: root, access: access)
  }

  /// The name of a temporary.
  private func temporary(_ id: String) throws -> String {
    for entry in try DirectoryReader.entries(of: own) where entry.name.hasPrefix("new-") {
      let status = try Descriptor.open(entry.name, below: own, flags: .place).status()
      if "\(status.inode) \(status.birth)" == id { return entry.name }
    }
    throw DeviceRefusal()
  }

  func discard(_ id: String) {
    guard let name = try? temporary(id) else { return }
    remove(name)
  }

  private func remove(_ name: String) {
    if (try? own.removeFile(name)) == nil { try? own.removeDirectory(name) }
  }

  /// Removes the temporaries that a device which ended has left.
  func removeTemporaries(but kept: Set<String>) throws {
    for entry in try DirectoryReader.entries(of: own) where entry.name.hasPrefix("new-") || entry.name.hasPrefix("old-")
    {
      let status = try Descriptor.open(entry.name, below: own, flags: .place).status()
      if !kept.contains("\(status.inode) \(status.birth)") { remove(entry.name) }
    }
  }

  // MARK: Acts

  /// Carries out an act, whole or not at all.
  ///
  /// - Returns: the item after it; `nil`: it is gone.
  /// - Throws: ``DeviceRefusal``.
  func perform(_ act: LocalAct) throws -> LocalItem? {
    do {
      switch act {
      case .place(let staged, let parent, let name): return try put(staged, parent, name)
      case .replace(let id, let stamp, let staged): return try replace(id, stamp, by: staged)
      case .move(let id, let from, let to): return try move(id, from, to)
      case .remove(let id, let stamp):
        try remove(id, stamp)
        return nil
      case .keep(_, let id, _, let device):
        let inner = try place(id)
        try access.keepConflict(path.path(of: inner), device: device)
        return try item(at: inner, in: parent(of: inner))
      }
    } catch let error as KernelError {
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
    let (temporary, place) = (try temporary(staged), try place(parent))
    let folder = try folder(place)
    let inner = place.isEmpty ? name : "\(place)/\(name)"
    try isFree(name, in: folder)
    let new = try StagedFile(temporary, in: own)
    try own.moveAside(temporary, to: folder, as: name)
    try folder.synchronize()
    places[staged] = inner
    return try new.item(name, in: parent)
  }

  /// A temporary on its way into the folder.
  private struct StagedFile {
    let place: Descriptor
    private let stamp: String

    init(_ name: String, in own: Descriptor) throws(KernelError) {
      place = try Descriptor.open(name, below: own, flags: .place)
      stamp = DeviceFolder.stamp(try place.status())
    }

    /// The file itself, whatever has its name by now. If a program has written into it already, it has another stamp than the disk says.
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

  private func replace(_ id: String, _ stamp: String, by staged: String) throws -> LocalItem {
    let (temporary, inner) = (try temporary(staged), try place(id))
    let parent = try parent(of: inner)
    let item = try access.write(path.path(of: inner), .merge) {
      let folder = try folder(inner.parentPath ?? "")
      let name = inner.lastPathName
      let former = try Descriptor.open(name, below: folder, flags: .place)
      guard Self.stamp(try former.status()) == stamp else { throw DeviceRefusal() }
      try former.copyAttributes(to: Descriptor.open(temporary, below: own, flags: [.write, .noFollow]))
      let new = try StagedFile(temporary, in: own)
      try own.exchange(temporary, with: name, in: folder)
      // A program that coordinates nothing may have written in this moment, or put another file there.
      let out = try Descriptor.open(temporary, below: own, flags: .place).status()
      guard "\(out.inode) \(out.birth)" == id, Self.content(Self.stamp(out)) == Self.content(stamp) else {
        try takeBack(temporary, name, folder, staged)
        throw DeviceRefusal()
      }
      // It goes from the folder that it was in: there its end is seen, and the new file is the document from then on.
      let old = "\(Self.formerPrefix)\(UInt64.random(in: 0...UInt64.max))"
      try own.moveAside(temporary, to: folder, as: old)
      try folder.removeFile(old)
      try folder.synchronize()
      return try new.item(name, in: parent)
    }
    places[id] = nil
    places[staged] = inner
    return item
  }

  /// A program's file that was taken out of the folder by mistake goes back into its place. If another program's file has that by now,
  /// it gets a name beside it.
  private func takeBack(_ temporary: String, _ name: String, _ folder: Descriptor, _ staged: String) throws {
    try own.exchange(temporary, with: name, in: folder)
    let out = try Descriptor.open(temporary, below: own, flags: .place).status()
    guard "\(out.inode) \(out.birth)" != staged else { return }
    try putBeside(temporary, name, folder)
  }

  private func putBeside(_ temporary: String, _ name: String, _ folder: Descriptor) throws {
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
    for number in 2..<10_000 {
      do throws(KernelError) {
        return try own.moveAside(temporary, to: folder, as: "\(name[..<dot]) \(number)\(name[dot...])")
      } catch { guard error.errno == .fileExists else { throw error } }
    }
    throw KernelError("renameat2", name, errno: .fileExists)
  }

  private func move(_ id: String, _ from: LocalPlace, _ to: LocalPlace) throws -> LocalItem {
    let inner = try place(id)
    guard CloudInterface.Change.isName(to.name), inner.lastPathName == from.name, try parent(of: inner) == from.parent
    else { throw DeviceRefusal() }
    let target = try place(to.parent)
    let there = target.isEmpty ? to.name : "\(target)/\(to.name)"
    guard there.path(within: inner) == nil || there == inner else { throw DeviceRefusal() }
    return try access.write(path.path(of: inner), .move(to: path.path(of: there))) {
      let (folder, next) = (try folder(inner.parentPath ?? ""), try folder(target))
      let moved = try Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks])
      guard "\(try moved.status().inode) \(try moved.status().birth)" == id else { throw DeviceRefusal() }
      try isFree(to.name, in: next, but: from.parent == to.parent ? from.name : nil)
      try folder.moveAside(from.name, to: next, as: to.name)
      try next.synchronize()
      places = [:]
      return Self.item(to.name, try moved.status(), in: to.parent)
    }
  }

  private func remove(_ id: String, _ stamp: String?) throws {
    let inner = try place(id)
    try access.write(path.path(of: inner), .delete) {
      let folder = try folder(inner.parentPath ?? "")
      let name = inner.lastPathName
      guard try Self.id(at: inner, root) == id else { throw DeviceRefusal() }
      guard let stamp else { return try folder.removeDirectory(name) }
      let former = try Descriptor.open(name, below: folder, flags: .place)
      guard Self.stamp(try former.status()) == stamp else { throw DeviceRefusal() }
      let old = "old-\(UInt64.random(in: 0...UInt64.max))"
      try folder.moveAside(name, to: own, as: old)
      let moved = try Descriptor.open(old, below: own, flags: .place).status()
      guard "\(moved.inode) \(moved.birth)" == id, Self.content(Self.stamp(moved)) == Self.content(stamp) else {
        do throws(KernelError) { try own.moveAside(old, to: folder, as: name) } catch {
          guard error.errno == .fileExists else { throw error }
          try putBeside(old, name, folder)
        }
        throw DeviceRefusal()
      }
      try own.removeFile(old)
      try folder.synchronize()
    }
    places[id] = nil
  }
}

/// A condition of an act does not hold; nothing was changed.
struct DeviceRefusal: Error {}

/// Makes temporaries, from any thread.
struct DeviceStaging: Sendable {
  let own: Descriptor

  /// Makes a copy of a content, which is checked, or an empty folder.
  func stage(_ item: CloudItem, from content: Descriptor?) throws -> LocalItem {
    let name = "new-\(UInt64.random(in: 0...UInt64.max))"
    guard let content else {
      try own.makeDirectory(name, mode: 0o755)
      return try staged(name)
    }
    let file = try Descriptor.open(name, below: own, flags: [.write, .create, .exclusive, .noFollow], mode: 0o644)
    do {
      let copied = try CloudStore.copy(content, to: file) { true }
      guard copied.name == item.content else {
        throw StateError("the cloud gave another content than “\(item.name)” has")
      }
      try file.synchronize()
      return try staged(name)
    } catch {
      try? own.removeFile(name)
      throw error
    }
  }

  private func staged(_ name: String) throws -> LocalItem {
    DeviceFolder.item(name, try Descriptor.open(name, below: own, flags: .place).status(), in: "")
  }
}

/// Reads a document, from any thread.
struct DeviceReader: Sendable {
  /// Its place below the folder at the last look.
  let inner: String?
  let folder: String
  let root: Descriptor
  let access: any DeviceAccess

  /// Opens the document as it is at a stamp, after apps that present it have saved.
  ///
  /// - Parameter body: reads all of it.
  /// - Throws: ``DeviceRefusal`` if it has another stamp, before or after.
  func reading<Value>(_ stamp: String, _ body: (Descriptor) throws -> Value) throws -> Value {
    guard let inner else { throw DeviceRefusal() }
    return try access.read(folder.path(of: inner)) {
      let place = try Descriptor.open(inner, below: root, flags: .place, resolve: [.beneath, .noSymlinks])
      guard DeviceFolder.stamp(try place.status()) == stamp else { throw DeviceRefusal() }
      let value = try body(place.reopened([.read, .nonBlocking]))
      guard DeviceFolder.stamp(try place.status()) == stamp else { throw DeviceRefusal() }
      return value
    }
  }
}
