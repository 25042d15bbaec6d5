/// The place of each part of an event in each format. Tests compare this with the table of docs/reference/export.md, and with the
/// output of the encoders.
package enum ExportMapping {
  /// A part of an event with its path in a line of each format: members by `.`, the only element of an array by `[]`; nil
  /// where the format has it in a place that depends on the class.
  package struct Row: Sendable {
    package let part: String
    package let jsonl: String
    package let ocsf: String
    package let otlp: String
    package let journal: String

    init(_ part: String, _ jsonl: String, ocsf: String, otlp: String, journal: String) {
      (self.part, self.jsonl, self.ocsf, self.otlp, self.journal) = (part, jsonl, ocsf, otlp, journal)
    }
  }

  package static let rows: [Row] = [
    Row("log and number", "log, sequence", ocsf: "metadata.uid", otlp: "log.record.uid", journal: "AMBIT_EVENT"),
    Row("number", "sequence", ocsf: "metadata.sequence", otlp: "ambit.sequence", journal: "AMBIT_SEQUENCE"),
    Row("moment", "time", ocsf: "metadata.original_time", otlp: "ambit.time", journal: "AMBIT_TIME"),
    Row("kind", "kind", ocsf: "metadata.event_code", otlp: "ambit.kind", journal: "AMBIT_KIND"),
    Row("result", "result", ocsf: "status_code", otlp: "ambit.result", journal: "AMBIT_RESULT"),
    Row("app", "app", ocsf: "actor.app_uid", otlp: "ambit.app", journal: "AMBIT_APP"),
    Row("launch", "instance", ocsf: "actor.process.uid", otlp: "ambit.instance", journal: "AMBIT_INSTANCE"),
    Row("process", "pid", ocsf: "actor.process.pid", otlp: "process.pid", journal: "AMBIT_PID"),
    Row("grant", "grant", ocsf: "metadata.correlation_uid", otlp: "ambit.grant", journal: "AMBIT_GRANT"),
    Row("document", "document.path", ocsf: "file.path", otlp: "file.path", journal: "AMBIT_DOCUMENT"),
    Row("its inode", "document.inode", ocsf: "unmapped.document.inode", otlp: "file.inode", journal: "AMBIT_INODE"),
    Row(
      "its volume", "document.volume", ocsf: "unmapped.document.volume", otlp: "ambit.volume", journal: "AMBIT_VOLUME"),
    Row("its birth", "document.birth", ocsf: "unmapped.document.birth", otlp: "file.created", journal: "AMBIT_BIRTH"),
    Row("by what way", "how", ocsf: "unmapped.how", otlp: "ambit.how", journal: "AMBIT_HOW"),
    Row("rule", "rule", ocsf: "authorizations[].policy.uid", otlp: "ambit.rule", journal: "AMBIT_RULE"),
    Row("reason", "reason", ocsf: "status_detail", otlp: "ambit.reason", journal: "AMBIT_REASON"),
    Row("fact NAME", "detail.NAME", ocsf: "unmapped.detail.NAME", otlp: "ambit.detail.NAME", journal: "AMBIT_DETAIL"),
  ]

  /// The rows as a table of Markdown.
  package static var table: String {
    let head =
      "| of an event | JSON Lines, CloudEvents' `data` | OCSF | OTLP attribute | journal |\n| --- | --- | --- | --- | --- |\n"
    return head
      + rows.map { "| \($0.part) | `\($0.jsonl)` | `\($0.ocsf)` | `\($0.otlp)` | `\($0.journal)` |\n" }.joined()
  }

  /// OCSF's activities as a table of Markdown.
  package static var activities: String {
    let head = "| kind | OCSF class | activity | `type_uid` |\n| --- | --- | --- | --- |\n"
    return head
      + OCSFActivity.table.map { row in
        let alert = row.alerts ? ", alert" : ""
        return
          "| `\(row.kind.rawValue)` | \(row.of.name) (\(row.of.uid)) | \(row.name) (\(row.id))\(alert) | \(row.type) |\n"
      }.joined()
  }
}
