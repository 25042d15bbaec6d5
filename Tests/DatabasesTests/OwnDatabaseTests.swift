import Databases
import Folders
import Foundation
import GRDB
import Testing

/// Databases of Ambit's own on a real disk: made, opened again, and refused with a way out.
struct OwnDatabaseTests {
  private static func kind(version: Int = 1) -> OwnDatabase.Kind {
    OwnDatabase.Kind(
      name: "the shelf", applicationID: 0x416d_6258, version: version,
      schema: "CREATE TABLE book (title TEXT PRIMARY KEY, pages INTEGER NOT NULL) WITHOUT ROWID;",
      remedy: "Move it away.")
  }

  private func inFolder(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("databases-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body("\(path)/shelf.sqlite")
  }

  private func refusal(_ path: String, version: Int = 1) -> String {
    do throws(StateError) {
      _ = try OwnDatabase(path: path, Self.kind(version: version))
      return "none"
    } catch { return error.description }
  }

  @Test("a database is made, and is the same when it is opened again") func again() throws {
    try inFolder { path in
      try OwnDatabase(path: path, Self.kind()).write { db in
        try db.execute(sql: "INSERT INTO book VALUES ('Emma', 474)")
      }
      let pages = try OwnDatabase(path: path, Self.kind()).read { db in
        try Int.fetchOne(db, sql: "SELECT pages FROM book")
      }
      #expect(pages == 474)
    }
  }

  @Test("an empty file becomes a database") func empty() throws {
    try inFolder { path in
      try Data().write(to: URL(fileURLWithPath: path))
      #expect(refusal(path) == "none")
    }
  }

  @Test("a transaction that fails leaves nothing") func transaction() throws {
    struct Stop: Error {}
    try inFolder { path in
      let shelf = try OwnDatabase(path: path, Self.kind())
      #expect(throws: StateError.self) {
        try shelf.write { db in
          try db.execute(sql: "INSERT INTO book VALUES ('Emma', 474)")
          throw Stop()
        }
      }
      #expect(try shelf.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM book") } == 0)
    }
  }

  @Test("bytes that are no database are refused, named, and stay") func bytes() throws {
    try inFolder { path in
      let letter = Data("Dear Emma, this is a letter and no database at all.".utf8)
      try letter.write(to: URL(fileURLWithPath: path))
      let sentence = refusal(path)
      for part in ["the shelf \(path)", "no database", "application id 416d6258, format 1", "Move it away."] {
        #expect(sentence.contains(part), "\(sentence)")
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == letter)
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("a folder at the path is refused") func folder() throws {
    try inFolder { path in
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      #expect(refusal(path).contains("no regular file"))
    }
  }

  @Test("another program's database is refused and not changed") func foreign() throws {
    try inFolder { path in
      try DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE mine (x)") }
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(refusal(path).contains("another program made it"))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
  }

  @Test("another version's database is refused, with both versions") func version() throws {
    try inFolder { path in
      _ = try OwnDatabase(path: path, Self.kind(version: 2))
      let sentence = refusal(path, version: 1)
      #expect(sentence.contains("format 2") && sentence.contains("format 1"), "\(sentence)")
    }
  }

  @Test("a page that was written over is damage, with the way out") func damage() throws {
    try inFolder { path in
      do {
        let shelf = try OwnDatabase(path: path, Self.kind())
        try shelf.write { db in
          for number in 0..<2000 {
            try db.execute(sql: "INSERT INTO book VALUES (?, 1)", arguments: ["A rather long title \(number)"])
          }
        }
      }
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      try #require(bytes.count > 20_000)
      bytes.replaceSubrange(4096..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 4096))
      try bytes.write(to: URL(fileURLWithPath: path))
      try? FileManager.default.removeItem(atPath: path + "-wal")
      try? FileManager.default.removeItem(atPath: path + "-shm")
      let shelf = try OwnDatabase(path: path, Self.kind())
      let error = #expect(throws: StateError.self) {
        try shelf.read { db in try String.fetchAll(db, sql: "SELECT title FROM book") }
      }
      #expect(error?.description.contains("damaged") == true && error?.description.contains("Move it away.") == true)
    }
  }
}
