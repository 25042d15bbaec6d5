import Foundation
import Synchronization
import Testing

@testable import Audit

@Suite struct `A log that was copied in part` {
  private static let all = ["sqlite", "sqlite-wal", "head", "journal", "end"]

  /// A log that is written: two entries are signed for and moved to the database, where SQLite has them in its own log; three more are in
  /// the journal alone.
  private func written(_ body: (Folder) throws -> Void) throws {
    let folder = try Folder()
    var settings = AuditLog.Settings()
    settings.syncAfter = .max / 2
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append([AuditEvent(.launch), AuditEvent(.grant)])
    try log.core.syncNow()
    try log.flush()
    for kind in [AuditEvent.Kind.start, .stop, .exit] { try log.append([AuditEvent(kind)]) }
    try body(folder)
    withExtendedLifetime(log) {}
  }

  private func copy(_ folder: Folder, _ endings: [String]) throws -> Folder {
    let copy = try Folder()
    for ending in endings {
      let bytes = try Data(contentsOf: URL(filePath: "\(folder.path)/audit.\(ending)"))
      try bytes.write(to: URL(filePath: "\(copy.path)/audit.\(ending)"))
    }
    return copy
  }

  private func gap(_ folder: Folder) throws -> String? { try AuditReader(path: folder.log).gap()?.description }

  @Test func `says which files are to be copied as well`() throws {
    try written { folder in
      let alone = try copy(folder, ["sqlite"])
      let words = try #require(try gap(alone))
      let stem = "\(alone.path)/audit"
      #expect(words.contains("\(stem).sqlite may lack its newest entries: there is no \(stem).head beside it"))
      for file in [".head", ".journal", ".end", ".sqlite-wal", "-*"] { #expect(words.contains(stem + file), "\(file)") }
    }
  }

  @Test func `says which entries are missing, or where they are`() throws {
    try written { folder in
      for (endings, words) in [
        (["sqlite", "head"], "entries 1 to 2 are missing, by"),
        (["sqlite", "sqlite-wal", "head", "end"], "entries 3 to 5 are missing, by"),
        (["sqlite", "sqlite-wal", "head"], "a broker was writing it, and there is no"),
      ] {
        let found = try gap(copy(folder, endings))
        #expect(found?.contains(words) == true, "\(endings): \(found ?? "nothing")")
      }
    }
  }

  @Test func `a whole one is not said to lack anything, be it written, copied or closed`() throws {
    try written { folder in
      let (own, copied) = (try gap(folder), try gap(copy(folder, Self.all)))
      #expect(own == nil && copied == nil)
    }
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch), AuditEvent(.exit)])
    try log.finish()
    #expect(try gap(folder) == nil)
    #expect(try gap(copy(folder, ["sqlite", "head"])) == nil)
    // Another broker may have begun since: the database cannot tell.
    #expect(try gap(copy(folder, ["sqlite"])) != nil)
  }

  @Test func `a head that cannot be read says nothing`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    try log.finish()
    try Data("something".utf8).write(to: URL(filePath: LogFiles(folder.log).head))
    #expect(try gap(folder)?.contains("audit.head says how far it goes, and it is not as it was written") == true)
  }

  @Test func `one of its later files is not the log`() throws {
    try written { folder in
      let copy = try copy(folder, Self.all)
      let segment = LogFiles(copy.log).segment(1)
      try FileManager.default.moveItem(atPath: copy.log, toPath: segment)
      try? FileManager.default.removeItem(atPath: "\(copy.log)-wal")
      let words = try AuditReader(path: segment).gap()?.description
      #expect(words == "\(segment) is only a part of the log \(copy.log): name that one.")
    }
  }

  @Test func `nothing is said of one that is closed and begun anew meanwhile`() throws {
    let folder = try Folder()
    let path = folder.log
    func write() throws {
      let log = try AuditLog(path: path)
      try log.append([AuditEvent(.start)])
      try log.finish()
    }
    try write()
    let ended = Ended()
    Thread.detachNewThread {
      for _ in 0..<20 {
        guard let log = try? AuditLog(path: path) else { continue }
        _ = try? log.append([AuditEvent(.start)])
        try? log.finish()
      }
      ended.flag.store(true, ordering: .relaxed)
    }
    let reader = try AuditReader(path: path)
    while !ended.flag.load(ordering: .relaxed) { #expect(try reader.gap() == nil) }
    #expect(try reader.gap() == nil)
  }

  private final class Ended: Sendable {
    let flag = Atomic(false)
  }

  @Test func `AUD-4: without the private key it is checked with the public one, as far as its signed head`() throws {
    try written { folder in
      let copy = try copy(folder, Self.all + ["pub"])
      let reader = try AuditReader(path: copy.log)
      let given = try #require(try reader.publicKey())
      let found = try reader.verified(key: given, isCopy: true)
      #expect(found.last.sequence == 5 && found.unsigned == 3 && !found.isEndChecked)
      // Where it is written, and where nobody gives a key, the missing one is a finding.
      for (key, isCopy) in [(given, false), (nil, true)] as [(AuditKey.Public?, Bool)] {
        let error = #expect(throws: AuditLogError.self) { try reader.verified(key: key, isCopy: isCopy) }
        #expect(error?.description.contains("audit.key is damaged: it is gone") == true)
      }
      // What is missing of a copy is one, key or no key.
      for ending in ["journal", "end", "head"] {
        let copy = try self.copy(folder, (Self.all + ["pub"]).filter { $0 != ending })
        let error = #expect(throws: AuditLogError.self) {
          try AuditReader(path: copy.log).verified(key: given, isCopy: true)
        }
        #expect(error?.problem == .damaged, "\(ending)")
      }
    }
  }
}
