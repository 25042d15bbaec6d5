import TestSupport
import Testing

@testable import Wire

@Suite struct `Framing` {
  static func limits(size: Int = 1000, descriptors: Int = 4) -> WireLimits {
    var limits = WireLimits.app
    limits.messageSize = size
    limits.descriptors = descriptors
    return limits
  }

  static func drain(_ framer: inout MessageFramer<Int>) throws -> [(bytes: [UInt8], passengers: [Int])] {
    var messages: [([UInt8], [Int])] = []
    while let message = try framer.next() { messages.append((message.bytes, message.passengers)) }
    return messages
  }

  @Test func `a stream split at every two places gives the same messages`() throws {
    let stream = Array("{\"a\":1}\0{}\0\0[\"long\"]\0".utf8)
    let expected = stream.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    for first in 0...stream.count {
      for second in first...stream.count {
        var framer = MessageFramer<Int>(limits: Self.limits())
        var messages: [[UInt8]] = []
        for part in [stream[..<first], stream[first..<second], stream[second...]] where !part.isEmpty {
          framer.append(part)
          messages += try Self.drain(&framer).map(\.bytes)
        }
        #expect(messages == expected)
        #expect(framer.buffered == 0 && !framer.hasMessage)
      }
    }
  }

  @Test func `byte for byte is as good`() throws {
    var framer = MessageFramer<Int>(limits: Self.limits())
    var messages: [String] = []
    for byte in Array("ab\0c\0".utf8) {
      framer.append([byte])
      #expect(framer.hasMessage == (byte == 0))
      messages += try Self.drain(&framer).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
    #expect(messages == ["ab", "c"])
  }

  @Test func `passengers go with the message in which the read ended`() throws {
    var framer = MessageFramer<Int>(limits: Self.limits())
    // A read that ends in the middle of the second message: the kernel puts what carries descriptors last.
    framer.append(Array("one\0tw".utf8)[...], passengers: [1, 2])
    #expect(try framer.next()?.passengers == [])
    #expect(try framer.next() == nil)
    framer.append(Array("o\0".utf8)[...], passengers: [3])
    framer.append(Array("three\0four\0".utf8)[...], passengers: [4])
    let rest = try Self.drain(&framer)
    #expect(rest.map { String(decoding: $0.bytes, as: UTF8.self) } == ["two", "three", "four"])
    #expect(rest.map(\.passengers) == [[1, 2, 3], [], [4]])
  }

  @Test func `a message of exactly the limit is taken, one byte more is not, finished or not`() throws {
    for size in [1, 7, 100] {
      for extra in [0, 1] {
        for isWhole in [true, false] {
          var framer = MessageFramer<Int>(limits: Self.limits(size: size))
          framer.append([UInt8](repeating: 65, count: size + extra)[...] + (isWhole ? [0] : []))
          if extra == 0 {
            #expect(try (framer.next() != nil) == isWhole)
          } else {
            #expect(throws: MessageFramer<Int>.Fault.tooLong(limit: size)) { try framer.next() }
          }
        }
      }
    }
  }

  @Test func `too many passengers are refused, also before the message is whole`() throws {
    for isWhole in [true, false] {
      var framer = MessageFramer<Int>(limits: Self.limits(descriptors: 2))
      framer.append([65], passengers: [1, 2])
      #expect(try framer.next() == nil)
      framer.append(isWhole ? [65, 0] : [65], passengers: [3])
      #expect(throws: MessageFramer<Int>.Fault.tooManyDescriptors(limit: 2)) { try framer.next() }
    }
  }

  @Test func `random streams in random pieces give what a simple model gives`() throws {
    var random = Seeded(seed: 7)
    for _ in 0..<500 {
      var framer = MessageFramer<Int>(limits: Self.limits(descriptors: 1000))
      var seen: [(bytes: [UInt8], passengers: [Int])] = []
      // The model: everything that came, and with which byte each passenger came.
      var stream: [UInt8] = []
      var passengers: [(Int, Int)] = []
      for round in 0..<Int.random(in: 1..<20, using: &random) {
        let piece = (0..<Int.random(in: 1..<30, using: &random)).map { _ in
          UInt8.random(in: 0...6, using: &random)
        }
        stream += piece
        let aboard = Int.random(in: 0..<3, using: &random) == 0 ? [round] : []
        passengers += aboard.map { (stream.count - 1, $0) }
        framer.append(piece[...], passengers: aboard)
        if Bool.random(using: &random) { seen += try Self.drain(&framer) }
      }
      seen += try Self.drain(&framer)
      var expected: [([UInt8], [Int])] = []
      var start = 0
      for (index, byte) in stream.enumerated() where byte == 0 {
        expected.append(
          (Array(stream[start..<index]), passengers.filter { $0.0 >= start && $0.0 <= index }.map { $0.1 }))
        start = index + 1
      }
      #expect(seen.map(\.bytes) == expected.map(\.0))
      #expect(seen.map(\.passengers) == expected.map(\.1))
    }
  }
}

@Suite struct `Token bucket` {
  @Test func `so many at once, and so many a second after that`() {
    var bucket = TokenBucket(burst: 3, perSecond: 2, now: 0)
    #expect((0..<4).map { _ in bucket.take(now: 0) } == [true, true, true, false])
    #expect(bucket.wait(now: 0) == 500_000_000)
    #expect(bucket.take(now: 499_999_999) == false)
    #expect(bucket.wait(now: 499_999_999) == 1)
    #expect(bucket.take(now: 500_000_000) == true)
    #expect(bucket.take(now: 500_000_000) == false)
  }

  @Test func `it never holds more than its burst, however long nothing was taken`() {
    var bucket = TokenBucket(burst: 2, perSecond: 1_000_000, now: 0)
    #expect((0..<3).map { _ in bucket.take(now: .max) } == [true, true, false])
  }

  @Test func `a clock that goes back neither fills nor empties it`() {
    var bucket = TokenBucket(burst: 1, perSecond: 1, now: 1_000)
    #expect(bucket.take(now: 1_000) == true)
    #expect(bucket.take(now: 0) == false)
    #expect(bucket.take(now: 1_000_001_000) == true)
  }

  @Test func `over any time it gives no more than burst plus rate times time, and a waiter gets its token`() {
    var random = Seeded(seed: 5)
    for _ in 0..<200 {
      let burst = Int.random(in: 1...20, using: &random)
      let rate = Int.random(in: 1...5000, using: &random)
      var bucket = TokenBucket(burst: burst, perSecond: rate, now: 0)
      var now: Int64 = 0
      var taken = 0
      for _ in 0..<300 {
        now += Int64.random(in: 0...2_000_000, using: &random)
        let wait = bucket.wait(now: now)
        let got = bucket.take(now: now)
        #expect(got == (wait == 0))
        if got { taken += 1 }
        if wait > 0 {
          var copy = bucket
          #expect(copy.take(now: now + wait) == true)
        }
        #expect(Double(taken) <= Double(burst) + Double(rate) * Double(now) / 1e9 + 1e-6)
      }
    }
  }
}
