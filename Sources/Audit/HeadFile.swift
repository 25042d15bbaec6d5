#if canImport(Glibc)
  internal import Glibc
#endif

/// The signed head beside a log: how far it goes, as its writer last knew. Written over in place, in one go: a line of one
/// length, within one sector.
final class HeadFile: Sendable {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(AuditLogError) {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw AuditFile.inaccessible(path, errno, .signature) }
  }

  deinit { close(descriptor) }

  /// - Parameter durably: it, and its name, are on the disk when this returns. So is one that is longer than the one before.
  func write(_ head: Statement, durably: Bool = false) throws(AuditLogError) {
    let bytes = Array(head.line.utf8)
    var status = stat()
    let isLonger = unsafe fstat(descriptor, &status) == 0 && status.st_size < bytes.count
    while true {
      let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
      if count == bytes.count { break }
      if count < 0 && errno == EINTR { continue }
      throw AuditFile.inaccessible(path, count < 0 ? errno : ENOSPC, .signature)
    }
    // The previous content may have been longer.
    guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw AuditFile.inaccessible(path, errno, .signature) }
    if durably || isLonger {
      fdatasync(descriptor)
      if isLonger { SmallFile.syncFolder(of: path) }
    }
  }

  /// Nil when there is none, or only zeros.
  static func read(_ path: String) throws(AuditLogError) -> Statement? {
    for _ in 0..<4 {
      // Its writer may be in the midst of it.
      if let found = try? statement(SmallFile.read(path), [.head, .closed], path) { return found }
      usleep(1000)
    }
    return try statement(SmallFile.read(path), [.head, .closed], path)
  }

  static func statement(
    _ bytes: [UInt8]?, _ kinds: Set<Statement.Kind>, _ path: String
  ) throws(AuditLogError) -> Statement? {
    guard let bytes, bytes.contains(where: { $0 != 0 }) else { return nil }
    if let found = Statement(String(decoding: bytes, as: UTF8.self)), kinds.contains(found.kind) { return found }
    throw AuditLogError(.damaged, path, "it is not as it was written", of: .signature)
  }
}
