internal import Foundation

extension ExportFormat {
  /// Whether this format is lines: then a file of them can be gone on with by looking at its end.
  package var isLines: Bool { self != .journal }

  /// Which event a line of this format holds; nil when it holds none, or is of another format.
  package func identifier(inLine line: some Sequence<UInt8>) -> EventIdentifier? {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any] else { return nil }
    switch self {
    case .jsonl:
      guard object["kind"] is String, let log = (object["log"] as? String).flatMap({ LogIdentity($0) }),
        let sequence = (object["sequence"] as? NSNumber)?.int64Value, sequence > 0
      else { return nil }
      return EventIdentifier(log: log, sequence: sequence)
    case .cloudevents:
      guard object["specversion"] is String else { return nil }
      return (object["id"] as? String).flatMap { EventIdentifier($0) }
    case .ocsf:
      return ((object["metadata"] as? [String: Any])?["uid"] as? String).flatMap { EventIdentifier($0) }
    case .otlp:
      let named = (Self.lastRecord(object)?["attributes"] as? [[String: Any]])?.first {
        $0["key"] as? String == "log.record.uid"
      }
      return ((named?["value"] as? [String: Any])?["stringValue"] as? String).flatMap { EventIdentifier($0) }
    case .journal:
      return nil
    }
  }
  /// When the event of a line happened, as the line has it: every version writes it of an event, and another
  /// event hardly has the same.
  package func time(inLine line: some Sequence<UInt8>) -> String? {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any] else { return nil }
    let time = self == .otlp ? Self.lastRecord(object)?["timeUnixNano"] : object["time"]
    return time.map { "\($0)" }
  }

  private static func lastRecord(_ object: [String: Any]) -> [String: Any]? {
    let resource = (object["resourceLogs"] as? [[String: Any]])?.last
    let scope = (resource?["scopeLogs"] as? [[String: Any]])?.last
    return (scope?["logRecords"] as? [[String: Any]])?.last
  }
}
