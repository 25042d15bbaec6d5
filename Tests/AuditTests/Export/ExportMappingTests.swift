import Foundation
import Testing

@testable import Audit

@Suite struct `The tables of exported fields` {
  private static let event = AuditEvent(
    .start, .refused, time: Timestamp(microseconds: 1_700_000_000_000_250).date, app: "io.example.editor",
    instance: "i7",
    pid: 42, grant: "g3",
    document: AuditEvent.Document(
      path: "/home/alice/notes.txt", volume: "8:1", inode: 99,
      birth: Timestamp(microseconds: 1_600_000_000_000_001).date),
    how: "user", rule: "LIM-1", reason: "All 8 slots are in use.", detail: ["NAME": "8"], sequence: 9)

  /// A value as text, at a path of names.
  private func text(_ value: JSONValue, _ path: String) -> String? {
    let found = path.split(separator: ".").reduce(value) { value, name in
      name.hasSuffix("[]") ? value[String(name.dropLast(2))][0] : value[String(name)]
    }
    return found.text ?? found.number?.stringValue
  }

  @Test func `say where the encoders put each part`() throws {
    let source = try exportSource()
    let line = try JSONValue(line: exported(Self.event, as: .jsonl, source))
    let data = try JSONValue(line: exported(Self.event, as: .cloudevents, source))["data"]
    let ocsf = try JSONValue(line: exported(Self.event, as: .ocsf, source))
    let record = try JSONValue(line: exported(Self.event, as: .otlp, source))["resourceLogs"][0]["scopeLogs"][0][
      "logRecords"][0]
    let attributes = Dictionary(
      record["attributes"].elements.map { pair in
        (pair["key"].text ?? "", pair["value"]["stringValue"].text ?? pair["value"]["intValue"].text)
      }
    ) { first, _ in first }
    let fields = Dictionary(JournalEntry(Self.event, source).fields.map { ($0.name, $0.value) }) { first, _ in first }
    for row in ExportMapping.rows {
      let name = "\(source.log)/9"
      let expected = row.part == "log and number" ? name : try #require(text(line, row.jsonl), "\(row.jsonl)")
      if row.part != "log and number" { #expect(text(data, row.jsonl) == expected) }
      #expect(text(ocsf, row.ocsf) == expected, "\(row.ocsf)")
      #expect(attributes[row.otlp] == expected, "\(row.otlp)")
      #expect(fields[row.journal] == (row.journal == "AMBIT_DETAIL" ? #"{"NAME":"8"}"# : expected), "\(row.journal)")
    }
    // Nothing of what is written in JSON Lines has no row.
    let members = try #require(line.value as? [String: Any]).keys
    let told = Set(ExportMapping.rows.flatMap { $0.jsonl.split(separator: ", ").map { $0.prefix { $0 != "." } } })
    #expect(Set(members.map { Substring($0) }) == told)
  }

  @Test func `are those of the manual`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let manual = try String(contentsOf: root.appending(path: "docs/reference/export.md"), encoding: .utf8)
    for table in [ExportMapping.table, ExportMapping.activities] {
      #expect(manual.contains(table), "docs/reference/export.md should have:\n\(table)")
    }
    #expect(manual.contains(JournalEntry.messageID))
  }
}
