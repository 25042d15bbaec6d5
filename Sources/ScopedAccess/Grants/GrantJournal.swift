internal import Cryptography
internal import Folders
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Records that were added and are not in the database yet, in a file beside it. Writing them there takes a microsecond or two
/// where a transaction takes thirty, and the end of a process does not undo it.
///
/// A record is whole or it is none. It belongs to a turn: a random number that the database has as its `user_version`, and that the
/// transaction which takes the records over replaces by another. So they are in the one or in the other; and when they are in the
/// database, the first of them is struck out here (``clear()``), without which none behind it is read. Records from turns before,
/// or beside a database that a backup has replaced, do not count.
///
/// The file has zeros as far as it ever goes, so a record needs no further room on its disk; and the last of them are for grants that
/// end (`AUD-12`).
///
/// A store that has it open has the file's lock: two stores would take each other's records over.
final class GrantJournal: Sendable {
  /// Records that were added together.
  struct Record: Equatable {
    var grants: [Grant] = []
    /// Those of them that the app is still to get a reference to.
    var owed: [String] = []
    /// References that were written, to grants of this record or of others.
    var references: [Reference] = []
    /// Grants that have ended.
    var ended: [Ending] = []
  }

  struct Ending: Equatable {
    /// The grant's.
    var id: String
    /// In nanoseconds since 1970.
    var time: Int64
  }

  struct Reference: Equatable {
    /// The grant's.
    var id: String
    /// Of the file that it was written to.
    var inode: UInt64
  }

  /// Bytes that a record has at most, and all of them together.
  static let mostBytes = (record: 65_536, all: 262_144)
  /// Of these the last, which only records of ended grants take.
  static let reserved = 65_536

  private static let mark = Array("Ambit's grants 2".utf8)
  /// Of a journal whose records have no references yet.
  private static let firstMark = Array("Ambit's grants 1".utf8)
  /// Length, turn and checksum.
  private static let headSize = 24

  let path: String
  private let file: Descriptor
  private let lock: FileLock
  /// A store has been there: its database was on the disk before anything was written here.
  let wasUsed: Bool

  /// Opens the journal of a database.
  ///
  /// - Parameter makes: makes it, if there is none.
  /// - Returns: nil when there is none: new records then go to the database at once.
  /// - Throws: when the present file is something else, cannot be read, or is another process's. It is left as it is.
  init?(_ path: String, makes: Bool) throws(StateError) {
    self.path = path
    do throws(KernelError) {
      file = try Descriptor.open(path, flags: [.readWrite, .noFollow, .nonBlocking, .noControllingTerminal])
    } catch {
      guard error.errno == .noSuchFileOrDirectory else { throw Self.refusal(path, "cannot be opened: \(error)") }
      guard makes,
        let made = try? Descriptor.open(path, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
      else { return nil }
      file = made
    }
    let (begin, free): ([UInt8], FileLock?)
    do throws(KernelError) {
      guard try file.status().kind == .regular else { throw KernelError("open", path, errno: .invalidArgument) }
      begin = try file.bytes(at: 0, count: Self.mark.count)
      free = try Self.lock(file)
    } catch { throw Self.refusal(path, "cannot be read: \(error)") }
    guard let free else {
      throw StateError("\(path): another process has it open, and with it the grants; only one broker may")
    }
    lock = free
    // A process or a power failure that ends while it is made leaves nothing, or zeros.
    guard begin == Self.mark || begin == Self.firstMark || begin.allSatisfy({ $0 == 0 }) else {
      throw Self.refusal(path, "is something else")
    }
    wasUsed = begin.first == Self.mark[0]
    setRoomAside()
  }

  /// Its holder may be about to end.
  private static func lock(_ file: Descriptor) throws(KernelError) -> FileLock? {
    for _ in 0..<200 {
      if let lock = try FileLock(of: file) { return lock }
      usleep(10_000)
    }
    return nil
  }

  private static func refusal(_ path: String, _ reason: String) -> StateError {
    StateError(
      "\(path): \(reason), and it would be the journal of Ambit's grants. It has been left as it is: move it away to go on without what is in it, or put a backup in its place."
    )
  }

  // MARK: Writing

  /// Writes zeros behind the records. On a full disk there are fewer, and records may not fit.
  private func setRoomAside() {
    guard var place = (try? file.status().size).map(Int.init) else { return }
    let (zeros, end) = ([UInt8](repeating: 0, count: 65_536), Self.mark.count + Self.mostBytes.all)
    while place < end, write(Array(zeros.prefix(end - place)), at: place) { place += min(zeros.count, end - place) }
  }

  /// From here on nothing in it counts, and another record can be the first.
  ///
  /// - Returns: false if that could not be written.
  func clear() -> Bool { write(Self.mark + [UInt8](repeating: 0, count: Self.headSize), at: 0) }

  /// Brings to the disk all that was written so far.
  func synchronize() throws(KernelError) { try file.synchronize() }

  /// Writes a record behind others.
  ///
  /// - Parameter place: bytes that the records of this turn have so far.
  /// - Returns: its bytes; nil if it could not be written, and is none.
  func append(_ record: Record, at place: Int, turn: Int32) -> Int? {
    let bytes = Self.bytes(of: record, turn: turn)
    let room = record.ended.isEmpty ? Self.mostBytes.all - Self.reserved : Self.mostBytes.all
    guard bytes.count <= Self.mostBytes.record, place + bytes.count <= room else { return nil }
    return write(bytes, at: Self.mark.count + place) ? bytes.count : nil
  }

  private func write(_ bytes: [UInt8], at place: Int) -> Bool {
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(file.rawValue, $0.baseAddress, $0.count, off_t(place)) }
    return count == bytes.count
  }

  private static func bytes(of record: Record, turn: Int32) -> [UInt8] {
    var content = BinaryWriter()
    content.write(UInt64(record.grants.count))
    for grant in record.grants { content.write(grant) }
    content.write(UInt64(record.owed.count))
    for id in record.owed { content.write(id) }
    content.write(UInt64(record.references.count))
    for reference in record.references {
      content.write(reference.id)
      content.write(reference.inode)
    }
    // Records of older versions have neither of these.
    let made = record.grants.filter(\.isAppMade).map(\.id)
    if !record.ended.isEmpty || !made.isEmpty {
      content.write(UInt64(record.ended.count))
      for ending in record.ended {
        content.write(ending.id)
        content.write(ending.time)
      }
    }
    if !made.isEmpty {
      content.write(UInt64(made.count))
      for id in made { content.write(id) }
    }
    var head = BinaryWriter()
    head.write(UInt64(content.bytes.count))
    head.write(Int64(turn))
    head.write(checksum(content.bytes, turn: turn))
    return head.bytes + content.bytes
  }

  private static func checksum(_ content: some Sequence<UInt8>, turn: Int32) -> UInt64 {
    var number = BinaryWriter()
    number.write(Int64(turn))
    let digest = SHA256.digest(number.bytes + content)
    return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Reading

  struct Found {
    var records: [Record] = []
    var bytes = 0
    /// Behind them one begins that is not whole. A process may have died while it wrote it, before any answer;
    /// or it was damaged since.
    var isCut = false
  }

  /// The records of a turn, in their order.
  func records(turn: Int32) throws(StateError) -> Found {
    var rest = try content()[...]
    var found = Found()
    while let (record, size) = Self.record(in: rest, turn: turn) {
      found.records.append(record)
      found.bytes += size
      rest = rest.dropFirst(size)
    }
    var reader = BinaryReader(rest.prefix(Self.headSize))
    _ = try? reader.number()
    found.isCut = (try? reader.signed()) == Int64(turn)
    return found
  }

  private func content() throws(StateError) -> [UInt8] {
    do throws(KernelError) {
      return try file.bytes(at: UInt64(Self.mark.count), count: Self.mostBytes.all)
    } catch { throw Self.refusal(path, "cannot be read: \(error)") }
  }

  /// Keeps the present content in another file.
  ///
  /// - Returns: its path; nil when it could not be written.
  func keepAside() -> String? {
    let aside = "\(path).damaged-\(UInt32.random(in: 0 ... .max))"
    guard let bytes = try? content(),
      let copy = try? Descriptor.open(aside, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    else { return nil }
    if (try? copy.writeAll(Self.mark + bytes)) != nil { return aside }
    unsafe unlink(aside)
    return nil
  }

  private static func record(in bytes: ArraySlice<UInt8>, turn: Int32) -> (Record, size: Int)? {
    var reader = BinaryReader(bytes.prefix(headSize))
    guard let length = try? reader.number(), let number = try? reader.signed(), let sum = try? reader.number(),
      length <= UInt64(bytes.count - headSize), number == Int64(turn)
    else { return nil }
    let content = bytes.dropFirst(headSize).prefix(Int(length))
    guard checksum(content, turn: turn) == sum else { return nil }
    reader = BinaryReader(content)
    return (try? reader.record()).map { ($0, headSize + Int(length)) }
  }
}

extension BinaryReader {
  fileprivate mutating func list<Element>(
    _ body: (inout BinaryReader) throws(Malformed) -> Element
  ) throws(Malformed) -> [Element] {
    var list: [Element] = []
    for _ in 0..<(try number()) { list.append(try body(&self)) }
    return list
  }

  fileprivate mutating func record() throws(Malformed) -> GrantJournal.Record {
    var record = GrantJournal.Record(
      grants: try list { reader throws(Malformed) in try reader.grant() },
      owed: try list { reader throws(Malformed) in try reader.text() },
      references: isAtEnd
        ? [] : try list { reader throws(Malformed) in .init(id: try reader.text(), inode: try reader.number()) },
      ended: isAtEnd
        ? [] : try list { reader throws(Malformed) in .init(id: try reader.text(), time: try reader.signed()) })
    // A journal of an earlier version has no such list.
    let made = isAtEnd ? [] : Set(try list { reader throws(Malformed) in try reader.text() })
    for index in record.grants.indices { record.grants[index].isAppMade = made.contains(record.grants[index].id) }
    try end()
    return record
  }

  fileprivate mutating func grant() throws(Malformed) -> Grant {
    let (id, app) = (try text(), try text())
    guard let kind = DocumentKind(rawValue: try text()), let rights = AccessRights(rawValue: try text()),
      let origin = Grant.Origin(rawValue: try text())
    else { throw Malformed() }
    let created = try signed()
    let revoked = try optional { reader throws(Malformed) in try reader.signed() }
    let (identity, path) = (try identity(), try text())
    let place = try optional { reader throws(Malformed) in try reader.place() }
    let term = Grant.Term(
      decided: try signed(), until: try optional { reader throws(Malformed) in try reader.signed() },
      launch: try optional { reader throws(Malformed) in try reader.text() })
    return Grant(
      id: id, bundleIdentifier: app, kind: kind, rights: rights, origin: origin, created: created, revoked: revoked,
      identity: identity, path: path, place: place, term: term)
  }
}

extension BinaryWriter {
  fileprivate mutating func write(_ grant: Grant) {
    write(grant.id)
    write(grant.bundleIdentifier)
    write(grant.kind.rawValue)
    write(grant.rights.rawValue)
    write(grant.origin.rawValue)
    write(grant.created)
    write(grant.revoked) { $0.write($1) }
    write(grant.identity)
    write(grant.path)
    write(grant.place) { $0.write($1) }
    write(grant.term.decided)
    write(grant.term.until) { $0.write($1) }
    write(grant.term.launch) { $0.write($1) }
  }
}
