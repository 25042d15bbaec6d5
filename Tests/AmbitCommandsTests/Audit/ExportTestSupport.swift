import Foundation
import Glibc
import Kernel
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

/// A log with events in it, in a folder of its own.
struct SmallLog {
  let folder: TemporaryFolder
  let path: String
  let reader: AuditReader
  let source: ExportSource
  let events: [AuditEvent]

  /// - Parameter other: a log whose key this one is signed with.
  init(_ count: Int, seed: Int64 = 1, key other: SmallLog? = nil) throws {
    folder = try TemporaryFolder()
    path = "\(folder.path)/audit.sqlite"
    if let other { try other.giveKey(to: folder.path) }
    let kinds = AuditEvent.Kind.known.filter { $0 != .logRotated }
    let log = try AuditLog(path: path)
    try log.append(
      (1...count).map { number in
        AuditEvent(
          kinds[number % kinds.count], AuditEvent.Result.allCases[number % 3],
          time: Timestamp(microseconds: 1_700_000_000_000_000 + seed + Int64(number)).date, app: "io.example.editor",
          document: AuditEvent.Document(path: "/home/alice/note\n\(number).txt", inode: UInt64(number)),
          reason: number % 5 == 0 ? "Because." : nil, detail: ["count": "\(number)"])
      })
    try log.flush()
    reader = try AuditReader(path: path)
    events = try reader.events(limit: count)
    source = try Self.source(reader)
  }

  private init(_ folder: TemporaryFolder, _ path: String, _ events: [AuditEvent]) throws {
    self.folder = folder
    self.path = path
    self.events = events
    reader = try AuditReader(path: path)
    source = try Self.source(reader)
  }

  private static func source(_ reader: AuditReader) throws -> ExportSource {
    ExportSource(log: LogIdentity(key: try #require(try reader.publicKey())), host: "workstation", version: "1")
  }

  private func giveKey(to other: String) throws {
    for name in ["audit.key", "audit.pub"] {
      try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(other)/\(name)")
    }
  }

  /// The same log as it is when so many of its first entries have been removed.
  func withoutFirst(_ count: Int) throws -> SmallLog {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/audit.sqlite"
    try giveKey(to: folder.path)
    let base = ChainMark(sequence: Int64(count), hash: EntryHash())
    let files = LogFiles(path)
    _ = try AuditFile.openForWriting(path, of: files, after: base)
    let key = try AuditKey.load(files, isNew: true)
    try HeadFile(files.head).write(Statement(.closed, base, time: 0, checkpoint: 0, key: key))
    let log = try AuditLog(path: path)
    try log.append(Array(events[count...]))
    try log.flush()
    return try SmallLog(folder, path, Array(events[count...]))
  }

  func run(
    _ format: ExportFormat, to destination: any ExportDestination, state: String? = nil
  ) throws -> ExportRun {
    ExportRun(
      reader: reader, encoder: ExportEncoder(format, source), destination: destination,
      stateFile: try state.map { try StateFile(path: $0) }, rest: { _ in false })
  }

  /// Exports to a file to its end, from wherever that file and the state are.
  func export(_ format: ExportFormat, to file: String, state: String? = nil) throws {
    var run = try run(format, to: try FileDestination(path: file, format: format), state: state)
    try run.resume()
    try run.run()
  }

  /// What a whole export is.
  func whole(_ format: ExportFormat) -> [UInt8] {
    var bytes: [UInt8] = []
    for event in events { ExportEncoder(format, source).append(event, to: &bytes) }
    return bytes
  }
}

func content(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

/// The numbers of the events in whole lines.
func numbers(_ lines: [UInt8], _ format: ExportFormat) -> [Int64] {
  lines.split(separator: UInt8(ascii: "\n")).compactMap { format.identifier(inLine: $0)?.sequence }
}

extension StateFile {
  /// The number in a state, which an export that runs may be keeping.
  static func sequence(at path: String) throws -> Int64? {
    FileManager.default.fileExists(atPath: path) ? ExportState(try content(path))?.event.sequence : nil
  }
}

extension Descriptor {
  /// One read(2).
  func readSome(_ bytes: inout [UInt8]) throws -> Int {
    try KernelError.check("read") { unsafe read(rawValue, &bytes, bytes.count) }
  }
}
