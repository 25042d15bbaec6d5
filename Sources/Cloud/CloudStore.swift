internal import CloudSync
internal import Cryptography
internal import Databases
internal import Folders
internal import Foundation
internal import GRDB
internal import Kernel
internal import Paths
internal import SystemPackage

/// A cloud's state on the disk: its items and receipts (`cloud.sqlite`), and contents by their SHA-256 (`contents/`).
final class CloudStore: Sendable {
  private static let kind = OwnDatabase.Kind(
    // "AmbC"
    name: "the cloud's table", applicationID: 0x416d_6243, version: 1,
    schema: """
      CREATE TABLE item (
        id TEXT PRIMARY KEY, parent TEXT NOT NULL, name TEXT NOT NULL, folder INTEGER NOT NULL, revision INTEGER NOT NULL,
        contentRevision INTEGER NOT NULL, placeRevision INTEGER NOT NULL, content TEXT, size INTEGER NOT NULL,
        device TEXT NOT NULL, deleted INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE receipt (number INTEGER PRIMARY KEY, key TEXT NOT NULL, answer BLOB NOT NULL);
      """,
    remedy: "Name another --store. The devices have their documents; each one says how it goes on with another cloud.")
  private static let receipts = 32_768
  private let database: OwnDatabase
  private let contents: Descriptor
  private let lock: FileLock
  /// Another one for each store that was ever made.
  let identity: String

  /// - Parameter folder: is made if it is not there.
  /// - Throws: where it cannot be opened, or was made by another version.
  init(folder: String) throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/contents", withIntermediateDirectories: true)
    contents = try Descriptor.open("\(folder)/contents", flags: [.read, .directory])
    let file = try Descriptor.open("lock", below: contents, flags: [.readWrite, .create, .noFollow], mode: 0o600)
    guard let lock = try FileLock(of: file) else { throw StateError("another cloud keeps its items in \(folder)") }
    self.lock = lock
    database = try OwnDatabase(path: "\(folder)/cloud.sqlite", Self.kind)
    identity = try Self.identity(in: Descriptor.open(folder, flags: [.read, .directory]))
    try removeRemains()
  }

  private static func identity(in folder: Descriptor) throws -> String {
    if let file = try? Descriptor.open("identity", below: folder, flags: [.read, .noFollow]) {
      let known = String(decoding: try file.readAll(limit: 100), as: UTF8.self)
      if !known.isEmpty { return known }
    }
    let made = UUID().uuidString.lowercased()
    try folder.makeFile("identity", Array(made.utf8))
    return made
  }

  /// Removes uploads that a server was killed in, and contents that no item and no receipt has had for a day.
  private func removeRemains() throws {
    let entries = try DirectoryReader.entries(of: contents, limit: Int.max)
    let old = Clock.realtime() - 86_400_000_000_000
    var left: [String] = []
    for entry in entries where entry.kind == .regular || entry.kind == nil {
      if entry.name.isHiddenName {
        try? contents.removeFile(entry.name)
      } else if entry.name.utf8.count == 64,
        let status = try? Descriptor.open(entry.name, below: contents, flags: .place).status(), status.modified < old
      {
        left.append(entry.name)
      }
    }
    guard !left.isEmpty else { return }
    let ledger = try ledger()
    let used = ledger.contents
    for name in left where !used.contains(name) { try? contents.removeFile(name) }
  }

  // MARK: The ledger

  func ledger() throws -> CloudLedger {
    // Old receipts do no harm where the disk is full.
    try? database.write { db in
      try db.execute(
        sql: "DELETE FROM receipt WHERE number <= (SELECT max(number) FROM receipt) - ?", arguments: [Self.receipts])
    }
    return try database.read { db in
      let items = try Row.fetchAll(db, sql: "SELECT * FROM item").map(Self.item)
      let receipts = try Row.fetchAll(db, sql: "SELECT key, answer FROM receipt ORDER BY number").map { row in
        CloudReceipt(key: row["key"], answer: try JSONDecoder().decode(CloudAnswer.self, from: row["answer"] as Data))
      }
      return CloudLedger(restoring: items, receipts: receipts)
    }
  }

  /// Stores rows and receipts, all or none.
  func store(_ items: [CloudItem], _ receipts: [CloudReceipt]) throws {
    try database.write { db in
      for item in items {
        try db.execute(
          sql: "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            item.id, item.parent, item.name, item.kind == .folder, item.revision, item.contentRevision,
            item.placeRevision, item.content, item.size, item.device, item.isDeleted,
          ])
      }
      for receipt in receipts {
        try db.execute(
          sql: "INSERT INTO receipt (key, answer) VALUES (?, ?)",
          arguments: [receipt.key, try JSONEncoder().encode(receipt.answer)])
      }
      guard !receipts.isEmpty else { return }
      try db.execute(
        sql: "DELETE FROM receipt WHERE number <= (SELECT max(number) FROM receipt) - ?", arguments: [Self.receipts])
    }
  }

  private static func item(_ row: Row) -> CloudItem {
    CloudItem(
      id: row["id"], parent: row["parent"], name: row["name"], kind: row["folder"] ? .folder : .document,
      revision: row["revision"], contentRevision: row["contentRevision"], placeRevision: row["placeRevision"],
      content: row["content"], size: row["size"], device: row["device"], isDeleted: row["deleted"])
  }

  // MARK: Contents. From any thread.

  /// The sizes of contents that a device sends, in bytes. With these bounds, the sum of one message's sizes is no overflow.
  ///
  /// - Returns: `nil`: one is no regular file, or has more bytes than a document can have.
  static func measured(_ files: [Descriptor]) throws(KernelError) -> [(file: Descriptor, size: Int)]? {
    var measured: [(file: Descriptor, size: Int)] = []
    for file in files {
      let status = try file.status()
      let size = Int(clamping: status.size)
      guard status.kind == .regular, size <= CloudBounds.size else { return nil }
      measured.append((file, size))
    }
    return measured
  }

  /// Keeps contents; when this returns, they are on the disk.
  ///
  /// - Parameter sources: with their sizes. What is added to them meanwhile is not kept.
  /// - Returns: their names and bytes.
  func keep(
    _ sources: [(file: Descriptor, size: Int)], while isWanted: () -> Bool
  ) throws(KernelError) -> [(name: String, size: Int)] {
    var (temporaries, kept): ([(name: String, file: Descriptor)], [(name: String, size: Int)]) = ([], [])
    do throws(KernelError) {
      for source in sources {
        let name = ".\(UInt64.random(in: 0...UInt64.max))"
        let file = try Descriptor.open(
          name, below: contents, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
        temporaries.append((name, file))
        kept.append(try Self.copy(source.file, to: file, size: source.size, while: isWanted))
      }
      try Self.synchronize(temporaries.map(\.file), in: contents)
      for (temporary, content) in zip(temporaries, kept) {
        do throws(KernelError) { try contents.moveAside(temporary.name, to: contents, as: content.name) } catch {
          guard error.errno == .fileExists else { throw error }
          try contents.removeFile(temporary.name)
        }
      }
      try contents.synchronize()
      return kept
    } catch {
      for temporary in temporaries { try? contents.removeFile(temporary.name) }
      throw error
    }
  }

  /// Makes files of a folder durable. For many small ones, the file system as a whole is faster than each on its own.
  static func synchronize(_ files: [Descriptor], in folder: Descriptor) throws(KernelError) {
    if files.count > 8 { return try folder.synchronizeFileSystem() }
    for file in files { try file.synchronize() }
  }

  func open(_ name: String) -> Descriptor? {
    guard name.utf8.count == 64, name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return try? Descriptor.open(name, below: contents, flags: [.read, .noFollow])
  }

  /// - Returns: the name that a content has: its SHA-256 in hexadecimal.
  static func name(of file: Descriptor) throws(KernelError) -> String {
    var (hash, offset) = (SHA256(), UInt64(0))
    while true {
      let bytes = try file.bytes(at: offset, count: 1 << 20)
      if bytes.isEmpty { return Hexadecimal.text(hash.finish()) }
      hash.update(bytes)
      offset += UInt64(bytes.count)
    }
  }

  /// Copies the beginning of a file to the end of another one.
  ///
  /// - Parameter size: bytes, of which there may be fewer.
  /// - Returns: the content's SHA-256 in hexadecimal, and its bytes.
  static func copy(
    _ source: Descriptor, to file: Descriptor, size: Int, while isWanted: () -> Bool
  ) throws(KernelError) -> (name: String, size: Int) {
    var (hash, offset) = (SHA256(), 0)
    while offset < size {
      let bytes = try source.bytes(at: UInt64(offset), count: min(1 << 20, size - offset))
      if bytes.isEmpty { break }
      guard isWanted() else { throw KernelError("copy", errno: .canceled) }
      hash.update(bytes)
      try file.writeAll(bytes)
      offset += bytes.count
    }
    return (Hexadecimal.text(hash.finish()), offset)
  }
}
