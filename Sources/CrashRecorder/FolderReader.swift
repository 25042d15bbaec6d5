package import CrashStates
package import Kernel
internal import Paths
internal import SystemPackage

/// A file as the kernel knows it.
struct FileKey: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
}

/// Bounds of what is kept in memory.
package struct RecordingLimits: Sendable {
  /// Bytes of contents, those at the beginning and those that are written.
  package var bytes: Int
  package var files: Int

  package init(bytes: Int = 1 << 30, files: Int = 200_000) { (self.bytes, self.files) = (bytes, files) }
}

/// A folder whose changes are recorded.
package struct WatchedFolder: Sendable {
  /// Absolute, links resolved.
  package let path: String
  /// Its name among the roots of a tree.
  package let name: String
  package let descriptor: Descriptor

  /// - Throws: where one is no folder, or lies within another.
  package static func open(_ paths: [String]) throws(RecordingError) -> [WatchedFolder] {
    var folders: [WatchedFolder] = []
    for path in paths {
      let descriptor: Descriptor
      do throws(KernelError) { descriptor = try Descriptor.open(path, flags: [.read, .directory]) } catch {
        throw RecordingError("\(path): \(error.errno.description); --watch takes a folder that is there.")
      }
      guard let real = descriptor.currentPath else { throw RecordingError("\(path) was removed.") }
      if let other = folders.first(where: { real.lies(within: $0.path) || $0.path.lies(within: real) }) {
        throw RecordingError("\(real) and \(other.path) lie in one another; watch the outer one alone.")
      }
      var name = real == "/" ? "root" : real.lastPathName
      var number = 1
      while folders.contains(where: { $0.name.isSamePath(as: name) }) {
        number += 1
        name = "\(real.lastPathName)-\(number)"
      }
      folders.append(WatchedFolder(path: real, name: name, descriptor: descriptor))
    }
    return folders
  }
}

/// Reads folders into a value, by descriptor and without following links. Sockets, pipes and devices are left out.
package struct FolderReader {
  var tree = FileTree(roots: [], nodes: [:])
  var ids: [FileKey: FileTree.ID] = [:]
  var bytes = 0
  private var nextNumber = 1
  let limits: RecordingLimits
  /// A file that may not be read is an error. Otherwise it counts as empty, as it is for its user after a crash.
  private let needsAll: Bool
  private static let deepest = 100

  init(_ limits: RecordingLimits, needsAll: Bool = true) { (self.limits, self.needsAll) = (limits, needsAll) }

  static func read(_ folders: [WatchedFolder], _ limits: RecordingLimits, needsAll: Bool = true) throws -> FolderReader
  {
    var reader = FolderReader(limits, needsAll: needsAll)
    for folder in folders {
      let id = try reader.enter(folder.descriptor, folder.path, depth: 0)
      reader.tree.roots.append(.init(folder.name, id))
    }
    return reader
  }

  mutating func makeID() -> FileTree.ID {
    defer { nextNumber += 1 }
    return FileTree.ID(nextNumber)
  }

  private mutating func enter(_ folder: Descriptor, _ path: String, depth: Int) throws -> FileTree.ID {
    guard depth < Self.deepest else { throw RecordingError("\(path) is too deep; watch a folder with less in it.") }
    let id = makeID()
    ids[FileKey(try folder.status())] = id
    var entries: [PathKey: FileTree.ID] = [:]
    for entry in try DirectoryReader.entries(of: folder) {
      if let child = try enter(entry.name, of: folder, path.path(of: entry.name), depth: depth + 1) {
        entries[PathKey(entry.name)] = child
      }
    }
    tree.nodes[id] = .folder(entries)
    return id
  }

  /// - Returns: `nil` for what is left out.
  private mutating func enter(_ name: String, of folder: Descriptor, _ path: String, depth: Int) throws -> FileTree.ID?
  {
    guard tree.nodes.count < limits.files else {
      throw RecordingError("\(path): there are more than \(limits.files) files; watch a folder with less in it.")
    }
    let place: Descriptor
    do throws(KernelError) { place = try Descriptor.open(name, below: folder, flags: .place) } catch {
      // Removed meanwhile.
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
    let status = try place.status()
    switch status.kind {
    case .directory:
      let opened: Descriptor
      do throws(KernelError) { opened = try Descriptor.open(".", below: place, flags: [.read, .directory]) } catch {
        // The user who opens the state after a crash sees nothing in it either. So are packages that an app may not see yet.
        if error.errno == .permissionDenied { return add(.folder([:]), FileKey(status)) }
        throw error
      }
      return try enter(opened, path, depth: depth)
    case .regular:
      // A further name of a file.
      if let known = ids[FileKey(status)] { return known }
      guard status.size <= UInt64(max(0, limits.bytes - bytes)) else { throw Self.tooLarge(path, limits) }
      // An empty one need not be readable, and documents that an app may not see yet are not.
      let content = status.size == 0 ? [] : try read(name, of: folder, path)
      bytes += content.count
      return add(.file(content), FileKey(status))
    case .symlink: return add(.link(try place.linkText()), FileKey(status))
    case .other: return nil
    }
  }

  private func read(_ name: String, of folder: Descriptor, _ path: String) throws -> [UInt8] {
    do throws(KernelError) {
      let file = try Descriptor.open(
        name, below: folder, flags: [.read, .noFollow, .nonBlocking, .noControllingTerminal])
      return try file.readAll(limit: limits.bytes - bytes)
    } catch {
      if error.errno == .permissionDenied {
        guard needsAll else { return [] }
        throw RecordingError("\(path) may not be read; watch a folder in which you may read all files.")
      }
      throw error
    }
  }

  static func tooLarge(_ path: String, _ limits: RecordingLimits) -> RecordingError {
    RecordingError(
      "\(path): more than \(limits.bytes >> 20) MiB would have to be kept in memory; watch a folder with less in it.")
  }

  private mutating func add(_ node: FileTree.Node, _ key: FileKey) -> FileTree.ID {
    let id = makeID()
    ids[key] = id
    tree.nodes[id] = node
    return id
  }
}

extension FolderReader {
  /// The folders as they are now, for the next opener. A killed program may leave files without permissions.
  package static func tree(of folders: [WatchedFolder], _ limits: RecordingLimits = RecordingLimits()) throws
    -> FileTree
  {
    try read(folders, limits, needsAll: false).tree
  }
}

extension FileTree {
  /// Paths at which two trees differ in kind or content; not all, if there are many.
  package func differences(from other: FileTree, most: Int = 5) -> [String] {
    var found: [String] = []
    func compare(_ mine: ID?, _ its: ID?, _ path: String) {
      guard found.count < most else { return }
      switch (mine.flatMap { nodes[$0] }, its.flatMap { other.nodes[$0] }) {
      case (.folder(let left)?, .folder(let right)?):
        for name in Set(left.keys).union(right.keys).sorted() {
          compare(left[name], right[name], path.path(of: name.text))
        }
      case (.file(let left)?, .file(let right)?): if left != right { found.append(path) }
      case (.link(let left)?, .link(let right)?): if !left.isSamePath(as: right) { found.append(path) }
      case (nil, nil): break
      default: found.append(path)
      }
    }
    for (left, right) in zip(roots, other.roots) { compare(left.id, right.id, left.name) }
    return found
  }
}
