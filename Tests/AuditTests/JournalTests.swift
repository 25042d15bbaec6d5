import Foundation
import TestSupport
import Testing

@testable import Audit

/// The journal's bytes, as values.
@Suite struct `The journal's format` {
  /// Some batches after an entry: their bytes, and where each batch and the last record begin.
  struct Sample {
    var bytes: [UInt8]
    var batches: [(start: Int, events: [EncodedEvent])] = []
    var lastRecord = 0
    var events: [EncodedEvent] { batches.flatMap(\.events) }

    init(_ sizes: [Int], after base: ChainMark, seed: UInt64) {
      var generator = Seeded(seed: seed)
      bytes = Journal.header(after: base, boot: [1])
      var last = base
      for size in sizes {
        var batch: [EncodedEvent] = []
        let start = bytes.count
        for index in 0..<size {
          lastRecord = bytes.count
          batch.append(EncodedEvent(generator.event(), after: last))
          last = batch[index].mark
          Journal.append(batch[index], rest: size - 1 - index, to: &bytes)
        }
        batches.append((start, batch))
      }
    }
  }

  static let base = ChainMark(sequence: 41, hash: EntryHash(after: EntryHash(), [7]))

  @Test func `holds events as they were, with the mark of the one before them`() throws {
    let sample = Sample([1, 3, 1, 2], after: Self.base, seed: 1)
    let journal = try Journal(sample.bytes, boot: [1])
    #expect(journal.base == Self.base)
    #expect(journal.events(after: 0) == sample.events)
    #expect(journal.end == sample.bytes.count && journal.torn == 0)
    #expect(journal.last.sequence == 48)
    #expect((40...49).map { journal.mark($0)?.sequence } == [nil, 41, 42, 43, 44, 45, 46, 47, 48, nil])
    var generator = Seeded(seed: 1)
    for record in journal.events(after: 0) {
      var event = generator.event()
      event.sequence = record.mark.sequence
      #expect(try record.event(file: "x") == event)
    }
  }

  @Test func `is cut at any byte: whole batches count, the rest is torn`() throws {
    let sample = Sample([1, 3, 1, 2], after: Self.base, seed: 2)
    for length in 0..<sample.bytes.count {
      let journal = try Journal(Array(sample.bytes.prefix(length)), boot: [1])
      let whole = sample.batches.filter { batch in
        batch.start < length && batch.start + Self.size(batch.events) <= length
      }
      #expect(journal.events(after: 0) == whole.flatMap(\.events), "\(length)")
      // Zeros at the end nobody can tell from those that stand there for later.
      #expect(journal.end + journal.torn <= length)
      #expect(sample.bytes[journal.end + journal.torn..<length].allSatisfy { $0 == 0 })
      guard length >= Journal.headerSize else { continue }
      // What a file system may leave where data never came: zeros.
      let padded = try Journal(Array(sample.bytes.prefix(length)) + [UInt8](repeating: 0, count: 100), boot: [1])
      #expect(padded.records == journal.records)
    }
  }

  private static func size(_ events: [EncodedEvent]) -> Int {
    events.reduce(0) { $0 + Journal.frameSize + $1.payload.count }
  }

  @Test
  func `has any byte changed: nothing that was not written comes out, and damage before the last record is refused`() {
    let sample = Sample([1, 2, 1, 2], after: Self.base, seed: 3)
    for place in sample.bytes.indices {
      var bytes = sample.bytes
      bytes[place] ^= 0x40
      do throws(Journal.Fault) {
        let journal = try Journal(bytes, boot: [1])
        #expect(place >= sample.lastRecord, "\(place)")
        #expect(journal.events(after: 0) == sample.batches.dropLast().flatMap(\.events))
        #expect(journal.torn > 0)
      } catch {
        switch place {
        case 0..<6: #expect(error == .foreign("it does not begin as one"))
        case 6..<8: #expect(error == .newer("its format is \"\(String(decoding: bytes[6..<7], as: UTF8.self))\""))
        default: if case .damaged = error {} else { Issue.record("\(place): \(error)") }
        }
      }
    }
  }

  @Test func `after the machine was started anew, ends before the first page that never reached the disk`() throws {
    let sample = Sample([1, 2, 1, 2], after: Self.base, seed: 5)
    let (second, last) = (sample.batches[1].start, sample.batches[3].start)
    var bytes = sample.bytes
    for place in second..<second + 40 { bytes[place] = 0 }
    #expect(throws: Journal.Fault.self) { try Journal(bytes, boot: [1]) }
    let journal = try Journal(bytes, boot: [2])
    #expect(journal.events(after: 0) == sample.batches[0].events)
    #expect(journal.torn > 0)
    // What a later record says to have been on the disk was there.
    var event = [UInt8]()
    let encoded = EncodedEvent(AuditEvent(.exit), after: sample.events[sample.events.count - 1].mark)
    Journal.append(encoded, rest: 0, synced: Self.base.sequence + 2, to: &event)
    #expect(throws: Journal.Fault.damaged("entry 43 is not as it was written")) {
      try Journal(bytes + event, boot: [2])
    }
    // But not what came after that.
    bytes = sample.bytes
    for place in last..<last + 40 { bytes[place] = 0 }
    #expect(try Journal(bytes + event, boot: [2]).events(after: 0) == sample.batches.dropLast().flatMap(\.events))
  }

  @Test func `refuses a record that is whole and does not follow the one before`() throws {
    let event = AuditEvent(.start)
    for numbers in [[2], [1, 3], [1, 1], [1, 2, 1]] {
      var bytes = Journal.header(after: ChainMark(), boot: [1])
      var last = ChainMark()
      for number in numbers {
        let payload = Payload.encode(event, sequence: Int64(number))
        last = ChainMark(sequence: Int64(number), hash: EntryHash(after: last.hash, payload))
        Journal.append(EncodedEvent(payload: payload, mark: last), rest: 0, to: &bytes)
      }
      #expect(throws: Journal.Fault.self) { try Journal(bytes, boot: [1]) }
    }
    // Of a batch of three, the second is missing.
    var bytes = Journal.header(after: ChainMark(), boot: [1])
    let first = EncodedEvent(event, after: ChainMark())
    Journal.append(first, rest: 2, to: &bytes)
    Journal.append(EncodedEvent(event, after: first.mark), rest: 0, to: &bytes)
    #expect(throws: Journal.Fault.self) { try Journal(bytes, boot: [1]) }
  }

  @Test(arguments: 0..<4)
  func `takes no random bytes for a journal`(seed: Int) {
    var generator = Seeded(seed: UInt64(seed))
    for count in [1, 31, 32, 33, 500] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 1...255, using: &generator) }
      #expect(throws: Journal.Fault.self) { try Journal(bytes, boot: [1]) }
      let behind = Journal.header(after: Self.base, boot: [1]) + bytes
      #expect((try? Journal(behind, boot: [1]))?.records.isEmpty != false)
    }
  }
}
