import Foundation
import GRDB
import TestSupport

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

/// A folder for one test, gone when the test is done.
final class Folder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "ambit-audit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var log: String { "\(path)/audit.sqlite" }

  /// Every file's name and bytes: what must not change when a log is refused.
  func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      contents[name] = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
    }
    return contents
  }
}

/// SQL on a log behind the log's back.
func sql(_ statement: String, on path: String) throws {
  let queue = try DatabaseQueue(path: path)
  try queue.writeWithoutTransaction { db in try db.execute(sql: statement) }
  try queue.close()
}

extension Seeded {
  /// An event in which everything that may be absent sometimes is, and in which texts hold what files may be called.
  mutating func event() -> AuditEvent {
    let texts = [
      "io.example.editor", "notes.txt", "", "Grüße", "日本", "a\nb", "\u{1b}[0m", "quote\"s", "back\\slash", "'; --",
    ]
    func text(_ generator: inout Seeded) -> String? {
      Bool.random(using: &generator) ? texts.randomElement(using: &generator) : nil
    }
    func microseconds(_ generator: inout Seeded) -> Int64 {
      1_700_000_000_000_000 + Int64.random(in: 0..<1_000_000_000, using: &generator)
    }
    var document: AuditEvent.Document?
    if Bool.random(using: &self) {
      document = AuditEvent.Document(
        path: "/home/" + (text(&self) ?? "x"), volume: text(&self),
        inode: Bool.random(using: &self) ? UInt64.random(in: 0...UInt64.max, using: &self) : nil,
        birth: Bool.random(using: &self) ? Timestamp(microseconds: microseconds(&self)).date : nil)
    }
    var detail: [String: String] = [:]
    for _ in 0..<Int.random(in: 0..<3, using: &self) {
      detail[text(&self) ?? "used"] = texts.randomElement(using: &self)
    }
    let apps: [String?] = ["io.example.editor", "io.example.notes", "io.example.snooper", nil]
    // Which would begin another file of the log.
    let kinds = AuditEvent.Kind.known.filter { $0 != .logRotated } + [AuditEvent.Kind(rawValue: "ofALaterVersion")]
    return AuditEvent(
      kinds.randomElement(using: &self) ?? .launch,
      AuditEvent.Result.allCases.randomElement(using: &self) ?? .allowed,
      time: Timestamp(microseconds: microseconds(&self)).date,
      app: apps.randomElement(using: &self) ?? nil, instance: ["i1", "i2", nil].randomElement(using: &self) ?? nil,
      pid: Bool.random(using: &self) ? Int32.random(in: 1...4_194_304, using: &self) : nil,
      grant: ["g1", "g2", nil].randomElement(using: &self) ?? nil, document: document, how: text(&self),
      rule: text(&self), reason: text(&self), detail: detail)
  }

  mutating func events(_ count: Int) -> [AuditEvent] {
    (0..<count).map { _ in event() }
  }
}

/// The events as a log that began with them numbers them.
func numbered(_ events: [AuditEvent]) -> [AuditEvent] {
  zip(Int64(1)..., events).map { number, event in
    var event = event
    event.sequence = number
    return event
  }
}
