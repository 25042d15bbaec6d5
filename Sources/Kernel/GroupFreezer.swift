internal import Paths

/// Freezes the processes of a control group of version 2 (`cgroup.freeze`). SIGKILL ends a frozen process as any other.
package struct GroupFreezer: Sendable {
  private let folder: Descriptor

  /// - Returns: `nil` if no group of this name is recorded, or if it is one of version 1.
  package init?(of name: String, in records: GroupRecords) {
    for path in records.folders(of: name) {
      guard let folder = try? Descriptor.open(path, flags: [.path, .directory, .noFollow]),
        (try? Descriptor.open("cgroup.freeze", below: folder, flags: .read)) != nil
      else { continue }
      self.folder = folder
      return
    }
    return nil
  }

  /// Asks the kernel for it; ``isFrozen`` says when that has happened.
  package func set(frozen: Bool) throws(KernelError) {
    let file = try Descriptor.open("cgroup.freeze", below: folder, flags: .write)
    try file.writeAll(Array((frozen ? "1" : "0").utf8))
  }

  /// All of its processes are frozen.
  package var isFrozen: Bool {
    guard let text = try? Descriptor.open("cgroup.events", below: folder, flags: .read).readAll(limit: 4096) else {
      return false
    }
    return text.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual("frozen 1".utf8) }
  }
}
