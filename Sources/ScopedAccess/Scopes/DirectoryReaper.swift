internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Removes folders and files that take long to remove, one after the other, in a thread of its own: no caller waits for it. If the
/// process ends before, the next one finds the rest.
final class DirectoryReaper: Sendable {
  static let shared = DirectoryReaper()

  private struct State {
    /// Each is told whether a thread of its own does it.
    var waiting: [@Sendable (Bool) -> Void] = []
    var isRunning = false
  }

  private let state = Mutex(State())
  /// Entries of a folder that are removed at once rather than here.
  static let few = 256

  func remove(_ work: @escaping @Sendable () -> Void) { add { _ in work() } }

  /// Closes descriptors of files without a name once no other thread has them: the last one that is closed frees a file's blocks.
  func close(_ descriptors: [Descriptor]) {
    let last = descriptors.map { LastReference($0) }
    add { isThread in
      // The caller goes on at once, and lets go of them then.
      for _ in 0..<(isThread ? 200 : 0) where !last.allSatisfy(\.isAlone) { usleep(5_000) }
      for each in last { each.drop() }
    }
  }

  private final class LastReference: Sendable {
    private let descriptor: Mutex<Descriptor?>
    init(_ descriptor: Descriptor) { self.descriptor = Mutex(descriptor) }
    var isAlone: Bool { descriptor.withLock { isKnownUniquelyReferenced(&$0) } }
    func drop() { descriptor.withLock { $0 = nil } }
  }

  private func add(_ work: @escaping @Sendable (Bool) -> Void) {
    let begins = state.withLock { state in
      state.waiting.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard begins else { return }
    if (try? Worker.start { self.run(isThread: true) }) == nil { run(isThread: false) }
  }

  private func run(isThread: Bool) {
    // The loop itself must not go behind.
    if isThread { Worker.stepBack() }
    while let next = next() { next(isThread) }
  }

  private func next() -> (@Sendable (Bool) -> Void)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return nil
      }
      return state.waiting.removeFirst()
    }
  }

  /// Whether a folder has so little in it that removing that takes no time to speak of.
  static func isLittle(_ folder: Descriptor) -> Bool {
    var left = few
    return counts(folder, &left, depth: 8)
  }

  private static func counts(_ folder: Descriptor, _ left: inout Int, depth: Int) -> Bool {
    guard depth > 0, let opened = try? Descriptor.open(".", below: folder, flags: [.read, .directory]) else {
      return false
    }
    var scan = FolderScan()
    let most = left
    let read = try? scan.read(opened, while: { $0 <= most }, where: { _, kind in kind == .directory || kind == nil })
    guard let read, read.isWhole else { return false }
    left -= read.count
    for entry in read.entries where left > 0 {
      guard let inner = try? Descriptor.open(entry.name, below: opened, flags: [.path, .directory, .noFollow]),
        counts(inner, &left, depth: depth - 1)
      else { return false }
    }
    return left > 0
  }
}
