internal import Folders
internal import Foundation
internal import Kernel
internal import Wire

/// Launches that were there when this broker started and that no launcher has handed over to it yet, and when they are looked at
/// again. Times are nanoseconds of CLOCK_MONOTONIC.
struct UnsettledLaunches {
  var records: [LauncherRecords.Record]
  private var due: Int64 = 0
  private var looks = 0

  init(_ all: LauncherRecords) {
    records = all.all()
    guard !records.isEmpty else { return }
    // Numbers of processes say something only where they were given. The others stay for a broker that is there.
    let own = (try? Namespaces.own("pid").status())?.inode
    records.removeAll { $0.namespace != own }
  }

  var instances: Set<String> { Set(records.map(\.instance)) }

  func record(of instance: String) -> LauncherRecords.Record? { records.first { $0.instance == instance } }

  /// For the first entry of a broker: no more than an entry has room for.
  var words: String? {
    records.isEmpty ? nil : records.prefix(500).map(\.instance).sorted().joined(separator: " ")
  }

  var nextDue: Int64? { records.isEmpty ? nil : due }

  /// A launch whose launcher has still to report on it, and no connection by which its end would be seen.
  mutating func expect(_ record: LauncherRecords.Record) {
    records.removeAll { $0.instance == record.instance }
    records.append(record)
    due = 0
  }

  /// Running launchers hand their apps over at once, and a launch that ended is gone a moment later. A stopped one may stay so.
  mutating func looked(now: Int64) {
    looks += 1
    due = now + (looks < 100 ? 50_000_000 : 1_000_000_000)
  }
}
