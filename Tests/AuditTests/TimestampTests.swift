import Foundation
import TestSupport
import Testing

@testable import Audit

@Suite struct `Timestamps` {
  @Test(
    "are written as RFC 3339 in UTC with six digits",
    arguments: [
      (Int64(0), "1970-01-01T00:00:00.000000Z"),
      (-1, "1969-12-31T23:59:59.999999Z"),
      (1_748_770_200_000_250, "2025-06-01T09:30:00.000250Z"),
      (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
      (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
      (Timestamp.range.lowerBound, "0000-01-01T00:00:00.000000Z"),
      (Timestamp.range.upperBound, "9999-12-31T23:59:59.999999Z"),
      (Int64.min, "0000-01-01T00:00:00.000000Z"),
      (Int64.max, "9999-12-31T23:59:59.999999Z"),
    ])
  func texts(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).text == text)
    #expect(Timestamp(text) == Timestamp(microseconds: microseconds))
  }

  @Test(
    "are read with any offset and fraction",
    arguments: [
      ("2025-06-01T09:30:00Z", "2025-06-01T09:30:00.000000Z"),
      ("2025-06-01t09:30:00z", "2025-06-01T09:30:00.000000Z"),
      ("2025-06-01 09:30:00.5Z", "2025-06-01T09:30:00.500000Z"),
      ("2025-06-01T11:30:00.123456789+02:00", "2025-06-01T09:30:00.123456Z"),
      ("2025-05-31T23:30:00-10:00", "2025-06-01T09:30:00.000000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"),
      ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
    ])
  func reads(text: String, expected: String) {
    #expect(Timestamp(text)?.text == expected)
  }

  @Test(arguments: [
    "", "2025", "2025-06-01", "2025-06-01T09:30:00", "2025-06-01T09:30Z", "2025-13-01T00:00:00Z",
    "2025-00-01T00:00:00Z", "2025-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2025-06-31T00:00:00Z",
    "2025-06-01T24:00:00Z", "2025-06-01T00:60:00Z", "2025-06-01T00:00:61Z", "2025-06-01T00:00:00.Z",
    "2025-06-01T00:00:00+0200", "2025-06-01T00:00:00+24:00", "2025-06-01T00:00:00Zx", "٢٠٢٥-06-01T00:00:00Z",
    "2025-06-01T00:00:00+02:00Z", "-025-06-01T00:00:00Z",
  ])
  func `are not read from what is no moment`(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test func `come back from text and from dates, and follow Foundation's calendar`() {
    var generator = Seeded(seed: 5)
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    for _ in 0..<2000 {
      let timestamp = Timestamp(microseconds: Int64.random(in: Timestamp.range, using: &generator))
      #expect(Timestamp(timestamp.text) == timestamp)
      // Within two centuries of today a date tells microseconds apart, in its own count from 2001.
      let recent = Timestamp(microseconds: Int64.random(in: 0...4_000_000_000_000_000, using: &generator))
      #expect(Timestamp(recent.date) == recent)
      let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: recent.date)
      let head = String(
        format: "%04d-%02d-%02dT%02d:%02d:", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0, parts.hour ?? 0,
        parts.minute ?? 0)
      #expect(recent.text.hasPrefix(head))
    }
  }

  @Test func `are made of dates of every kind`() {
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).microseconds == Timestamp.range.upperBound)
    #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).microseconds == Timestamp.range.lowerBound)
    #expect(Timestamp(Date(timeIntervalSince1970: .nan)).microseconds == 0)
    #expect(Timestamp(.distantFuture).text == "4001-01-01T00:00:00.000000Z")
    #expect(Timestamp(.distantPast).text == "0000-12-30T00:00:00.000000Z")
  }

  @Test(
    "moments are read as people say them",
    arguments: [
      ("10m", "2025-06-01T09:20:00.000000Z"), ("1h", "2025-06-01T08:30:00.000000Z"),
      ("90s", "2025-06-01T09:28:30.000000Z"), ("2d", "2025-05-30T09:30:00.000000Z"),
      ("0s", "2025-06-01T09:30:00.000000Z"), ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000000Z"),
      ("99999999999999999999d", "0000-01-01T00:00:00.000000Z"),
    ] as [(String, String?)]
      + ["", "m", "10", "10 m", "-5m", "1.5h", "10w", "٣m", "yesterday"].map { ($0, nil) })
  func moments(text: String, expected: String?) throws {
    let now = try #require(Timestamp("2025-06-01T09:30:00Z")).date
    #expect(AuditQuery.moment(text, before: now).map { Timestamp($0).text } == expected)
  }
}
