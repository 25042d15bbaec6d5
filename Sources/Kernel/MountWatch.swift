internal import Paths

/// The mounts and their places, and the paths that lead to something that may keep one waiting: read anew
/// only when they have changed.
package struct MountWatch {
  private let table: Descriptor?
  private(set) package var entries: [MountTable.Entry] = []
  /// The mount points with file systems that may wait.
  private var waiting: [String] = []
  /// Counts the changes.
  package private(set) var generation = 0

  /// The table of the calling thread's namespace, wherever that thread is later.
  package init() {
    table = try? Descriptor.open("/proc/thread-self/mountinfo", flags: .read)
    read()
  }

  /// Looks whether something was mounted or unmounted since (`proc(5)`: the file is then in an error state).
  package mutating func refresh() {
    guard let table else { return }
    var entry = [PollEntry(table, [])]
    guard (try? Poll.wait(&entry, timeout: .zero)) == 1, entry[0].returned.contains(.error) else { return }
    read()
  }

  private mutating func read() {
    generation += 1
    entries = table.flatMap { try? MountTable.entries(in: $0) } ?? []
    waiting = entries.filter(\.mayWait).map(\.point)
  }

  /// The mount on the way of an absolute path at which one may be kept waiting; the innermost of several.
  package func waitingMount(on path: String) -> String? {
    if waiting.isEmpty { return nil }
    return waiting.filter { path.lies(within: $0) }.max { $0.utf8.count < $1.utf8.count }
  }
}
