internal import Paths

/// What a program did to a tree, in order.
package struct Trace: Equatable, Sendable {
  /// The tree before the first step. All of it is on the disk.
  package var initial: FileTree
  package var steps: [Step]

  package init(initial: FileTree, steps: [Step]) { (self.initial, self.steps) = (initial, steps) }

  package struct Step: Equatable, Sendable {
    package var operation: Operation
    /// The thread that did it, and its program's name; 0 where none is known.
    package var thread: Int32
    package var program: String

    package init(_ operation: Operation, thread: Int32 = 0, program: String = "") {
      (self.operation, self.thread, self.program) = (operation, thread, program)
    }
  }

  package enum Operation: Equatable, Sendable {
    /// A new file, folder or link under a name (`open(2)`, `mkdir(2)`, `symlink(2)`). New files and folders are empty.
    case create(FileTree.ID, FileTree.Node, in: FileTree.ID, name: String)
    /// A new file without a name (`O_TMPFILE`), or one that comes from outside.
    case appear(FileTree.ID)
    /// A further name (`link(2)`).
    case link(FileTree.ID, in: FileTree.ID, name: String)
    /// The end of a name, a file's or an empty folder's.
    case unlink(in: FileTree.ID, name: String)
    /// Another name; a file that had it loses it (`rename(2)`).
    case rename(in: FileTree.ID, name: String, to: FileTree.ID, as: String)
    /// Two names change their nodes (`RENAME_EXCHANGE`).
    case exchange(in: FileTree.ID, name: String, with: FileTree.ID, as: String)
    /// Bytes at an offset. The file grows where they end behind it.
    case write(FileTree.ID, at: Int, [UInt8])
    /// A new size; what is added is zeros (`ftruncate(2)`, `fallocate(2)`).
    case resize(FileTree.ID, Int)
    /// Everything that was done to a file, or to a folder's names, before the step `since` is on the disk (`fsync(2)`). The call
    /// began there: what another thread did meanwhile is not part of it.
    case sync(FileTree.ID, since: Int)
    /// The same of every file and folder (`sync(2)`, `syncfs(2)`).
    case syncAll(since: Int)
    /// The program promised that what it has saved is safe.
    case acknowledge(String)
  }
}

extension Trace {
  /// Saves that the program acknowledged.
  package var acknowledgements: Int { acknowledgements(before: steps.count) }
}

extension Trace.Operation {
  /// Whether it changes the tree.
  package var isChange: Bool { !isBarrier }

  /// The folders whose names it changes.
  var folders: [FileTree.ID] {
    switch self {
    case .create(_, _, let folder, _), .link(_, let folder, _), .unlink(let folder, _): [folder]
    case .rename(let from, _, let to, _), .exchange(let from, _, let to, _): from == to ? [from] : [from, to]
    case .appear, .write, .resize, .sync, .syncAll, .acknowledge: []
    }
  }

  /// The file whose content or size it changes.
  var file: FileTree.ID? {
    switch self {
    case .write(let file, _, _), .resize(let file, _): file
    default: nil
    }
  }

  /// Whether a crash before it and one after it differ in what has to be on the disk.
  var isBarrier: Bool {
    switch self {
    case .sync, .syncAll, .acknowledge: true
    default: false
    }
  }
}

extension FileTree {
  /// Carries an operation out.
  package mutating func apply(_ operation: Trace.Operation) {
    switch operation {
    case .write(let file, let offset, let bytes): change(file) { $0.place(bytes[...], at: offset) }
    case .resize(let file, let size): change(file) { $0.resize(to: size) }
    default: applyNames(operation)
    }
  }

  /// The same without contents: nodes and names alone.
  mutating func applyNames(_ operation: Trace.Operation) {
    switch operation {
    case .create(let id, let node, let folder, let name):
      nodes[id] = node
      set(name, of: folder, to: id)
    case .appear(let id): nodes[id] = .file([])
    case .link(let id, let folder, let name): set(name, of: folder, to: id)
    case .unlink(let folder, let name): set(name, of: folder, to: nil)
    case .rename(let folder, let name, let target, let new):
      guard let id = child(name, of: folder) else { return }
      set(name, of: folder, to: nil)
      set(new, of: target, to: id)
    case .exchange(let folder, let name, let target, let other):
      guard let first = child(name, of: folder), let second = child(other, of: target) else { return }
      set(name, of: folder, to: second)
      set(other, of: target, to: first)
    case .write, .resize, .sync, .syncAll, .acknowledge: return
    }
  }

  private mutating func set(_ name: String, of folder: ID, to id: ID?) {
    guard case .folder(var entries)? = nodes[folder] else { return }
    // So that the entries are not copied with each change.
    nodes[folder] = .folder([:])
    entries[.init(name)] = id
    nodes[folder] = .folder(entries)
  }

  private mutating func change(_ file: ID, _ body: (inout [UInt8]) -> Void) {
    guard case .file(var content)? = nodes[file] else { return }
    nodes[file] = .file([])
    body(&content)
    nodes[file] = .file(content)
  }
}

extension Array where Element == UInt8 {
  /// Cuts it, or adds zeros.
  mutating func resize(to size: Int) {
    if size < count { removeLast(count - size) } else { self += [UInt8](repeating: 0, count: size - count) }
  }

  /// Puts bytes over those at an offset; zeros fill a gap before them.
  mutating func place(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    if offset + bytes.count > count { resize(to: offset + bytes.count) }
    // Each state lays its contents out anew: as memory, not byte by byte.
    unsafe withUnsafeMutableBytes { room in
      unsafe bytes.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[offset...]).copyMemory(from: $0)
      }
    }
  }
}
