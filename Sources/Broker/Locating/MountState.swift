internal import BrokerCore
internal import Kernel

/// The mounts, and those of them that may keep a look at a file waiting.
@BrokerLoop
final class MountState {
  private var watch = MountWatch()

  func refresh() { watch.refresh() }
  var entries: [MountTable.Entry] { watch.entries }
  /// Counts the changes of the mounts.
  var generation: Int { watch.generation }
  /// The mount point of a file system that may not answer, if a path leads there.
  func waitingMount(on path: String) -> String? { watch.waitingMount(on: path) }
  func mayWait(_ path: String) -> Bool { waitingMount(on: path) != nil }
}
