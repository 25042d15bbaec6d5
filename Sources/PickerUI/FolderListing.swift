import Glibc
import Kernel
import SystemPackage

extension OpenFolder {
  /// All names in the folder, sorted for showing.
  ///
  /// The folder alone says of nearly every name whether it is a folder: a hundred thousand names cost no call each.
  /// Only symbolic links, and names on file systems that do not say, are asked about one by one.
  func entries() throws(KernelError) -> [Entry] {
    if let documents { return documents }
    var entries: [Entry] = []
    var order = NameOrder()
    try FolderPart.each(of: descriptor) { part in
      let known = entries.count
      unsafe part.forEach { bytes, _, type in
        let isDots = unsafe bytes.count <= 2 && bytes.allSatisfy { $0 == 0x2E }
        if !isDots { entries.append(entry(FileName(bytes: unsafe Array(bytes)), type: Int(type))) }
      }
      order.add(entries[known...])
    }
    order.sort(&entries)
    return entries
  }

  /// Those of a collection, in its order.
  private var documents: [Entry]? {
    guard isCollection else { return nil }
    return collected.map { examined($0) }.filter { $0.kind != .broken && $0.kind != .special }
  }

  private func entry(_ name: FileName, type: Int) -> Entry {
    switch type {
    case Int(DT_REG): Entry(name: name, kind: .file)
    case Int(DT_DIR): Entry(name: name, kind: .folder)
    case Int(DT_LNK), Int(DT_UNKNOWN): examined(name)
    default: Entry(name: name, kind: .special)
    }
  }

  /// `O_PATH` opens nothing, so a FIFO or a device behind a link cannot block or act.
  private func examined(_ name: FileName) -> Entry {
    let unreachable = Entry(name: name, kind: .broken, isLink: true)
    guard
      let own = try? KernelPath.open(name, in: descriptor.rawValue, O_PATH | O_NOFOLLOW, subject: ""),
      let status = try? FileStatus(of: own.rawValue)
    else { return unreachable }
    if !status.isLink { return Entry(name: name, kind: status.kind) }
    guard
      let target = try? KernelPath.open(name, in: descriptor.rawValue, O_PATH, subject: ""),
      let real = try? FileStatus(of: target.rawValue),
      let path = try? KernelPath.bytes(of: target.rawValue, subject: "")
    else { return unreachable }
    let realName = String(kernel: path.split(separator: UInt8(ascii: "/")).last ?? [])
    return Entry(name: name, kind: real.kind, isLink: true, realName: realName)
  }
}
