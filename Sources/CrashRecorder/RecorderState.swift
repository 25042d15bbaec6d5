internal import CrashStates
internal import Kernel
internal import Paths
internal import SystemPackage

/// The trace so far, and the tree as the running programs see it.
struct RecorderState {
  private(set) var steps: [Trace.Step] = []
  /// As it is now. It grows by the same steps.
  private(set) var tree: FileTree
  private var reader: FolderReader
  /// What the recording lacks, each once.
  private(set) var gaps: [String] = []
  /// What it has less exactly.
  private(set) var remarks: [String] = []
  /// Files of which a program has changed the content through its memory.
  private var mapped: [FileTree.ID: Descriptor] = [:]
  private let limits: RecordingLimits
  /// The largest file that is compared for changes through memory.
  private static let mostMapped: UInt64 = 64 << 20

  init(_ reader: FolderReader) {
    (self.reader, tree, limits) = (reader, reader.tree, reader.limits)
  }

  mutating func lacks(_ gap: String) { if !gaps.contains(gap) { gaps.append(gap) } }

  // MARK: Files

  func id(_ status: FileStatus?) -> FileTree.ID? { status.flatMap { reader.ids[FileKey($0)] } }

  /// The folder of a place, if it is watched.
  func folder(_ place: TracedPlace) -> FileTree.ID? {
    guard let id = place.folderKey.flatMap({ reader.ids[$0] }), tree.entries(of: id) != nil else { return nil }
    return id
  }

  /// A watched file that a thread has open.
  func file(_ number: Int32, of thread: TracedThread) -> FileTree.ID? {
    guard number >= 0, let status = try? thread.status(of: number) else { return nil }
    return id(status)
  }

  /// A new number for a new file. An inode's number may have been an earlier file's.
  mutating func newID(_ status: FileStatus) -> FileTree.ID {
    let id = reader.makeID()
    reader.ids[FileKey(status)] = id
    return id
  }

  func name(of id: FileTree.ID) -> String { tree.path(of: id)?.description.shown ?? "a file without a name" }

  // MARK: Steps

  mutating func add(_ operation: Trace.Operation, _ thread: TracedThread) throws {
    switch operation {
    case .write(let file, let offset, let bytes):
      try reserve(bytes.count + max(0, offset - tree.size(of: file)), file)
    case .resize(let file, let size): try reserve(max(0, size - tree.size(of: file)), file)
    default: break
    }
    guard steps.count < Self.mostSteps else {
      throw RecordingError("The program made more than \(Self.mostSteps) changes; record a shorter run.")
    }
    tree.apply(operation)
    steps.append(.init(operation, thread: thread.number, program: thread.program))
  }

  private static let mostSteps = 200_000

  private mutating func reserve(_ count: Int, _ file: FileTree.ID) throws {
    guard count <= limits.bytes - reader.bytes else { throw FolderReader.tooLarge(name(of: file), limits) }
    reader.bytes += count
  }

  /// A file has lost its last name. Its inode's number is soon another file's.
  mutating func forget(_ status: FileStatus?) {
    guard let status, status.links <= 1 || status.kind == .directory else { return }
    reader.ids[FileKey(status)] = nil
  }

  /// A file, folder or link that came from outside, with everything in it. Nothing of it counts as synced.
  mutating func arrive(at place: TracedPlace, in folder: FileTree.ID, _ thread: TracedThread) throws {
    guard let parent = place.folder else { return }
    let open = try Descriptor.open(place.name, below: parent, flags: .place)
    try arrive(open, as: place.name, in: folder, thread, depth: 0)
  }

  private mutating func arrive(
    _ place: Descriptor, as name: String, in folder: FileTree.ID, _ thread: TracedThread, depth: Int
  ) throws {
    let status = try place.status()
    switch status.kind {
    case .regular:
      let file = try Descriptor.open("/proc/self/fd/\(place.rawValue)", flags: [.read, .nonBlocking])
      let content = try file.readAll(limit: limits.bytes + 1)
      let id = newID(status)
      try add(.create(id, .file([]), in: folder, name: name), thread)
      if !content.isEmpty { try add(.write(id, at: 0, content), thread) }
    case .symlink: try add(.create(newID(status), .link(try place.linkText()), in: folder, name: name), thread)
    case .directory:
      let id = newID(status)
      try add(.create(id, .folder([:]), in: folder, name: name), thread)
      guard depth < 100 else { return lacks("\(name) is too deep") }
      let opened = try Descriptor.open(".", below: place, flags: [.read, .directory])
      for entry in try DirectoryReader.entries(of: opened) {
        try arrive(
          try Descriptor.open(entry.name, below: opened, flags: .place), as: entry.name, in: id, thread,
          depth: depth + 1)
      }
    case .other: return
    }
  }

  // MARK: Memory

  /// A file's content may change from now on without a call.
  mutating func map(_ id: FileTree.ID, _ number: Int32, of thread: TracedThread) {
    guard mapped[id] == nil else { return }
    guard let file = try? thread.descriptor(number), let size = try? file.status().size, size <= Self.mostMapped else {
      return lacks("\(name(of: id)) is changed through shared memory (mmap), which is not followed.")
    }
    mapped[id] = file
    remarks.append(
      "\(name(of: id)) is changed through shared memory (mmap): its changes are seen at the next call, not one by one.")
  }

  var mappedFiles: [FileTree.ID] { mapped.keys.sorted() }

  /// Adds what was changed through memory since the last step, block by block.
  mutating func noticeMappings(_ thread: TracedThread) throws {
    let block = 4096
    for (id, file) in mapped.sorted(by: { $0.key < $1.key }) {
      guard case .file(let known)? = tree.nodes[id], let now = try? file.bytes(at: 0, count: known.count), now != known
      else {
        continue
      }
      var start = 0
      while start < now.count {
        let end = min(start + block, now.count)
        if now[start..<end] != known[start..<end] { try add(.write(id, at: start, Array(now[start..<end])), thread) }
        start = end
      }
    }
  }
}
