import Glibc
import Kernel
import SystemPackage

extension OpenFolder {
  /// All names in the folder, sorted for showing.
  ///
  /// `readdir` alone says of nearly every name whether it is a folder: a hundred thousand names cost no call each.
  /// Only symbolic links, and names on file systems that do not say, are asked about one by one.
  func entries() throws(KernelError) -> [Entry] {
    if let documents { return documents }
    // A description of its own: `descriptor`'s reading position stays untouched.
    let number = try KernelError.check("openat", path) {
      unsafe openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = unsafe fdopendir(number) else {
      let error = KernelError.last("fdopendir", path)
      close(number)
      throw error
    }
    defer { unsafe closedir(stream) }

    var entries: [Entry] = []
    while true {
      // The end and a failure both answer NULL; errno tells them apart.
      errno = 0
      guard let record = unsafe readdir(stream) else {
        if errno != 0 { throw KernelError.last("readdir", path) }
        break
      }
      let name = unsafe FileName(record)
      if name.bytes == [0x2E] || name.bytes == [0x2E, 0x2E] { continue }
      entries.append(entry(name, type: Int(unsafe record.pointee.d_type)))
    }
    return NameOrder.sorted(entries)
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

extension FileName {
  /// The name in a directory record, which ends at its NUL.
  fileprivate init(_ record: UnsafeMutablePointer<dirent>) {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else {
      self.init(bytes: [])
      return
    }
    let start = unsafe UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    let length = unsafe strlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
    self.init(bytes: unsafe Array(UnsafeBufferPointer(start: start, count: length)))
  }
}
