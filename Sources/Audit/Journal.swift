/// The content of a journal: events that have been answered and may not be in the log's database yet.
///
/// The file is a header, records, each one event, in the log's order, and zeros, which are there so that writing a record
/// changes nothing of the file but its bytes. Numbers are little-endian.
///
///     header   "AMBITJ", 2, newline; u64 number and 32 bytes hash of the entry before the first; 16 bytes: which time since
///              a start of the machine it was begun in; u64 check of these
///     record   u32 length of the payload; u32 records of the same batch that follow; u64 number of the last entry that was
///              known to be on the disk; 32 bytes hash of the entry; u64 check of these; the payload
///
/// Payload and hash are those of the entry: moving it to the database does not encode it again.
struct Journal {
  /// Why bytes are no journal; the end of a sentence.
  enum Fault: Error, Equatable {
    case foreign(String)
    case newer(String)
    case damaged(String)
  }

  struct Record: Equatable {
    let mark: ChainMark
    let payload: Range<Int>
  }

  /// The entry before the first that this journal can hold.
  let base: ChainMark
  private(set) var records: [Record] = []
  /// Bytes up to the end of the last batch that is whole.
  private(set) var end: Int
  /// Bytes after that, up to the last that is not zero: the rest of a batch that was being written when the
  /// power, or its writer, went.
  private(set) var torn: Int
  private let bytes: [UInt8]

  /// Which time since a start of the machine it was begun in.
  var boot: [UInt8] { end > 0 ? Array(bytes[48..<64]) : [] }

  static let headerSize = 72
  static let frameSize = 56
  private static let magic = Array("AMBITJ".utf8)
  private static let version: [UInt8] = [UInt8(ascii: "2"), UInt8(ascii: "\n")]

  var last: ChainMark { records.last?.mark ?? base }

  /// The mark of an entry, if the journal has it.
  func mark(_ sequence: Int64) -> ChainMark? {
    if sequence == base.sequence { return base }
    guard sequence > base.sequence, sequence <= last.sequence else { return nil }
    return records[Int(sequence - base.sequence) - 1].mark
  }

  /// The events after an entry.
  func events(after sequence: Int64) -> [EncodedEvent] {
    records.drop { $0.mark.sequence <= sequence }.map { EncodedEvent(payload: Array(bytes[$0.payload]), mark: $0.mark) }
  }

  // MARK: Writing

  static func header(after base: ChainMark, boot: [UInt8]) -> [UInt8] {
    var bytes = magic + version
    bytes.append(number: base.sequence)
    base.hash.append(to: &bytes)
    bytes += padded(boot)
    bytes.append(number: Checksum.of(bytes))
    return bytes
  }

  /// Adds a record. `rest`: how many of its batch follow; `synced`: the last entry that is known to be on the disk.
  static func append(_ event: EncodedEvent, rest: Int, synced: Int64 = 0, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(number: UInt32(event.payload.count))
    bytes.append(number: UInt32(rest))
    bytes.append(number: synced)
    event.mark.hash.append(to: &bytes)
    bytes.append(number: Checksum.of(bytes[start...]))
    bytes.append(contentsOf: event.payload)
  }

  // MARK: Reading

  /// Reads a journal's bytes, from its first one on.
  ///
  /// An incomplete record at the end, with no whole record after it, is the rest of a torn write. With a whole record after
  /// it, it is damage: unless the machine was started anew since, and nothing says that it had been on the disk. The kernel
  /// writes pages in any order, and the power took everything from the first missing page on.
  /// - Parameters:
  ///   - boot: which time since a start of the machine this is.
  ///   - trusted: entries up to this number are not held against their hashes: they are known from elsewhere.
  init(_ bytes: [UInt8], boot: [UInt8], trusting trusted: Int64 = 0) throws(Fault) {
    self.bytes = bytes
    let magic = Self.magic
    // Its maker died before the header was on the disk; nothing was recorded in it.
    let isBlank =
      (bytes.first ?? 0) == 0 && bytes.allSatisfy { $0 == 0 }
      || (bytes.count < Self.headerSize && magic.starts(with: bytes.prefix(6)))
    if isBlank {
      base = ChainMark()
      end = 0
      torn = bytes.count
      return
    }
    guard bytes.starts(with: magic), bytes.count >= Self.headerSize else { throw .foreign("it does not begin as one") }
    guard bytes[6..<8].elementsEqual(Self.version) else {
      throw .newer("its format is \"\(String(decoding: bytes[6..<7], as: UTF8.self))\"")
    }
    guard Checksum.of(bytes[..<64]) == bytes.number(at: 64), let hash = EntryHash(bytes: bytes[16..<48]) else {
      throw .damaged("its first \(Self.headerSize) bytes are not as written")
    }
    base = ChainMark(sequence: Int64(bitPattern: bytes.number(at: 8)), hash: hash)
    end = Self.headerSize
    torn = 0
    var batch: [Record] = []
    var place = end
    var rest: Int?
    var previous = base
    while let frame = Frame(bytes, at: place) {
      let next = previous.sequence + 1
      let mark = ChainMark(sequence: next, hash: frame.hash)
      if next > trusted {
        let payload = bytes[frame.payload]
        guard frame.hash == EntryHash(after: previous.hash, payload) else { break }
        guard Payload.sequence(payload) == next else { throw .damaged(Self.follows(previous.sequence)) }
      }
      guard rest == nil || frame.rest == rest else { throw .damaged(Self.follows(previous.sequence)) }
      batch.append(Record(mark: mark, payload: frame.payload))
      previous = mark
      place = frame.payload.upperBound
      rest = frame.rest - 1
      if frame.rest == 0 {
        records += batch
        batch = []
        rest = nil
        end = place
      }
    }
    let written = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
    torn = max(0, written - end)
    guard torn > 0, let evidence = Self.evidence(bytes, after: place, before: written) else { return }
    let isAnotherBoot = !bytes[48..<64].elementsEqual(Self.padded(boot))
    if !isAnotherBoot || evidence > previous.sequence {
      throw .damaged("entry \(previous.sequence + 1) is not as it was written")
    }
  }

  private static func follows(_ sequence: Int64) -> String {
    "after entry \(sequence) comes one that does not follow it"
  }

  static func padded(_ boot: [UInt8]) -> [UInt8] { Array((boot + [UInt8](repeating: 0, count: 16)).prefix(16)) }

  /// The last entry that a whole record after a place says to have been on the disk; nil when there is no such record.
  private static func evidence(_ bytes: [UInt8], after place: Int, before end: Int) -> Int64? {
    var known: Int64?
    var place = place + 1
    while place < end {
      if let frame = Frame(bytes, at: place) {
        known = max(known ?? 0, frame.synced)
        place = frame.payload.upperBound
      } else {
        place += 1
      }
    }
    return known
  }

  private struct Frame {
    let payload: Range<Int>
    let rest: Int
    let synced: Int64
    let hash: EntryHash

    /// Nil when there is no frame, or one that its own check does not fit, or that says more than there is.
    init?(_ bytes: [UInt8], at place: Int) {
      let start = place + Journal.frameSize
      guard start <= bytes.count else { return nil }
      let first = bytes.number(at: place)
      let length = Int(UInt32(truncatingIfNeeded: first))
      guard length > 0, length <= bytes.count - start else { return nil }
      guard Checksum.of(bytes[place..<place + 48]) == bytes.number(at: place + 48),
        let hash = EntryHash(bytes: bytes[place + 16..<place + 48])
      else { return nil }
      payload = start..<start + length
      rest = Int(first >> 32)
      synced = Int64(bitPattern: bytes.number(at: place + 8))
      self.hash = hash
    }
  }
}
