import Audit
import Foundation

/// A log for tests: each entry a second after the one before.
struct Recording {
  private(set) var events: [AuditEvent] = []
  static let start = Date(timeIntervalSince1970: 1_750_000_000)

  static func document(_ path: String) -> AuditEvent.Document {
    let inode = path.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
    return AuditEvent.Document(path: path, volume: "v", inode: inode, birth: nil)
  }

  mutating func add(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result = .allowed, _ app: String? = nil, _ instance: String? = nil,
    grant: String? = nil, path: String? = nil, how: String? = nil, rule: String? = nil, reason: String? = nil,
    _ detail: [String: String] = [:]
  ) {
    let sequence = Int64(events.count + 1)
    events.append(
      AuditEvent(
        kind, result, time: Self.start.addingTimeInterval(Double(sequence)), app: app, instance: instance, grant: grant,
        document: path.map(Self.document), how: how, rule: rule, reason: reason, detail: detail, sequence: sequence))
  }

  mutating func launch(
    _ app: String, _ instance: String, limit: Int = 2, policy: String = "teach", name: String = "Editor"
  ) {
    add(.launch, .allowed, app, instance, ["limit": "\(limit)", "policy": policy, "name": name])
  }

  mutating func grant(_ app: String, _ instance: String, _ grant: String, _ path: String, access: String = "readWrite")
  {
    add(.grant, .allowed, app, instance, grant: grant, path: path, how: "user", ["access": access, "kind": "file"])
  }

  mutating func start(_ app: String, _ instance: String, _ grant: String, _ path: String, used: Int, limit: Int = 2) {
    add(
      .start, .allowed, app, instance, grant: grant, path: path, how: "user",
      ["used": "\(used)", "limit": "\(limit)", "count": "1", "process": "2", "caller": "Editor.swift:91"])
  }

  mutating func stop(_ app: String, _ instance: String, _ grant: String, _ path: String, used: Int) {
    add(
      .stop, .allowed, app, instance, grant: grant, path: path,
      ["used": "\(used)", "limit": "2", "count": "0", "process": "2"])
  }

  /// An editor with a document that it stops, one that it leaks, one that it never uses, and a refusal; and an app that has nothing.
  static var story: Recording {
    var log = Recording()
    log.add(.brokerStarted)
    log.launch("org.example.editor", "i1")
    log.grant("org.example.editor", "i1", "g1", "/home/alice/Notes/1.txt")
    log.grant("org.example.editor", "i1", "g2", "/home/alice/Notes/2.txt", access: "readOnly")
    log.grant("org.example.editor", "i1", "g3", "/home/alice/Notes/3.txt")
    log.start("org.example.editor", "i1", "g1", "/home/alice/Notes/1.txt", used: 1)
    log.start("org.example.editor", "i1", "g2", "/home/alice/Notes/2.txt", used: 2)
    log.add(
      .start, .refused, "org.example.editor", "i1", grant: "g3", path: "/home/alice/Notes/3.txt", how: "user",
      rule: "LIM-1", reason: "all 2 scope slots of process 2 are in use", ["used": "2", "limit": "2", "process": "2"])
    log.stop("org.example.editor", "i1", "g1", "/home/alice/Notes/1.txt", used: 1)
    log.add(
      .scopeEnded, .allowed, "org.example.editor", "i1", grant: "g2", path: "/home/alice/Notes/2.txt", rule: "TOK-11",
      reason: "process 2 ended without stopping it", ["process": "2"])
    log.add(.exit, .allowed, "org.example.editor", "i1", ["status": "0"])
    log.launch("org.example.snooper", "i2", policy: "strict", name: "Snooper")
    log.add(
      .refuse, .refused, "org.example.snooper", "i2", how: "observed", rule: "SBX-2", reason: "it is outside",
      ["operation": "read /home/alice/Notes/1.txt", "remedy": "the user picks it"])
    log.add(.exit, .allowed, "org.example.snooper", "i2", ["status": "0"])
    log.add(.brokerStopped)
    return log
  }
}
