internal import CrashStates
internal import Kernel
internal import Paths
internal import SystemPackage

extension Recorder {
  func renaming(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    let from = try TracedPlace(call.first, of: thread, followsLast: false)
    let to = try TracedPlace(call.second, of: thread, followsLast: false)
    let (source, target) = (state.folder(from), state.folder(to))
    // RENAME_EXCHANGE.
    let exchanges = call.flags & 2 != 0
    guard source != nil || target != nil, let moved = from.entry else { return nil }
    // Two names of one file: the call does nothing.
    if let there = to.entry, FileKey(there) == FileKey(moved) { return nil }
    return { state, result in
      guard result == 0 else { return }
      let isKnown = source.flatMap { state.tree.child(from.name, of: $0) } != nil
      switch (source, target) {
      case (let source?, let target?) where exchanges:
        try state.add(.exchange(in: source, name: from.name, with: target, as: to.name), thread)
      case (let source?, let target?) where isKnown:
        try state.add(.rename(in: source, name: from.name, to: target, as: to.name), thread)
        state.forget(to.entry)
      default:
        if let source, isKnown { try state.add(.unlink(in: source, name: from.name), thread) }
        // What left the folders may get another use, and its inode's number another file.
        if source != nil { state.forget(moved) }
        if target != nil { state.forget(to.entry) }
        if let source, exchanges { try state.arrive(at: from, in: source, thread) }
        if let target { try state.arrive(at: to, in: target, thread) }
      }
    }
  }

  func linking(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    let place = try TracedPlace(call.second, of: thread, followsLast: false)
    guard let folder = state.folder(place) else { return nil }
    // AT_SYMLINK_FOLLOW; AT_EMPTY_PATH.
    var source = try? TracedPlace(call.first, of: thread, followsLast: call.flags & 0x400 != 0).entry
    if call.flags & 0x1000 != 0, (try? thread.text(at: call.first.address)) == "" {
      source = try? thread.status(of: call.first.folder)
    }
    let known = state.id(source)
    return { state, result in
      guard result == 0 else { return }
      guard let known else { return try state.arrive(at: place, in: folder, thread) }
      try state.add(.link(known, in: folder, name: place.name), thread)
    }
  }

  func makingLink(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    let place = try TracedPlace(call.second, of: thread, followsLast: false)
    guard let folder = state.folder(place) else { return nil }
    let text = try thread.text(at: call.first.address)
    return { state, result in
      guard result == 0, let status = try? place.folder?.status(of: place.name) else { return }
      try state.add(.create(state.newID(status), .link(text), in: folder, name: place.name), thread)
    }
  }

  func unlinking(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    let place = try TracedPlace(call.first, of: thread, followsLast: false)
    guard let folder = state.folder(place) else { return nil }
    return { state, result in
      // A socket or a pipe is not in the tree.
      guard result == 0, state.tree.child(place.name, of: folder) != nil else { return }
      try state.add(.unlink(in: folder, name: place.name), thread)
      state.forget(place.entry)
    }
  }

  func making(_ call: TracedCall, _ thread: TracedThread) throws(KernelError) -> Completion? {
    let place = try TracedPlace(call.first, of: thread, followsLast: false)
    guard let folder = state.folder(place) else { return nil }
    return { state, result in
      guard result == 0, let status = try? place.folder?.status(of: place.name) else { return }
      switch status.kind {
      case .directory: try state.add(.create(state.newID(status), .folder([:]), in: folder, name: place.name), thread)
      case .regular: try state.add(.create(state.newID(status), .file([]), in: folder, name: place.name), thread)
      case .symlink, .other: return
      }
    }
  }
}
