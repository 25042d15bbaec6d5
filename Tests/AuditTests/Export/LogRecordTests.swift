import Foundation
import Testing

@testable import Audit

@Suite struct `Events in OTLP` {
  private func attributes(_ record: JSONValue) throws -> [String: String] {
    var attributes: [String: String] = [:]
    for pair in record["attributes"].elements {
      let value = try #require(pair["value"].value as? [String: String])
      #expect(value.count == 1 && ["stringValue", "intValue"].contains(value.keys.first ?? ""))
      if let number = value["intValue"] { #expect(Int64(number) != nil) }
      #expect(attributes.updateValue(value.values.first ?? "", forKey: try #require(pair["key"].text)) == nil)
    }
    return attributes
  }

  @Test func `AUD-10: hold everything of an event, by the conventions' names where there are some`()
    throws
  {
    let source = try exportSource()
    for event in manyEvents(seed: 91, 500) {
      let value = try JSONValue(line: exported(event, as: .otlp, source))
      let resource = value["resourceLogs"][0]
      #expect(try attributes(resource["resource"])["host.name"] == "workstation")
      let record = resource["scopeLogs"][0]["logRecords"][0]
      let found = try attributes(record)
      #expect(found["log.record.uid"] == "\(source.log)/\(event.sequence)")
      let document = found["file.path"].map { path in
        AuditEvent.Document(
          path: path, volume: found["ambit.volume"], inode: found["file.inode"].flatMap { UInt64($0) },
          birth: found["file.created"].flatMap { Timestamp($0)?.date })
      }
      let prefix = "ambit.detail."
      let detail = found.filter { $0.key.hasPrefix(prefix) }.map { ($0.key.dropFirst(prefix.count), $0.value) }
      let read = AuditEvent(
        .init(rawValue: try #require(found["ambit.kind"])),
        try #require(found["ambit.result"].flatMap(AuditEvent.Result.init)),
        time: try #require(found["ambit.time"].flatMap { Timestamp($0)?.date }), app: found["ambit.app"],
        instance: found["ambit.instance"], pid: found["process.pid"].flatMap { Int32($0) }, grant: found["ambit.grant"],
        document: document, how: found["ambit.how"], rule: found["ambit.rule"], reason: found["ambit.reason"],
        detail: Dictionary(detail.map { (String($0), $1) }) { first, _ in first },
        sequence: try #require(found["ambit.sequence"].flatMap { Int64($0) }))
      #expect(read == event)
      #expect(record["body"]["stringValue"].text == event.sentence)
      #expect(record["eventName"].text == "io.ambit.audit.\(event.kind.rawValue)")
      #expect(record["severityNumber"].int == Int64(LogRecord.severity(event.result).number))
    }
  }

  @Test func `of many are one request`() throws {
    let events = manyEvents(seed: 92, 40)
    let bytes = ExportEncoder(.otlp, try exportSource()).request(events)
    let records = try JSONValue(line: bytes + [0x0A])["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    #expect(records.elements.count == 40)
    #expect(records[39]["body"]["stringValue"].text == events[39].sentence)
  }

  @Test(arguments: [
    (Int64(0), "0"), (1, "1000"), (-5, "0"), (1_700_000_000_000_250, "1700000000000250000"),
    (Timestamp.range.upperBound, "0"),
  ])
  func `have their moment in nanoseconds, or none when no number of 64 bits holds it`(time: Int64, text: String) {
    #expect(LogRecord.nanoseconds(Timestamp(microseconds: time)) == text)
  }
}
