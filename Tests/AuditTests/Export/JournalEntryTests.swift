import Foundation
import Testing

@testable import Audit

@Suite struct `Events for systemd's journal` {
  /// Reads entries in the Journal Export Format.
  private func entries(_ bytes: [UInt8]) throws -> [[String: String]] {
    var (entries, entry, rest): ([[String: String]], [String: String], ArraySlice<UInt8>) = ([], [:], bytes[...])
    while let end = rest.firstIndex(of: 0x0A) {
      let line = rest[rest.startIndex..<end]
      rest = rest[(end + 1)...]
      if line.isEmpty {
        entries.append(entry)
        entry = [:]
      } else if let sign = line.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(decoding: line[..<sign], as: UTF8.self)
        #expect(entry.updateValue(String(decoding: line[(sign + 1)...], as: UTF8.self), forKey: name) == nil)
      } else {
        let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        let value = rest.dropFirst(8).prefix(count)
        #expect(value.count == count && rest.dropFirst(8 + count).first == 0x0A)
        entry[String(decoding: line, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        rest = rest.dropFirst(9 + count)
      }
    }
    #expect(rest.isEmpty && entry.isEmpty)
    return entries
  }

  @Test func `AUD-10: hold everything of an event, and nothing in a value can begin another field or entry`() throws {
    let source = try exportSource()
    let events = manyEvents(seed: 95, 500)
    var bytes: [UInt8] = []
    for event in events { ExportEncoder(.journal, source).append(event, to: &bytes) }
    let read = try entries(bytes)
    #expect(read.count == events.count)
    for (fields, event) in zip(read, events) {
      #expect(fields["__REALTIME_TIMESTAMP"] == "\(max(0, Timestamp(event.time).microseconds))")
      #expect(fields["AMBIT_EVENT"] == "\(source.log)/\(event.sequence)")
      #expect(fields["MESSAGE"]?.hasSuffix(event.sentence) == true)
      for name in fields.keys where !name.hasPrefix("__") {
        #expect(name.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F })
      }
      let document = fields["AMBIT_DOCUMENT"].map { path in
        AuditEvent.Document(
          path: path, volume: fields["AMBIT_VOLUME"], inode: fields["AMBIT_INODE"].flatMap { UInt64($0) },
          birth: fields["AMBIT_BIRTH"].flatMap { Timestamp($0)?.date })
      }
      let detail = try fields["AMBIT_DETAIL"].map {
        try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
      }
      let told = AuditEvent(
        .init(rawValue: try #require(fields["AMBIT_KIND"])),
        try #require(fields["AMBIT_RESULT"].flatMap(AuditEvent.Result.init)),
        time: try #require(fields["AMBIT_TIME"].flatMap { Timestamp($0)?.date }), app: fields["AMBIT_APP"],
        instance: fields["AMBIT_INSTANCE"], pid: fields["AMBIT_PID"].flatMap { Int32($0) },
        grant: fields["AMBIT_GRANT"], document: document, how: fields["AMBIT_HOW"], rule: fields["AMBIT_RULE"],
        reason: fields["AMBIT_REASON"], detail: detail ?? [:],
        sequence: try #require(fields["AMBIT_SEQUENCE"].flatMap { Int64($0) }))
      #expect(told == event)
    }
  }

  @Test func `as datagrams have no field that only a receiver may set`() throws {
    let entry = JournalEntry(AuditEvent(.start, .refused, reason: "line\n_UID=0"), try exportSource())
    let lines = String(decoding: entry.datagram, as: UTF8.self)
    #expect(lines.hasPrefix("MESSAGE=refused: start"))
    #expect(lines.contains("PRIORITY=4\n") && !lines.contains("__REALTIME"))
    // The newline in the reason is in a value whose length stands before it.
    #expect(entry.datagram.split(separator: Array("AMBIT_REASON\n".utf8)).count == 2)
    #expect(entry.fields.allSatisfy { !$0.name.hasPrefix("_") })
  }
}
