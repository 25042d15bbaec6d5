import Foundation
import TestSupport
import Testing

@testable import Audit

/// Where the tests' events come from: a log whose first entry is this.
func exportSource() throws -> ExportSource {
  let first = AuditEvent(
    .brokerStarted, time: try #require(Timestamp("2025-06-01T09:30:00.000250Z")).date, sequence: 1)
  return ExportSource(log: try LogIdentity(first: first), host: "workstation", version: "1.2.3")
}

extension ExportFormat {
  static let ofLines = allCases.filter(\.isLines)
}

/// Events of every kind and result, with whatever apps and files can be called.
func manyEvents(seed: UInt64, _ count: Int) -> [AuditEvent] {
  var generator = Seeded(seed: seed)
  let odd = [
    "\u{0}\u{1}\u{1f}\u{7f}\u{9f}", "\u{FFFD}\u{FFFD}.txt", "\u{FFFE}\u{10FFFF}", "a\r\n\tb", "\u{2028}\u{2029}", "👩‍👩‍👧‍👧",
    "{\"log\":1}", "</script>", String(repeating: "x", count: 3000), "e\u{301}",
  ]
  return numbered(generator.events(count)).enumerated().map { index, event in
    var event = event
    event.kind = AuditEvent.Kind.known[index % AuditEvent.Kind.known.count]
    if index % 11 == 0 { event.kind = .init(rawValue: odd[index % odd.count]) }
    if index % 3 == 0 { event.app = odd.randomElement(using: &generator) }
    if index % 4 == 0 { event.document?.path = "/home/" + (odd.randomElement(using: &generator) ?? "") }
    if index % 5 == 0 { event.detail[odd.randomElement(using: &generator) ?? ""] = odd[index % odd.count] }
    if index % 7 == 0 { event.sequence = .max - Int64(index) }
    if index % 6 == 0 { event.time = Timestamp(microseconds: Timestamp.range.upperBound - Int64(index)).date }
    return event
  }
}

/// One exported line as a value.
struct JSONValue {
  let value: Any?

  init(_ value: Any?) { self.value = value }

  init(line: [UInt8]) throws {
    #expect(line.last == UInt8(ascii: "\n"))
    #expect(!line.dropLast().contains { $0 < 0x20 }, "a line has no control character in it")
    value = try JSONSerialization.jsonObject(with: Data(line))
  }

  subscript(_ name: String) -> JSONValue { JSONValue((value as? [String: Any])?[name]) }
  subscript(_ index: Int) -> JSONValue {
    let elements = value as? [Any] ?? []
    return JSONValue(elements.indices.contains(index) ? elements[index] : nil)
  }

  var text: String? { value as? String }
  var number: NSNumber? { value as? NSNumber }
  var int: Int64? { number?.int64Value }
  var elements: [JSONValue] { (value as? [Any] ?? []).map(JSONValue.init) }
  var texts: [String: String] { value as? [String: String] ?? [:] }
  var exists: Bool { value != nil }

  /// A document as `JSONLine` writes it.
  var document: AuditEvent.Document? {
    guard exists else { return nil }
    return self["path"].text.map { path in
      AuditEvent.Document(
        path: path, volume: self["volume"].text, inode: self["inode"].number?.uint64Value,
        birth: self["birth"].text.flatMap { Timestamp($0)?.date })
    }
  }
}

func exported(_ event: AuditEvent, as format: ExportFormat, _ source: ExportSource) -> [UInt8] {
  var bytes: [UInt8] = []
  ExportEncoder(format, source).append(event, to: &bytes)
  return bytes
}
