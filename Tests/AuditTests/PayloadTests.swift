import Foundation
import TestSupport
import Testing

@testable import Audit

@Suite struct `An event as bytes` {
  @Test(arguments: 0..<3)
  func `says what went in, and has one spelling`(seed: Int) throws {
    var generator = Seeded(seed: UInt64(seed))
    for number in 1...Int64(300) {
      var event = generator.event()
      let bytes = Payload.encode(event, sequence: number * number * number)
      event.sequence = number * number * number
      let payload = try #require(Payload(bytes))
      #expect(try payload.event(file: "x") == event)
      #expect(Payload.sequence(bytes[...]) == event.sequence)
      #expect(Payload.encode(try payload.event(file: "x"), sequence: event.sequence) == bytes)
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1, 63, 64, 127, 128, 1 << 31, .max])
  func `has every number`(number: Int64) throws {
    let document = AuditEvent.Document(path: "", inode: UInt64(bitPattern: number))
    let event = AuditEvent(.start, document: document)
    let read = try Payload(Payload.encode(event, sequence: number))?.event(file: "x")
    #expect(read?.sequence == number && read?.document == document)
  }

  /// What a changed byte makes of it is nothing, or other bytes when it is written again, or another event.
  @Test func `changed anywhere, is nothing or another event`() throws {
    var generator = Seeded(seed: 9)
    for number in 1...Int64(40) {
      let event = numbered([generator.event()])[0]
      let bytes = Payload.encode(event, sequence: 1)
      for place in bytes.indices {
        var changed = bytes
        changed[place] ^= 1 << UInt8(number % 8)
        guard let read = try? Payload(changed)?.event(file: "x") else { continue }
        // Facts with one name twice are one fact.
        #expect(read != event || Payload.encode(read, sequence: read.sequence) != changed)
      }
      #expect(Payload(Array(bytes.dropLast()))?.bytes == nil)
      #expect(Payload(bytes + [0])?.bytes == nil)
    }
  }

  @Test func `takes no random bytes apart in the wrong place`() {
    var generator = Seeded(seed: 4)
    for _ in 0..<3000 {
      let bytes =
        [1] + (0..<Int.random(in: 0..<60, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      _ = try? Payload(bytes)?.event(file: "x")
    }
  }
}
