internal import CLinux
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Some entries of a folder, as the kernel has packed them (`getdents64(2)`).
package struct FolderPart: Sendable {
  private let records: [UInt8]

  /// - Parameter room: bytes that are read at the most; a name takes up to 280 of them.
  /// - Returns: the entries at the folder's own reading position; `nil` at the end.
  private static func next(of folder: Descriptor, room: Int) throws(KernelError) -> FolderPart? {
    var failure: Int32 = 0
    let records = unsafe [UInt8](unsafeUninitializedCapacity: room) { bytes, count in
      let filled = unsafe ambit_read_folder(folder.rawValue, bytes.baseAddress, bytes.count)
      count = max(0, filled)
      failure = Int32(-min(0, filled))
    }
    guard failure == 0 else { throw KernelError("getdents64", "folder", errno: .init(rawValue: failure)) }
    return records.isEmpty ? nil : FolderPart(records: records)
  }

  /// Reads a folder from its beginning, independent of earlier reads of it.
  ///
  /// A long folder's next part is read while the caller works on the present one. The kernel takes as long as the caller.
  package static func each(
    of folder: Descriptor, _ work: (FolderPart) throws(KernelError) -> Void
  ) throws(KernelError) {
    let folder = try Descriptor.open(".", below: folder, flags: [.read, .directory])
    var room = 32 << 10
    var part = try next(of: folder, room: room)
    while let current = part {
      // Half empty: the next one is the end, and is here at once.
      let ahead = current.records.count > room / 2 ? Ahead() : nil
      if ahead != nil { room = 512 << 10 }
      let worker = try? ahead.map { ahead throws(KernelError) in try ahead.start(folder, room: room) }
      let result = Result { () throws(KernelError) in try work(current) }
      worker?.finish()
      try result.get()
      part = if let taken = ahead?.taken { try taken.get() } else { try next(of: folder, room: room) }
    }
  }

  /// A part that is read in a thread of its own.
  private final class Ahead: Sendable {
    private let result = Mutex<Result<FolderPart?, KernelError>?>(nil)

    /// `nil`: it was not read.
    var taken: Result<FolderPart?, KernelError>? { result.withLock { $0 } }

    func start(_ folder: Descriptor, room: Int) throws(KernelError) -> Worker {
      try Worker {
        let found = Result { () throws(KernelError) in try FolderPart.next(of: folder, room: room) }
        self.result.withLock { $0 = found }
      }
    }
  }

  /// Hands on the name without its NUL, the inode number, and the kind as `readdir(3)` has it (`DT_REG`); also of `.` and `..`.
  package func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ inode: UInt64, _ type: UInt8) -> Void) {
    unsafe records.withUnsafeBytes { unsafe Self.forEach(in: $0, body) }
  }

  /// struct linux_dirent64: inode, offset, length of all of it, kind, the name with zeros behind it.
  static func forEach(
    in records: UnsafeRawBufferPointer, _ body: (_ name: UnsafeRawBufferPointer, _ inode: UInt64, _ type: UInt8) -> Void
  ) {
    var at = 0
    while at + 19 < records.count {
      let inode = unsafe records.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let length = Int(unsafe records.loadUnaligned(fromByteOffset: at + 16, as: UInt16.self))
      guard length > 19, at + length <= records.count else { return }
      let name = unsafe UnsafeRawBufferPointer(rebasing: records[(at + 19)..<(at + length)])
      let end = unsafe name.firstIndex(of: 0) ?? name.count
      unsafe body(UnsafeRawBufferPointer(rebasing: name[..<end]), inode, records[at + 18])
      at += length
    }
  }
}
