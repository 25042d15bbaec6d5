internal import CrashStates
internal import Kernel
internal import SystemPackage

extension Recorder {
  /// What is to be written down when a call has returned; `nil` if it is about no watched file.
  func completion(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    switch call.kind {
    case .open: return try opening(call, thread)
    case .write, .writeVector: return writing(call, thread)
    case .resize: return try resizing(call, thread)
    case .allocate: return allocating(call, thread)
    case .copy, .clone: return copying(call, thread)
    case .rename: return try renaming(call, thread)
    case .link: return try linking(call, thread)
    case .symlink: return try makingLink(call, thread)
    case .unlink: return try unlinking(call, thread)
    case .makeFolder, .makeNode: return try making(call, thread)
    case .sync: return syncing(call, thread)
    case .syncAll: return syncingAll(call, thread)
    case .syncMap: return syncingMaps(thread)
    case .map: return mapping(call, thread)
    case .ring:
      return { state, result in
        if result >= 0 {
          state.lacks("The program uses io_uring or another way past system calls, which is not followed.")
        }
      }
    }
  }

  /// `O_*` of x86-64.
  private enum Flag {
    static let create: UInt64 = 0o100
    static let exclusive: UInt64 = 0o200
    static let truncate: UInt64 = 0o1000
    static let append: UInt64 = 0o2000
    static let dataSync: UInt64 = 0o10000
    static let noFollow: UInt64 = 0o400000
    static let unnamed: UInt64 = 0o20200000
    static let place: UInt64 = 0o10000000
  }

  // MARK: Opening

  private func opening(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    guard call.flags & (Flag.create | Flag.truncate) != 0 || call.flags & Flag.unnamed == Flag.unnamed,
      call.flags & Flag.place == 0
    else { return nil }
    guard call.first.address != 0 else {
      // By its handle.
      guard call.flags & Flag.truncate != 0 else { return nil }
      return { state, result in
        guard result >= 0, let id = state.file(Int32(result), of: thread), state.tree.size(of: id) > 0 else { return }
        try state.add(.resize(id, 0), thread)
      }
    }
    if call.flags & Flag.unnamed == Flag.unnamed {
      let folder = try TracedPlace(call.first, of: thread, followsLast: true)
      guard let id = state.id(folder.entry), state.tree.entries(of: id) != nil else { return nil }
      return { state, result in
        guard result >= 0, let status = try? thread.status(of: Int32(result)) else { return }
        try state.add(.appear(state.newID(status)), thread)
      }
    }
    let follows =
      call.flags & Flag.noFollow == 0 && call.flags & (Flag.create | Flag.exclusive) != Flag.create | Flag.exclusive
    let place = try TracedPlace(call.first, of: thread, followsLast: follows)
    if place.entry != nil {
      guard let id = state.id(place.entry), call.flags & Flag.truncate != 0 else { return nil }
      return { state, result in
        if result >= 0, state.tree.size(of: id) > 0 { try state.add(.resize(id, 0), thread) }
      }
    }
    guard call.flags & Flag.create != 0, let folder = state.folder(place) else { return nil }
    return { state, result in
      guard result >= 0, let status = try? thread.status(of: Int32(result)), status.kind == .regular else { return }
      // Another thread may have made it meanwhile.
      guard state.tree.child(place.name, of: folder).map({ $0 != state.id(status) }) ?? true else { return }
      try state.add(.create(state.newID(status), .file([]), in: folder, name: place.name), thread)
    }
  }

  // MARK: Content

  /// Bytes that were written at an offset, and the sync that a file's flags ask for.
  private static func written(
    _ state: inout RecorderState, _ id: FileTree.ID, _ offset: Int64, _ bytes: [UInt8], _ thread: TracedThread,
    syncs: Bool
  ) throws {
    guard offset >= 0, !bytes.isEmpty else { return }
    try state.add(.write(id, at: Int(offset), bytes), thread)
    if syncs { try state.add(.sync(id, since: state.steps.count), thread) }
  }

  private func writing(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    guard let id = state.file(call.file, of: thread), case .file? = state.tree.nodes[id] else { return nil }
    // RWF_DSYNC, RWF_SYNC, RWF_APPEND.
    let (syncs, appends) = (call.flags & 0x6 != 0, call.flags & 0x10 != 0)
    return { state, result in
      guard result > 0, let opening = try? thread.opening(of: call.file) else { return }
      guard let bytes = try? Self.bytes(call, thread, Int(result)), bytes.count == Int(result) else {
        return state.lacks("What was written to \(state.name(of: id)) could not be read from the program's memory.")
      }
      var offset = call.offset
      if offset < 0 {
        offset = opening.position - result
      } else if opening.flags & Flag.append != 0 || appends {
        offset = Int64(clamping: (try? thread.status(of: call.file))?.size ?? 0) - result
      }
      try Self.written(&state, id, offset, bytes, thread, syncs: syncs || opening.flags & Flag.dataSync != 0)
    }
  }

  /// What a call has written, from the program's memory.
  private static func bytes(_ call: TracedCall, _ thread: TracedThread, _ count: Int) throws(KernelError) -> [UInt8] {
    guard call.kind == .writeVector else { return try thread.memory(at: call.buffer, count: count) }
    // `struct iovec`: an address and a length.
    let vectors = try thread.memory(at: call.buffer, count: Int(clamping: min(call.count, 1024)) * 16)
    func word(_ place: Int) -> UInt64 { (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(vectors[place + $1]) } }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: vectors.count - 15, by: 16) where bytes.count < count {
      let length = Int(clamping: min(word(start + 8), UInt64(count - bytes.count)))
      bytes += try thread.memory(at: word(start), count: length)
    }
    return bytes
  }

  private func resizing(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    var found = state.file(call.file, of: thread)
    if call.first.address != 0 { found = state.id(try TracedPlace(call.first, of: thread, followsLast: true).entry) }
    guard let id = found, case .file? = state.tree.nodes[id] else { return nil }
    return { state, result in
      if result == 0, state.tree.size(of: id) != Int(call.offset) {
        try state.add(.resize(id, Int(call.offset)), thread)
      }
    }
  }

  private func allocating(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    guard let id = state.file(call.file, of: thread), case .file? = state.tree.nodes[id] else { return nil }
    // FALLOC_FL_KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE; and those that move content.
    let (keepsSize, zeros, moves) = (call.flags & 0x1 != 0, call.flags & 0x12 != 0, call.flags & 0x28 != 0)
    return { state, result in
      guard result == 0 else { return }
      if moves {
        return state.lacks("A range of \(state.name(of: id)) was cut out or put in (fallocate), which is not followed.")
      }
      let (start, size) = (Int(call.offset), state.tree.size(of: id))
      let end = start + Int(clamping: call.count)
      if zeros, start < size {
        try state.add(.write(id, at: start, [UInt8](repeating: 0, count: min(end, size) - start)), thread)
      }
      if !keepsSize, end > size { try state.add(.resize(id, end), thread) }
    }
  }

  private func copying(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    guard let id = state.file(call.file, of: thread), case .file? = state.tree.nodes[id] else { return nil }
    func offset(_ address: UInt64) -> Int64? {
      guard address != 0, let bytes = try? thread.memory(at: address, count: 8), bytes.count == 8 else { return nil }
      return Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
    let (target, source) = (offset(call.first.address), offset(call.second.address))
    return { state, result in
      guard result > 0 || call.kind == .clone && result == 0, let opening = try? thread.opening(of: call.file) else {
        return
      }
      var (start, count) = (target ?? opening.position - result, Int(result))
      if call.kind == .clone { (start, count) = (0, Int(clamping: (try? thread.status(of: call.file))?.size ?? 0)) }
      // The file itself says best what is in it. One that is open for writing alone says nothing; then the source does.
      var bytes = (try? thread.descriptor(call.file).bytes(at: UInt64(clamping: start), count: count)) ?? []
      if bytes.count != count, call.kind == .copy, let from = try? thread.opening(of: call.source) {
        bytes =
          (try? thread.descriptor(call.source).bytes(
            at: UInt64(clamping: source ?? from.position - result), count: count)) ?? []
      }
      if bytes.count != count {
        let again = try? Descriptor.open("\(thread.folder)/fd/\(call.file)", flags: [.read, .nonBlocking])
        bytes = (try? again?.bytes(at: UInt64(clamping: start), count: count)) ?? []
      }
      guard bytes.count == count else {
        return state.lacks("What was copied to \(state.name(of: id)) could not be read.")
      }
      try Self.written(&state, id, start, bytes, thread, syncs: opening.flags & Flag.dataSync != 0)
    }
  }

  // MARK: Syncing

  private func syncing(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    guard let id = state.file(call.file, of: thread) else { return nil }
    let since = state.steps.count
    return { state, result in if result == 0 { try state.add(.sync(id, since: since), thread) } }
  }

  private func syncingAll(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    let since = state.steps.count
    return { state, result in if result == 0 { try state.add(.syncAll(since: since), thread) } }
  }

  /// `msync(2)` names memory. It is taken for all files that are mapped, if there is one alone.
  private func syncingMaps(_ thread: TracedThread) -> Completion? {
    guard !state.mappedFiles.isEmpty else { return nil }
    let since = state.steps.count
    return { state, result in
      guard result == 0 else { return }
      guard state.mappedFiles.count == 1 else { return }
      for id in state.mappedFiles { try state.add(.sync(id, since: since), thread) }
    }
  }

  private func mapping(_ call: TracedCall, _ thread: TracedThread) -> Completion? {
    guard call.flags == 1, let id = state.file(call.file, of: thread) else { return nil }
    return { state, result in
      // Addresses are no errors: those are the last 4095 numbers.
      if !(-4095..<0).contains(result) { state.map(id, call.file, of: thread) }
    }
  }
}
