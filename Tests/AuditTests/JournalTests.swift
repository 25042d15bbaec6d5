import Foundation
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

    init(_ sizes: [Int], after base: Journal.Mark, seed: UInt64) {
      var generator = SplitMix(seed: seed)
      bytes = Journal.header(after: base)
      var number = base.sequence
      for size in sizes {
        var batch: [EncodedEvent] = []
        let start = bytes.count
        for index in 0..<size {
          number += 1
          lastRecord = bytes.count
          batch.append(EncodedEvent(generator.event(), sequence: number))
          Journal.append(batch[index], rest: size - 1 - index, to: &bytes)
        }
        batches.append((start, batch))
      }
    }
  }

  static let base = Journal.Mark(sequence: 41, checksum: -7)

  @Test func `holds events as they were, with the mark of the one before them`() throws {
    let sample = Sample([1, 3, 1, 2], after: Self.base, seed: 1)
    let journal = try Journal(sample.bytes)
    #expect(journal.base == Self.base)
    #expect(journal.records == sample.events)
    #expect(journal.end == sample.bytes.count && journal.torn == 0)
    #expect(journal.last.sequence == 48)
    #expect((40...49).map { journal.mark($0)?.sequence } == [nil, 41, 42, 43, 44, 45, 46, 47, 48, nil])
    var generator = SplitMix(seed: 1)
    for record in journal.records {
      var event = generator.event()
      event.sequence = record.sequence
      #expect(try EventRow.event(values: try #require(record.values), file: "x") == event)
    }
  }

  @Test func `is cut at any byte: whole batches count, the rest is torn`() throws {
    let sample = Sample([1, 3, 1, 2], after: Self.base, seed: 2)
    for length in 0..<sample.bytes.count {
      let journal = try Journal(Array(sample.bytes.prefix(length)))
      let whole = sample.batches.filter { batch in
        batch.start < length && batch.start + Self.size(batch.events) <= length
      }
      #expect(journal.records == whole.flatMap(\.events), "\(length)")
      #expect(journal.end + journal.torn == length)
      guard length >= Journal.headerSize else { continue }
      // What a file system may leave where data never came: zeros.
      let padded = try Journal(Array(sample.bytes.prefix(length)) + [UInt8](repeating: 0, count: 100))
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
        let journal = try Journal(bytes)
        #expect(place >= sample.lastRecord, "\(place)")
        #expect(journal.records == sample.batches.dropLast().flatMap(\.events))
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

  @Test func `refuses a record that is whole and does not follow the one before`() throws {
    let event = AuditEvent(.start)
    for numbers in [[2], [1, 3], [1, 1], [1, 2, 1]] {
      var bytes = Journal.header(after: Journal.Mark())
      for number in numbers { Journal.append(EncodedEvent(event, sequence: Int64(number)), rest: 0, to: &bytes) }
      #expect(throws: Journal.Fault.self) { try Journal(bytes) }
    }
    // Of a batch of three, the second is missing.
    var bytes = Journal.header(after: Journal.Mark())
    Journal.append(EncodedEvent(event, sequence: 1), rest: 2, to: &bytes)
    Journal.append(EncodedEvent(event, sequence: 2), rest: 0, to: &bytes)
    #expect(throws: Journal.Fault.self) { try Journal(bytes) }
  }

  @Test(arguments: 0..<4)
  func `takes no random bytes for a journal`(seed: Int) {
    var generator = SplitMix(seed: UInt64(seed))
    for count in [1, 31, 32, 33, 500] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 1...255, using: &generator) }
      #expect(throws: Journal.Fault.self) { try Journal(bytes) }
      let behind = Journal.header(after: Self.base) + bytes
      #expect((try? Journal(behind))?.records.isEmpty != false)
    }
  }
}
