#if canImport(Glibc)
  internal import Glibc
#endif

/// How far a log went when something was written to it last, over the log's key: a signature for each entry would take longer than
/// the entry itself, and the signed head follows only when the disk has it. So it tells of entries that were taken away behind the
/// head, after their broker was killed.
///
/// 96 bytes, written over in place:
///
///     "AMBITE", 1, newline; u64 number and 32 bytes hash of the last entry; 16 bytes: which time since a start of the machine this
///     was; 32 bytes HMAC-SHA256 of these
///
/// It says nothing after a power failure, which takes the last entries and not always this.
struct EndMark: Equatable, Sendable {
  let mark: ChainMark
  let boot: [UInt8]
  private let code: [UInt8]

  static let size = 96
  private static let magic = Array("AMBITE1\n".utf8)

  init(_ mark: ChainMark, boot: [UInt8], key: AuditKey) {
    self.mark = mark
    self.boot = Journal.padded(boot)
    code = key.code(of: Self.text(mark, self.boot))
  }

  /// Nil when they are not the bytes of one.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, bytes.starts(with: Self.magic), let hash = EntryHash(bytes: bytes[16..<48]) else {
      return nil
    }
    mark = ChainMark(sequence: Int64(bitPattern: bytes.number(at: 8)), hash: hash)
    boot = Array(bytes[48..<64])
    code = Array(bytes[64...])
  }

  var bytes: [UInt8] { Self.text(mark, boot) + code }

  func isWritten(with key: AuditKey) -> Bool { key.code(of: Self.text(mark, boot)) == code }

  private static func text(_ mark: ChainMark, _ boot: [UInt8]) -> [UInt8] {
    var bytes = magic
    bytes.append(number: mark.sequence)
    mark.hash.append(to: &bytes)
    return bytes + boot
  }
}

/// The file of it beside a log, while there is a journal.
final class EndFile: Sendable {
  private let path: String
  private let descriptor: Int32
  private let key: AuditKey

  /// Opens the one that is there, which takes no room on a disk that may be full; or makes one.
  init(_ path: String, at mark: ChainMark, key: AuditKey) throws(AuditLogError) {
    self.path = path
    self.key = key
    let present = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if present >= 0 {
      descriptor = present
      guard write(mark), ftruncate(present, off_t(EndMark.size)) == 0 else {
        throw AuditFile.inaccessible(path, errno, .signature)
      }
      return
    }
    let unfinished = path + ".new"
    unsafe unlink(unfinished)
    descriptor = unsafe open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw AuditFile.inaccessible(path, errno, .signature) }
    guard write(mark), unsafe rename(unfinished, path) == 0 else {
      let code = errno
      unsafe unlink(unfinished)
      throw AuditFile.inaccessible(path, code, .signature)
    }
  }

  deinit { close(descriptor) }

  /// With every entry, or soon after. It has its bytes already, so nothing is lacking for it; if it fails all the same, less is known.
  @discardableResult
  func write(_ mark: ChainMark) -> Bool {
    let bytes = EndMark(mark, boot: JournalFile.boot, key: key).bytes
    while true {
      let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
      if count == bytes.count { return true }
      guard count < 0, errno == EINTR else { return false }
    }
  }

  func remove() { unsafe unlink(path) }

  /// - Parameter key: the key that it has to be written with; `nil`: the key is unknown.
  /// - Returns: `nil` if there is none.
  static func read(_ path: String, key: AuditKey?) throws(AuditLogError) -> EndMark? {
    for _ in 0..<8 {
      guard unsafe access(path, F_OK) == 0 else { break }
      // Its writer may be in the midst of it.
      if let found = try? mark(SmallFile.read(path), key, path) { return found }
      usleep(1000)
    }
    return try mark(SmallFile.read(path), key, path)
  }

  static func mark(_ bytes: [UInt8]?, _ key: AuditKey?, _ path: String) throws(AuditLogError) -> EndMark? {
    // Of one that a power failure took there are zeros, or nothing.
    guard let bytes, bytes.contains(where: { $0 != 0 }) else { return nil }
    if let found = EndMark(bytes), key.map(found.isWritten) ?? true { return found }
    throw AuditLogError(.damaged, path, "it is not as it was written", of: .signature)
  }
}
