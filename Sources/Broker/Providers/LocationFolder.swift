internal import FileProviders
internal import Foundation
internal import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The folder that shows a provider's items. Everything below it is reached without links. From any thread.
struct LocationFolder: Sendable {
  let path: String
  /// Asks the broker before programs of root open a placeholder; `nil`: nothing does.
  var group: GuardGroup?

  /// Makes the folder, if it is not there.
  func make() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func removeIfEmpty() {
    let parent = try? Descriptor.open(path.parentPath ?? "/", flags: [.read, .directory])
    try? parent?.removeDirectory(path.lastPathName)
  }

  func open() throws(KernelError) -> Descriptor { try Descriptor.open(path, flags: [.read, .directory]) }

  func place(_ inner: String) throws(KernelError) -> Descriptor {
    try Descriptor.open(inner, below: open(), flags: .place, resolve: [.beneath, .noSymlinks])
  }

  /// The last use of a file in nanoseconds since 1970, and its bytes on the disk. A use is a read or the coming of its content, as
  /// far as the file system notes it (`relatime` notes reads once a day).
  func usage(_ inner: String) -> (last: Int64, room: Int) {
    var found = stat()
    guard let place = try? place(inner), unsafe fstat(place.rawValue, &found) == 0 else { return (0, 0) }
    // An app may set a date that 64 bits of nanoseconds do not reach.
    func nanoseconds(_ time: timespec) -> Int64 {
      let seconds = min(max(Int64(time.tv_sec), 0), Int64.max / 1_000_000_000 - 1)
      return seconds * 1_000_000_000 + Int64(time.tv_nsec)
    }
    return (max(nanoseconds(found.st_atim), nanoseconds(found.st_ctim)), found.room)
  }

  /// Bytes that are free on its disk; 0 where that is not known.
  var free: Int {
    var found = statvfs()
    guard let folder = try? open(), unsafe fstatvfs(folder.rawValue, &found) == 0 else { return 0 }
    let (bytes, isBeyond) = UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize))
    return isBeyond ? .max : Int(clamping: bytes)
  }

  /// Whether the file has another content than its item, by its size and its date. A file that is gone has none.
  func isChanged(_ item: ProviderItem, _ inner: String) throws(KernelError) -> Bool {
    let status = try place(inner).status()
    // A placeholder has no content that anybody could have written.
    return status.mode & 0o777 != 0 && Placeholder.Content(status) != item.content
  }

  /// Its files and folders, without hidden ones and special files.
  func find(while isWanted: () -> Bool) throws(KernelError) -> [FoundFile] {
    var found: [FoundFile] = []
    var open = [""]
    let root = try self.open()
    while let inner = open.popLast(), isWanted() {
      let folder =
        try inner.isEmpty
        ? root
        : Descriptor.open(
          inner, below: root, flags: [.read, .directory], resolve: [.beneath, .noSymlinks])
      for entry in try DirectoryReader.entries(of: folder, limit: ProviderTree.most) where !entry.name.isHiddenName {
        guard let status = try? folder.status(of: entry.name), status.kind == .regular || status.kind == .directory
        else { continue }
        let path = inner.isEmpty ? entry.name : "\(inner)/\(entry.name)"
        found.append(
          .init(
            path: path, node: status.node, isFolder: status.kind == .directory, isShut: status.mode & 0o777 == 0))
        guard found.count <= ProviderTree.most else { throw KernelError("readdir", path, errno: .tooManyOpenFiles) }
        if status.kind == .directory { open.append(path) }
      }
    }
    return found
  }

  /// Gives a file or a folder another place in it.
  func move(_ from: String, to: String) throws(KernelError) {
    try folder(of: from).moveAside(from.lastPathName, to: folder(of: to), as: to.lastPathName)
  }

  private func folder(of inner: String) throws(KernelError) -> Descriptor {
    let root = try open()
    guard let parent = inner.parentPath, !parent.isEmpty else { return root }
    return try Descriptor.open(parent, below: root, flags: [.read, .directory], resolve: [.beneath, .noSymlinks])
  }

  /// Many steps in a row are in the same folder: it stays open.
  struct OpenFolders {
    /// No guard watches it.
    fileprivate let workshop: Descriptor?
    fileprivate var last: (path: String, folder: Descriptor)?
  }

  func openFolders() -> OpenFolders {
    OpenFolders(workshop: try? Descriptor.open(path.parentPath ?? "/", flags: [.read, .directory]))
  }

  private func folder(of inner: String, _ folders: inout OpenFolders) throws(KernelError) -> Descriptor {
    let parent = inner.parentPath ?? ""
    if let last = folders.last, last.path == parent { return last.folder }
    let folder = try folder(of: inner)
    folders.last = (parent, folder)
    return folder
  }

  /// A step alone.
  func carryOut(_ step: ProviderChange) throws(KernelError) -> String? {
    var folders = openFolders()
    return try carryOut(step, &folders)
  }

  /// Carries one step out.
  ///
  /// - Returns: the ``FoundFile/node`` of what has been made; `nil`: nothing has.
  func carryOut(_ step: ProviderChange, _ folders: inout OpenFolders) throws(KernelError) -> String? {
    switch step {
    case .add(let placed):
      let folder = try folder(of: placed.path, &folders)
      let name = placed.item.filename
      guard !placed.item.isFolder else { return try addFolder(name, in: folder) }
      func make() throws(KernelError) -> String {
        try Placeholder.make(
          name, in: folder, by: folders.workshop, size: placed.item.size, modified: placed.item.modified
        ).node
      }
      do throws(KernelError) { return try make() } catch {
        // Made before a broker was killed, and never noted. A file of the user's own has another size or date, and stays.
        guard error.errno == .fileExists, let status = try? folder.status(of: name), status.kind == .regular,
          status.mode & 0o777 == 0, status.links == 1,
          let there = try? place(placed.path),
          Placeholder.Content(status) == placed.item.content || Placeholder.isLeftOver(there)
        else { throw error }
        try folder.removeFile(name)
        return try make()
      }
    case .move(_, let from, let to):
      folders.last = nil
      if from != to { try move(from, to: to) }
      return nil
    case .renew(let placed, let was, let mayBeLeftOver):
      try Placeholder.empty(
        place(placed.path), known: was.content, next: placed.item.content, mayBeLeftOver: mayBeLeftOver, group)
      return nil
    case .describe(let placed, let was):
      let isWritable = placed.item.capabilities.contains(.writing)
      let file = try place(placed.path)
      // A placeholder has no mode.
      if !placed.item.isFolder, isWritable != was.capabilities.contains(.writing), try file.status().mode & 0o777 != 0 {
        try file.reopened([.read, .nonBlocking]).changeMode(isWritable ? 0o600 : 0o400)
      }
      return nil
    case .remove(let shown):
      do throws(KernelError) { try remove(shown, &folders) } catch {
        // No look finds out that a program has removed a hidden file.
        guard error.errno == .noSuchFileOrDirectory else { throw error }
      }
      return nil
    }
  }

  private func remove(_ shown: ProvidedFile, _ folders: inout OpenFolders) throws(KernelError) {
    let folder = try folder(of: shown.path, &folders)
    let name = shown.path.lastPathName
    guard !shown.item.isFolder else { return try folder.removeDirectory(name) }
    if try Placeholder.Content(folder.status(of: name)) != shown.item.content, try !isLeftOver(shown) {
      throw KernelError("remove", errno: .resourceBusy)
    }
    try folder.removeFile(name)
  }

  private func isLeftOver(_ shown: ProvidedFile) throws(KernelError) -> Bool {
    guard !shown.isHere else { return false }
    return Placeholder.isLeftOver(try place(shown.path))
  }

  private func addFolder(_ name: String, in folder: Descriptor) throws(KernelError) -> String {
    do throws(KernelError) { try folder.makeDirectory(name, mode: 0o700) } catch {
      guard error.errno == .fileExists else { throw error }
    }
    let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    // Before anything is in it.
    try group?.watch(made)
    return try made.status().node
  }
}

extension FileStatus {
  /// ``FoundFile/node``.
  var node: String { "\(inode) \(birth)" }
}

extension stat {
  /// Bytes on the disk; holes take none.
  fileprivate var room: Int { min(max(0, Int(st_blocks)), ProviderItem.largest / 512) * 512 }
}

extension Descriptor {
  /// Bytes that the file takes on its disk.
  var room: Int {
    var found = stat()
    return unsafe fstat(rawValue, &found) == 0 ? found.room : 0
  }
}

extension ProviderItem {
  var content: Placeholder.Content { .init(size: size, modified: modified) }
}
