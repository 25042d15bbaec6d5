import Audit
import Foundation
import Policy
import Review
import TestSupport

/// A run that never happened: what a broker would have written down of random operations, with the books that it would have
/// kept meanwhile. The simplest thing that can be right, to compare a fold over the entries with.
struct RandomRun {
  struct Scope: Hashable { let instance: String, process: Int32, grant: String }
  struct Held: Equatable { let app: String, access: String, inode: UInt64, parent: String? }

  var random: Seeded
  private(set) var events: [AuditEvent] = []
  private(set) var instances: [String: String] = [:]
  private(set) var grants: [String: Held] = [:]
  private(set) var counts: [Scope: Int] = [:]
  let limit: Int
  let apps = ["org.example.A", "org.example.B", "org.example.C"]
  private var clock: Double = 1_750_000_000
  private var made = 0

  /// The policy that everything is launched under.
  var settings: PolicySettings {
    var settings = PolicySettings.closed
    settings.scopeLimit = limit
    return settings
  }

  init(seed: UInt64, limit: Int = 3) {
    random = Seeded(seed: seed)
    self.limit = limit
    emit(AuditEvent(.brokerStarted, pid: 1))
  }

  private mutating func emit(_ event: AuditEvent) {
    var event = event
    clock += Double.random(in: 0...20, using: &random).rounded()
    event.time = Date(timeIntervalSince1970: clock)
    event.sequence = Int64(events.count + 1)
    events.append(event)
  }

  private mutating func name(_ prefix: String) -> String {
    made += 1
    return "\(prefix)\(made)"
  }

  private func document(_ inode: UInt64) -> AuditEvent.Document {
    .init(path: "/home/alice/\(inode % 7)/\(inode).txt", volume: "0a", inode: inode)
  }

  /// One operation, whatever the dice say; what cannot be done just now is not done.
  mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: launch()
    case 2: exit()
    case 3, 4, 5: grant()
    case 6...10: start()
    case 11...14: stop()
    case 15: revoke()
    case 16: derive()
    case 17: replace()
    case 18: endProcess()
    default:
      switch Int.random(in: 0..<4, using: &random) {
      case 0: restart(killed: true)
      case 1: restart(killed: false)
      case 2: remove()
      default: emit(AuditEvent(.refuse, .refused, app: apps[0], rule: "SBX-1", reason: "no"))
      }
    }
  }

  private mutating func launch() {
    guard let app = apps.randomElement(using: &random) else { return }
    let id = name("i")
    instances[id] = app
    emit(
      AuditEvent(
        .launch, app: app, instance: id, pid: 7,
        detail: ["name": "N", "policy": "simulator", "limit": "\(limit)", "settings": settings.text]))
  }

  private mutating func anyInstance() -> String? { instances.keys.sorted().randomElement(using: &random) }

  private mutating func anyGrant(of app: String? = nil) -> String? {
    grants.filter { app == nil || $0.value.app == app }.keys.sorted().randomElement(using: &random)
  }

  private mutating func exit() {
    guard let id = anyInstance() else { return }
    endScopes(of: id, how: AuditEvent.ScopeEnd.app)
    emit(AuditEvent(.exit, app: instances[id], instance: id, detail: ["status": "0"]))
    instances[id] = nil
  }

  private mutating func endScopes(
    how: String, named process: Bool = true, where fits: (Scope) -> Bool
  ) {
    for scope in counts.keys.filter(fits).sorted(by: { ($0.grant, $0.process) < ($1.grant, $1.process) }) {
      counts[scope] = nil
      emit(
        AuditEvent(
          .scopeEnded, app: instances[scope.instance], instance: scope.instance, grant: scope.grant, how: how,
          detail: process ? ["process": "\(scope.process)"] : [:]))
    }
  }

  private mutating func endScopes(of instance: String, how: String, named: Bool = true) {
    endScopes(how: how, named: named) { $0.instance == instance }
  }

  private mutating func grant() {
    guard let instance = anyInstance(), let app = instances[instance] else { return }
    let inode = UInt64.random(in: 1...40, using: &random)
    let access = Bool.random(using: &random) ? "readOnly" : "readWrite"
    let known = grants.filter { $0.value.app == app && $0.value.inode == inode && $0.value.access == access }
    let id = known.keys.sorted().first ?? name("g")
    let isNew = known.isEmpty
    emit(AuditEvent(.pick, app: app, instance: instance, grant: id, document: document(inode), how: "user"))
    grants[id] = Held(app: app, access: access, inode: inode, parent: nil)
    guard isNew else { return }
    emit(
      AuditEvent(
        .grant, app: app, instance: instance, grant: id, document: document(inode), how: "user",
        detail: ["access": access, "kind": "file", "until": "withdrawn"]))
  }

  private mutating func derive() {
    guard let parent = anyGrant(), let held = grants[parent], let app = apps.randomElement(using: &random) else {
      return
    }
    let id = name("g")
    grants[id] = Held(app: app, access: "readOnly", inode: held.inode, parent: parent)
    emit(
      AuditEvent(
        .grant, app: app, grant: id, document: document(held.inode), how: "passed",
        detail: ["access": "readOnly", "kind": "file", "parent": parent]))
  }

  private mutating func start() {
    guard let instance = anyInstance(), let app = instances[instance], let grant = anyGrant(of: app),
      let held = grants[grant]
    else { return }
    let process = Int32.random(in: 2...3, using: &random)
    let scope = Scope(instance: instance, process: process, grant: grant)
    let used = counts.keys.count { $0.instance == instance && $0.process == process }
    var facts = ["process": "\(process)", "limit": "\(limit)"]
    if counts[scope] == nil, used >= limit {
      facts["used"] = "\(used)"
      emit(
        AuditEvent(
          .start, .refused, app: app, instance: instance, grant: grant, document: document(held.inode), rule: "LIM-1",
          detail: facts))
      return
    }
    counts[scope, default: 0] += 1
    (facts["count"], facts["used"]) = ("\(counts[scope] ?? 0)", "\(counts[scope] == 1 ? used + 1 : used)")
    emit(AuditEvent(.start, app: app, instance: instance, grant: grant, document: document(held.inode), detail: facts))
    let isFirst = counts.keys.count { $0.instance == instance && $0.grant == grant } == 1 && counts[scope] == 1
    if isFirst, Int.random(in: 0..<10, using: &random) == 0 {
      counts[scope] = nil
      emit(AuditEvent(.start, .failed, app: app, instance: instance, grant: grant, reason: "cannot be shown"))
    }
  }

  private mutating func stop() {
    let all = counts.keys.sorted { ($0.instance, $0.grant, $0.process) < ($1.instance, $1.grant, $1.process) }
    guard let scope = all.randomElement(using: &random), let count = counts[scope] else { return }
    counts[scope] = count > 1 ? count - 1 : nil
    emit(
      AuditEvent(
        .stop, app: instances[scope.instance], instance: scope.instance, grant: scope.grant,
        detail: ["process": "\(scope.process)", "count": "\(count - 1)"]))
  }

  private mutating func revoke() {
    guard let first = anyGrant() else { return }
    end(first, how: "user", undone: Int.random(in: 0..<6, using: &random) == 0)
  }

  private mutating func end(_ first: String, how: String, undone: Bool = false) {
    var all = [first]
    var index = 0
    while index < all.count {
      all += grants.filter { $0.value.parent == all[index] }.keys.sorted()
      index += 1
    }
    for id in all { emit(AuditEvent(.revoke, app: grants[id]?.app, grant: id, how: how, rule: "AUD-1")) }
    if undone {
      for id in all { emit(AuditEvent(.revoke, .failed, app: grants[id]?.app, grant: id, how: how, rule: "AUD-1")) }
      return
    }
    for id in all {
      grants[id] = nil
      endScopes(how: AuditEvent.ScopeEnd.withdrawn) { $0.grant == id }
    }
  }

  private mutating func replace() {
    guard let id = anyGrant(), let held = grants[id] else { return }
    let new = UInt64(1000 + events.count)
    let facts = ["oldInode": "\(held.inode)", "newInode": "\(new)"]
    let own = Bool.random(using: &random)
    emit(
      AuditEvent(
        .replaced, app: held.app, grant: id, document: document(own ? new : held.inode), how: own ? "host" : "app",
        rule: own ? "BMK-12" : nil, detail: facts))
    if !own, Int.random(in: 0..<4, using: &random) == 0 {
      emit(AuditEvent(.replaced, .failed, app: held.app, grant: id, document: document(held.inode), detail: facts))
      return
    }
    for (other, entry) in grants where entry.inode == held.inode && (!own || entry.app == held.app) {
      grants[other] = Held(app: entry.app, access: entry.access, inode: new, parent: entry.parent)
    }
  }

  private mutating func endProcess() {
    guard let instance = anyInstance() else { return }
    endScopes(how: AuditEvent.ScopeEnd.process) { $0.instance == instance && $0.process == 3 }
  }

  /// Every app that still runs is taken over; one may have ended meanwhile, which is found out or not.
  private mutating func restart(killed: Bool) {
    if !killed {
      for id in instances.keys.sorted() { endScopes(of: id, how: AuditEvent.ScopeEnd.broker) }
      emit(AuditEvent(.brokerStopped))
    }
    emit(AuditEvent(.brokerStarted))
    for (id, app) in instances.sorted(by: { $0.key < $1.key }) {
      if killed, Int.random(in: 0..<4, using: &random) == 0 {
        instances[id] = nil
        for scope in counts.keys where scope.instance == id { counts[scope] = nil }
        if Bool.random(using: &random) {
          emit(AuditEvent(.exit, app: app, instance: id, how: AuditEvent.recovery, reason: "it is gone"))
        }
        continue
      }
      emit(AuditEvent(.attach, app: app, instance: id, detail: ["limit": "\(limit)", "policy": "simulator"]))
      for scope in counts.keys where scope.instance == id { counts[scope] = nil }
    }
  }

  private mutating func remove() {
    guard let app = apps.randomElement(using: &random) else { return }
    for id in instances.filter({ $0.value == app }).keys.sorted() {
      endScopes(of: id, how: AuditEvent.ScopeEnd.app)
      emit(AuditEvent(.exit, app: app, instance: id, detail: ["signal": "9"]))
      instances[id] = nil
    }
    while let id = grants.filter({ $0.value.app == app }).keys.sorted().first { end(id, how: "removed") }
    emit(AuditEvent(.appRemoved, app: app, how: "user"))
  }
}
