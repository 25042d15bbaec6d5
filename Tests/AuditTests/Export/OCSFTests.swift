import Foundation
import Testing

@testable import Audit

@Suite struct `Events in OCSF` {
  /// What schema 1.6.0 requires of each class, besides of what it requires of every event.
  private static let required: [Int: [String]] = [
    0: [], 1001: ["actor", "device", "file"], 1007: ["actor", "device", "process"],
    // At least one of its own attributes.
    1008: ["actor", "device", "log_name"], 3004: ["entity"],
    3005: ["user"], 6002: ["app"], 6003: ["actor", "api", "src_endpoint"],
  ]
  /// The activities that its classes define, besides 99.
  private static let activities: [Int: [Int: String]] = [
    0: [:],
    1001: [3: "Update", 8: "Get Attributes", 12: "Mount", 13: "Unmount", 14: "Open"],
    1007: [1: "Launch", 2: "Terminate"],
    1008: [2: "Delete", 5: "Rotate"],
    3004: [1: "Create", 2: "Read", 3: "Update"],
    3005: [1: "Assign Privileges", 2: "Revoke Privileges"],
    6002: [2: "Remove", 3: "Start", 4: "Stop"],
    6003: [:],
  ]

  @Test func `AUD-10: have the attributes that their class requires`() throws {
    let source = try exportSource()
    for event in manyEvents(seed: 81, 600) {
      let value = try JSONValue(line: exported(event, as: .ocsf, source))
      let kind = try #require(value["class_uid"].int.map(Int.init))
      for name in ["activity_id", "category_uid", "severity_id", "type_uid", "time"] {
        #expect(value[name].int != nil, "\(name) is a number")
      }
      let activity = try #require(value["activity_id"].int.map(Int.init))
      #expect(value["category_uid"].int == Int64(kind / 1000))
      #expect(value["type_uid"].int == Int64(kind * 100 + activity))
      let known = try #require(Self.activities[kind])
      #expect(activity == 99 || known[activity] == value["activity_name"].text)
      #expect(value["activity_name"].text?.isEmpty == event.kind.rawValue.isEmpty)
      #expect(value["time"].int == Timestamp(event.time).microseconds / 1000)
      #expect(value["metadata"]["version"].text == "1.6.0")
      #expect(value["metadata"]["product"]["name"].text == "Ambit")
      for name in try #require(Self.required[kind]) { #expect(value[name].exists, "\(kind) requires \(name)") }
      try constraints(value, of: kind)
    }
  }

  /// What objects require: at least one of several attributes, and the types of those that are there.
  private func constraints(_ value: JSONValue, of kind: Int) throws {
    #expect(value["actor"]["app_name"].text != nil)
    #expect(value["device"]["type_id"].int != nil && value["device"]["hostname"].text != nil)
    let processes = [value["actor"]["process"], value["process"]].filter(\.exists)
    for process in processes { #expect(process["pid"].int != nil || process["uid"].text != nil) }
    switch kind {
    case 1001: #expect(value["file"]["name"].text != nil && value["file"]["type_id"].int != nil)
    case 3004: #expect(value["entity"]["name"].text != nil)
    case 3005: #expect(value["user"]["name"].text != nil && value["privileges"][0].text != nil)
    case 6002: #expect(value["app"]["name"].text != nil && value["app"]["vendor_name"].text != nil)
    case 6003: #expect(value["api"]["operation"].text != nil && value["src_endpoint"]["hostname"].text != nil)
    default: break
    }
    for policy in value["authorizations"].elements.map({ $0["policy"] }) {
      #expect(policy["uid"].text != nil || policy["name"].text != nil)
    }
  }

  @Test func `hold everything of an event, in an attribute or in unmapped`() throws {
    let source = try exportSource()
    for event in manyEvents(seed: 82, 600) {
      let value = try JSONValue(line: exported(event, as: .ocsf, source))
      let (metadata, unmapped) = (value["metadata"], value["unmapped"])
      let entity = value["entity"]["data"].exists ? value["entity"]["data"] : value["resources"][0]["data"]
      let read = AuditEvent(
        .init(rawValue: try #require(metadata["event_code"].text)),
        try #require(value["status_code"].text.flatMap(AuditEvent.Result.init)),
        time: try #require(metadata["original_time"].text.flatMap { Timestamp($0)?.date }),
        app: value["actor"]["app_uid"].text, instance: value["actor"]["process"]["uid"].text,
        pid: value["actor"]["process"]["pid"].int.map(Int32.init), grant: metadata["correlation_uid"].text,
        document: unmapped["document"].document ?? entity.document, how: unmapped["how"].text,
        rule: value["authorizations"][0]["policy"]["uid"].text, reason: value["status_detail"].text,
        detail: unmapped["detail"].texts, sequence: try #require(metadata["sequence"].int))
      #expect(read == event)
      if let document = event.document, value["class_uid"].int == 1001 {
        #expect(value["file"]["path"].text == document.path && value["file"]["name"].text == document.name)
      }
    }
  }

  @Test func `have a class and an activity for every kind that Ambit writes, once`() {
    #expect(Set(OCSFActivity.table.map(\.kind)) == Set(AuditEvent.Kind.known), "give a new kind its line in the table")
    #expect(OCSFActivity.table.count == AuditEvent.Kind.known.count)
    let unknown = OCSFActivity.of(.init(rawValue: "ofALaterVersion"))
    #expect(unknown.type == 99 && unknown.name == "ofALaterVersion")
  }

  @Test(arguments: [
    (AuditEvent.Result.allowed, 1, 1, 1, 1), (.refused, 2, 2, 2, 2), (.failed, 2, 2, 1, 16),
  ])
  func `say how it came out`(
    result: AuditEvent.Result, severity: Int64, status: Int64, action: Int64, done: Int64
  )
    throws
  {
    let value = try JSONValue(
      line: exported(AuditEvent(.start, result, app: "io.example.editor"), as: .ocsf, try exportSource()))
    #expect(value["severity_id"].int == severity && value["status_id"].int == status)
    #expect(value["action_id"].int == action && value["disposition_id"].int == done)
    #expect(!value["is_alert"].exists)
    let outlived = try JSONValue(line: exported(AuditEvent(.outlived, result), as: .ocsf, try exportSource()))
    #expect(outlived["severity_id"].int == 3 && outlived["is_alert"].number == true)
  }

  @Test func `round moments down to a millisecond, also before 1970`() {
    #expect(OCSFEvent.milliseconds(Timestamp(microseconds: 1_999)) == 1)
    #expect(OCSFEvent.milliseconds(Timestamp(microseconds: -1)) == -1)
    #expect(OCSFEvent.milliseconds(Timestamp(microseconds: -1_000)) == -1)
  }
}
