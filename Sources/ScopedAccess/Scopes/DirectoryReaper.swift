internal import Kernel
internal import Synchronization

/// Removes folders that take long to remove, one after the other, in a thread of its own: no caller waits for it. If the process
/// ends before, the next one finds the rest.
final class DirectoryReaper: Sendable {
  static let shared = DirectoryReaper()

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let state = Mutex(State())
  /// Entries of a folder that are removed at once rather than here.
  static let few = 256

  func remove(_ work: @escaping @Sendable () -> Void) {
    let begins = state.withLock { state in
      state.waiting.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard begins else { return }
    if (try? Worker.start { self.run() }) == nil { run() }
  }

  private func run() {
    Worker.stepBack()
    while let next = next() { next() }
  }

  private func next() -> (@Sendable () -> Void)? {
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
