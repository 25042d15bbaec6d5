internal import GRDB

/// What a journal holds: events that have been answered and may not be in the log's database yet.
///
/// The file is a header and then records, each one event, in the log's order. Numbers are little-endian.
///
///     header   "AMBITJ", 1, newline; u64 sequence and u64 checksum of the entry before the first; u64 check of these
///     record   u32 length of the payload; u32 records of the same batch that follow; u64 checksum of the payload;
///              u64 check of these; the payload: `EventRow.canonicalBytes` of the event, its number first
///
/// The payload and its checksum are those of the event's row: what is moved to the database is not encoded again, and
/// a chain of hashes over rows is one over records too.
struct Journal {
  /// An entry's number and its checksum; for a log without entries both are 0.
  struct Mark: Equatable {
    var sequence: Int64 = 0
    var checksum: Int64 = 0
  }

  /// Why bytes are no journal; the end of a sentence.
  enum Fault: Error, Equatable {
    case foreign(String)
    case newer(String)
    case damaged(String)
  }

  /// The entry before the first that this journal can hold.
  let base: Mark
  private(set) var records: [EncodedEvent] = []
  /// Bytes up to the end of the last batch that is whole.
  private(set) var end: Int
  /// Bytes after that: what a batch left that was being written when the power, or its writer, went.
  private(set) var torn: Int

  static let headerSize = 32
  static let frameSize = 24
  private static let magic = Array("AMBITJ".utf8)
  private static let version: [UInt8] = [UInt8(ascii: "1"), UInt8(ascii: "\n")]

  var last: Mark { records.last.map { Mark(sequence: $0.sequence, checksum: $0.checksum) } ?? base }

  /// The mark of an entry, if the journal has it.
  func mark(_ sequence: Int64) -> Mark? {
    if sequence == base.sequence { return base }
    guard sequence > base.sequence, sequence <= last.sequence else { return nil }
    return Mark(sequence: sequence, checksum: records[Int(sequence - base.sequence) - 1].checksum)
  }

  // MARK: Writing

  static func header(after base: Mark) -> [UInt8] {
    var bytes = magic + version
    bytes.append(number: UInt64(bitPattern: base.sequence))
    bytes.append(number: UInt64(bitPattern: base.checksum))
    bytes.append(number: Checksum.of(bytes[...]))
    return bytes
  }

  /// Adds a record. `rest`: how many of its batch follow.
  static func append(_ event: EncodedEvent, rest: Int, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(number: UInt32(event.payload.count))
    bytes.append(number: UInt32(rest))
    bytes.append(number: UInt64(bitPattern: event.checksum))
    bytes.append(number: Checksum.of(bytes[start...]))
    bytes.append(contentsOf: event.payload)
  }

  // MARK: Reading

  /// Reads a journal's bytes, from its first one on.
  ///
  /// What is not whole at the end and has no whole record after it is what a torn write leaves; the same with a whole
  /// record after it is damage.
  init(_ bytes: [UInt8]) throws(Fault) {
    let magic = Self.magic
    // Its maker died before the header was on the disk; nothing was recorded in it.
    let isBlank = bytes.allSatisfy { $0 == 0 } || (bytes.count < Self.headerSize && magic.starts(with: bytes.prefix(6)))
    if isBlank {
      base = Mark()
      end = 0
      torn = bytes.count
      return
    }
    guard bytes.starts(with: magic), bytes.count >= Self.headerSize else {
      throw .foreign("it does not begin as one")
    }
    guard bytes[6..<8].elementsEqual(Self.version) else {
      throw .newer("its format is \"\(String(decoding: bytes[6..<7], as: UTF8.self))\"")
    }
    guard Checksum.of(bytes[..<24]) == bytes.number(at: 24) else {
      throw .damaged("its first 32 bytes are not as written")
    }
    base = Mark(
      sequence: Int64(bitPattern: bytes.number(at: 8)), checksum: Int64(bitPattern: bytes.number(at: 16)))
    end = Self.headerSize
    torn = 0
    var batch: [EncodedEvent] = []
    var place = end
    var rest: Int?
    while let frame = Frame(bytes, at: place), frame.isWhole(bytes) {
      let next = base.sequence + Int64(records.count + batch.count) + 1
      guard frame.sequence(bytes) == next, rest == nil || frame.rest == rest else {
        throw .damaged("after entry \(next - 1) comes one that does not follow it")
      }
      batch.append(EncodedEvent(payload: Array(bytes[frame.payload]), checksum: frame.checksum, sequence: next))
      place = frame.payload.upperBound
      rest = frame.rest - 1
      if frame.rest == 0 {
        records += batch
        batch = []
        rest = nil
        end = place
      }
    }
    torn = bytes.count - end
    let following = place + 1
    if following < bytes.count,
      (following..<bytes.count).contains(where: { Frame(bytes, at: $0)?.isWhole(bytes) == true })
    {
      throw .damaged("entry \(base.sequence + Int64(records.count + batch.count) + 1) is not as it was written")
    }
  }

  private struct Frame {
    let payload: Range<Int>
    let rest: Int
    let checksum: Int64

    /// Nil when there is no frame, or one that its own check does not fit, or that says more than there is.
    init?(_ bytes: [UInt8], at place: Int) {
      let start = place + Journal.frameSize
      guard start <= bytes.count else { return nil }
      let length = Int(UInt32(truncatingIfNeeded: bytes.number(at: place)))
      guard length <= bytes.count - start else { return nil }
      guard Checksum.of(bytes[place..<place + 16]) == bytes.number(at: place + 16) else { return nil }
      payload = start..<start + length
      rest = Int(bytes.number(at: place) >> 32)
      checksum = Int64(bitPattern: bytes.number(at: place + 8))
    }

    func isWhole(_ bytes: [UInt8]) -> Bool { Checksum.of(bytes[payload]) == UInt64(bitPattern: checksum) }

    /// The number that its event has; a payload begins with it.
    func sequence(_ bytes: [UInt8]) -> Int64? {
      guard payload.count >= 9, bytes[payload.lowerBound] == 1 else { return nil }
      return Int64(bitPattern: bytes.number(at: payload.lowerBound + 1))
    }
  }
}
