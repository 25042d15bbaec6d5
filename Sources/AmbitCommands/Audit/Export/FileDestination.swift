internal import Audit
internal import Kernel
internal import Launcher
internal import SystemPackage

/// A file that grows by whole lines. Its content says where to go on, so each event is in it exactly once.
struct FileDestination: ExportDestination {
  let path: String
  private let format: ExportFormat
  private let file: Descriptor
  private let lock: FileLock
  /// Bytes of whole lines.
  private var end: UInt64 = 0
  private var isSynchronized = true

  let canReturn = false

  /// The longest line that is looked for at the end of a file. No event is as long: its texts have 8 KiB each.
  static let longestLine: UInt64 = 64 << 20
  /// A longer end is no torn line.
  private static let longestTorn: UInt64 = 1 << 20

  /// Opens the file, or makes it (mode 0600), and takes its lock. Nothing is changed in it yet.
  init(path: String, format: ExportFormat) throws {
    self.path = path
    self.format = format
    do throws(KernelError) {
      file = try Descriptor.open(path, flags: [.readWrite, .create, .append, .nonBlocking], mode: 0o600)
      guard try file.status().kind == .regular else { throw KernelError("open", path, errno: .notSupported) }
      guard let lock = try FileLock(of: file) else { throw KernelError("flock", path, errno: .wouldBlock) }
      self.lock = lock
    } catch {
      switch error.errno {
      case .wouldBlock: throw Failure("Another export is writing \(path).")
      case .notSupported:
        throw Failure("\(path) is no regular file. For a socket say --to unix:\(path); for a pipe, -.")
      default: throw Failure("The export cannot be written to \(path): \(error).")
      }
    }
  }

  /// Reads the file's end: a last line without its newline was torn, when an export or the machine died, and is for ``discard()``.
  ///
  /// - Throws: when the content is not an export of this format and log. It is then left unchanged.
  mutating func position(of source: ExportSource) throws -> ExportPosition {
    let size = try file.status().size
    guard size > 0 else { return .empty }
    let (line, start) = try lastLine(in: size)
    guard let line else {
      guard start == 0, size <= Self.longestTorn else { throw foreign() }
      return .torn(try file.bytes(at: 0, count: Int(size)))
    }
    guard let found = format.identifier(inLine: line) else { throw foreign() }
    guard found.log == source.log else {
      throw Failure(
        "\(path) ends with event \(found.sequence) of another log (\(found.log)); this one is \(source.log). "
          + "Nothing was written. Export to another file, or move this one away.")
    }
    end = start + UInt64(line.count) + 1
    return .after(found, line: line)
  }

  mutating func discard() throws {
    if try file.status().size != end { try file.cut(at: end) }
  }

  /// The last whole event in the file, and its line, of any log.
  func lastEvent() throws -> (event: EventIdentifier, bytes: [UInt8])? {
    guard let line = try lastLine(in: try file.status().size).line, let event = format.identifier(inLine: line) else {
      return nil
    }
    return (event, line)
  }

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    let bytes = encoded(events, encoder)
    do throws(KernelError) {
      try file.writeAll(bytes)
    } catch {
      // The whole lines before stay; of this piece nothing does, so that the file ends where its reader can go on.
      try? file.cut(at: end)
      throw Failure("The export could not be written to \(path): \(error). What was written before is complete.")
    }
    end += UInt64(bytes.count)
    isSynchronized = false
  }

  /// On the disk, before a state says so.
  mutating func settles(within patience: Duration) throws -> Bool {
    if !isSynchronized { try file.synchronize() }
    isSynchronized = true
    return true
  }

  mutating func finish() throws { _ = try settles(within: .zero) }

  func reopen() throws {}

  /// The last line that has its newline, without it, and where it begins; nil when there is none.
  private func lastLine(in size: UInt64) throws -> (line: [UInt8]?, start: UInt64) {
    var tail: [UInt8] = []
    var start = size
    let newline = UInt8(ascii: "\n")
    while start > 0, size - start < Self.longestLine {
      let count = min(start, 65536)
      start -= count
      tail = try file.bytes(at: start, count: Int(count)) + tail
      guard let last = tail.lastIndex(of: newline) else { continue }
      if let before = tail[..<last].lastIndex(of: newline) {
        return (Array(tail[(before + 1)..<last]), start + UInt64(before) + 1)
      }
      if start == 0 { return (Array(tail[..<last]), 0) }
    }
    return (nil, start)
  }

  private func foreign() -> Failure {
    Failure(
      "\(path) has something in it that is not an export of this log as \(format.rawValue). Nothing was written. "
        + "Export to another file, or move this one away.")
  }
}
