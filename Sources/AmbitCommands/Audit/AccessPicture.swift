internal import Audit
internal import Foundation
internal import Review
internal import Terminal

/// The access of all apps at one moment, for people and for programs.
struct AccessPicture: Encodable {
  struct Instance: Encodable {
    let instance, app: String
    let name, policy: String?
    let limit: Int?
    let pid: Int32?
    let since: String
    let entry: Int64
    /// Its broker had died, and no other one had taken it over.
    let isOrphaned: Bool
  }

  struct Grant: Encodable {
    let grant, app: String
    let document: AuditEvent.Document?
    let pathWhenGranted: String?
    let kind, access, how, until, parent: String?
    let instance: String?
    let pid: Int32?
    let since: String
    let entry: Int64
    /// It is older than the log, which does not say how it came about.
    let isInferred: Bool
    let scopes: [Scope]
  }

  struct Scope: Encodable {
    let instance: String
    let process: Int32?
    let count: Int
    let since: String
    let caller: String?
    let entry: Int64
    let isOrphaned: Bool
  }

  let time: String
  /// The last entry before that moment; 0: there is none.
  let entry: Int64
  /// No entry comes after it.
  let isLogsEnd: Bool
  /// The log begins with its first entry: nothing older can be missing.
  let isWhole: Bool
  let hasBroker: Bool
  let instances: [Instance]
  let grants: [Grant]
  /// Scopes that were started of grants that had ended, and go on until they are stopped.
  let withoutGrant: [Scope]

  /// - Parameter first: the number of the log's first entry, which may be from after that moment.
  init(_ history: AccessHistory, at time: Date, app: String?, path: String?, isLogsEnd: Bool, first: Int64) {
    self.time = Timestamp(time).text
    self.isLogsEnd = isLogsEnd
    (entry, isWhole, hasBroker) = (history.sequence, first == 1 || history.isCarried, history.hasBroker)
    instances = history.instances.values.filter { app == nil || $0.app == app }.sorted { $0.sequence < $1.sequence }.map
    {
      Instance(
        instance: $0.id, app: $0.app, name: $0.name, policy: $0.policy, limit: $0.limit, pid: $0.pid,
        since: Timestamp($0.since).text, entry: $0.sequence, isOrphaned: $0.isOrphaned)
    }
    let all = history.scopes
    let scopes = Dictionary(grouping: all, by: \.key.grant)
    grants = history.grants(of: app, reaching: path).map { grant in
      Grant(
        grant: grant.id, app: grant.app, document: grant.document, pathWhenGranted: grant.granted?.path,
        kind: grant.kind, access: grant.access?.rawValue, how: grant.how, until: grant.until, parent: grant.parent,
        instance: grant.instance, pid: grant.pid, since: Timestamp(grant.since).text, entry: grant.sequence,
        isInferred: grant.isInferred, scopes: (scopes[grant.id] ?? []).map(Scope.init))
    }
    withoutGrant = all.filter {
      history.grants[$0.key.grant] == nil && (app == nil || $0.app == app)
        && (path == nil || $0.document?.path == path)
    }.map(Scope.init)
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension AccessPicture.Scope {
  init(_ scope: RecordedScope) {
    self.init(
      instance: scope.key.instance, process: scope.key.process, count: scope.count, since: Timestamp(scope.since).text,
      caller: scope.caller, entry: scope.sequence, isOrphaned: scope.isOrphaned)
  }
}

// MARK: For people

extension AccessPicture {
  func table(for descriptor: Int32) -> String {
    var text = heading + "\n"
    if !grants.isEmpty {
      let table = Table(
        [
          .init("GRANT", minWidth: 10), .init("APP", minWidth: 8, maxWidth: 32, keeping: .end),
          .init("COULD", minWidth: 14), .init("DOCUMENT", minWidth: 8, keeping: .end),
          .init("DECIDED", minWidth: 6, maxWidth: 44), .init("STARTED", minWidth: 3, maxWidth: 36),
        ], for: descriptor)
      text += "\n" + table.render(grants.map(row))
    }
    if !withoutGrant.isEmpty {
      text +=
        "\nStill started, though the grant had ended: "
        + withoutGrant.map { printable(Self.place($0)) }.joined(separator: ", ") + ".\n"
    }
    if !isWhole {
      text += "\nThe log's beginning is gone: a grant that is older, and of which nothing is said, is not here.\n"
    }
    return text
  }

  private var heading: String {
    guard entry > 0 else {
      return isWhole
        ? "At \(time) nothing had been recorded yet."
        : "What had been recorded at \(time) is gone: the log begins later."
    }
    func counted(_ count: Int, _ one: String, _ many: String) -> String { count == 1 ? "1 \(one)" : "\(count) \(many)" }
    let started = grants.reduce(0) { $0 + $1.scopes.count } + withoutGrant.count
    let broker = hasBroker ? "" : " No broker ran."
    return "At \(time), after entry \(entry)\(isLogsEnd ? ", the log's last" : ""): "
      + "\(counted(instances.count, "app ran", "apps ran")), \(counted(grants.count, "grant was", "grants were")) in force, "
      + "\(counted(started, "scope was", "scopes were")) started.\(broker)"
  }

  private func row(_ grant: Grant) -> [Table.Cell] {
    let by = grant.isInferred ? "before the log begins" : grant.how ?? "unknown"
    let parent = grant.parent.map { " from \($0)" } ?? ""
    // Most are until they are withdrawn.
    let until = grant.until.flatMap { Timestamp($0) == nil ? nil : ", until \(Self.minute($0))" } ?? ""
    return [
      Table.Cell(grant.grant, .dim), Table.Cell(grant.app, .cyan),
      grant.access == "readOnly"
        ? Table.Cell("read", .green) : Table.Cell(grant.access == nil ? "unknown" : "read and write", .yellow),
      Table.Cell((grant.document?.path ?? "") + (grant.kind == "folder" ? "/" : "")),
      Table.Cell((grant.isInferred ? by : "\(by)\(parent), \(Self.minute(grant.since))") + until),
      grant.scopes.isEmpty
        ? Table.Cell("–", .dim) : Table.Cell("● " + grant.scopes.map(Self.place).joined(separator: ", "), .green),
    ]
  }

  private static func minute(_ time: String) -> String { "\(time.prefix(16).replacing("T", with: " ")) UTC" }

  private static func place(_ scope: Scope) -> String {
    "in \(scope.instance)" + (scope.process.map { " (process \($0))" } ?? "")
      + (scope.count > 1 ? " ×\(scope.count)" : "")
      + (scope.isOrphaned ? ", its broker gone" : "")
  }
}
