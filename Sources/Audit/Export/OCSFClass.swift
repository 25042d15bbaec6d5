/// A class of events of OCSF, as far as Ambit's events are some of it (schema 1.6.0).
package struct OCSFClass: Hashable, Sendable {
  package let uid: Int
  package let name: String
  package let category: Int
  package let categoryName: String

  package static let base = Self(uid: 0, name: "Base Event", category: 0, categoryName: "Uncategorized")
  package static let file = Self(
    uid: 1001, name: "File System Activity", category: 1, categoryName: "System Activity")
  package static let process = Self(uid: 1007, name: "Process Activity", category: 1, categoryName: "System Activity")
  package static let log = Self(
    uid: 1008, name: "Event Log Activity", category: 1, categoryName: "System Activity")
  package static let entity = Self(
    uid: 3004, name: "Entity Management", category: 3, categoryName: "Identity & Access Management")
  package static let access = Self(
    uid: 3005, name: "User Access Management", category: 3, categoryName: "Identity & Access Management")
  package static let lifecycle = Self(
    uid: 6002, name: "Application Lifecycle", category: 6, categoryName: "Application Activity")
  package static let api = Self(uid: 6003, name: "API Activity", category: 6, categoryName: "Application Activity")
}

/// OCSF's name for a kind of event: a class, and an activity of that class.
package struct OCSFActivity: Sendable {
  package let kind: AuditEvent.Kind
  package let of: OCSFClass
  package let id: Int
  package let name: String
  /// For the attention of an administrator, with any result: severity “medium”, and `is_alert`.
  package let alerts: Bool

  /// `class_uid` · 100 + `activity_id`.
  package var type: Int { of.uid * 100 + id }

  private init(_ kind: AuditEvent.Kind, _ of: OCSFClass, _ id: Int, _ name: String, alerts: Bool = false) {
    (self.kind, self.of, self.id, self.name, self.alerts) = (kind, of, id, name, alerts)
  }

  /// Every kind that this version writes. Where a class has no activity for one it is 99, “other”, with a name of Ambit's.
  package static let table: [Self] = [
    Self(.brokerStarted, .lifecycle, 3, "Start"),
    Self(.brokerStopped, .lifecycle, 4, "Stop"),
    Self(.launch, .process, 1, "Launch"),
    Self(.attach, .lifecycle, 3, "Start"),
    Self(.degraded, .process, 99, "Run With Less", alerts: true),
    Self(.identity, .process, 99, "Change Identity", alerts: true),
    Self(.exit, .process, 2, "Terminate"),
    Self(.suspend, .process, 99, "Suspend"),
    Self(.resume, .process, 99, "Resume"),
    Self(.pick, .api, 99, "Pick"),
    Self(.pickCancelled, .api, 99, "Cancel Pick"),
    Self(.grant, .access, 1, "Assign Privileges"),
    // The act of a start: the document is mounted for the app.
    Self(.start, .file, 12, "Mount"),
    Self(.stop, .file, 13, "Unmount"),
    Self(.scopeEnded, .file, 13, "Unmount"),
    Self(.replaced, .file, 3, "Update"),
    Self(.reference, .entity, 1, "Create"),
    Self(.bookmarkCreated, .entity, 1, "Create"),
    Self(.bookmarkResolved, .entity, 2, "Read"),
    Self(.referenceResolved, .entity, 2, "Read"),
    Self(.descriptor, .file, 14, "Open"),
    Self(.hostPath, .file, 8, "Get Attributes"),
    Self(.passed, .access, 1, "Assign Privileges"),
    Self(.revoke, .access, 2, "Revoke Privileges"),
    Self(.outlived, .file, 99, "Keep Open", alerts: true),
    Self(.coordinated, .file, 99, "Coordinate"),
    Self(.coordinationEnded, .file, 99, "End Coordination"),
    Self(.presenterSilent, .file, 99, "Stay Silent"),
    Self(.version, .file, 99, "Keep Version"),
    Self(.related, .file, 99, "Show Beside"),
    Self(.sharing, .entity, 3, "Update"),
    Self(.provider, .file, 99, "Provide"),
    Self(.appRemoved, .lifecycle, 2, "Remove"),
    Self(.limit, .process, 99, "Exceed Limit", alerts: true),
    Self(.refuse, .api, 99, "Refuse"),
    Self(.protocolError, .api, 99, "Protocol Error", alerts: true),
    Self(.logRotated, .log, 5, "Rotate"),
    Self(.carried, .log, 99, "Carry On"),
    Self(.carriedAll, .log, 99, "Carry On"),
    Self(.logRemoved, .log, 2, "Delete"),
  ]

  private static let byKind = Dictionary(table.map { ($0.kind, $0) }) { first, _ in first }

  /// The activity of a kind; of one that this version does not know, the base event's “other”.
  package static func of(_ kind: AuditEvent.Kind) -> Self {
    byKind[kind] ?? Self(kind, .base, 99, kind.rawValue)
  }
}
