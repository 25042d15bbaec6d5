internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
package import Policy
internal import ScopedAccess
internal import SystemPackage

/// When the log goes on in another file, and when old ones are looked at. Times are nanoseconds of CLOCK_MONOTONIC.
struct LogKeeper {
  /// What was in force when a file began, and has not been written down there yet.
  struct Carrying {
    var launches: ArraySlice<String>
    var grants: ArraySlice<String>
    var count = 0
    /// After a failure.
    var again: Int64 = 0
  }

  var carrying: Carrying?
  /// Entries that a file has before another one is begun: with fewer most of it would be what was carried.
  var least: Int64 = 0
  /// When old files are looked at again.
  var removal: Int64 = 0

  /// How many things are carried before somebody else has a turn.
  static let slice = 64
  static let pause: Int64 = 1_000_000_000
  static let hour: Int64 = 3600 * pause

  var nextDue: Int64? { carrying.map(\.again) }
}

extension Broker {
  /// What the user's `audit.toml` says. What the log says of grants reaches the disk after them.
  static func logSettings(_ folders: AmbitFolders, _ grants: GrantStore) throws -> AuditLog.Settings {
    var settings = AuditLog.Settings()
    let keeping = try LogKeeping.read(folders.auditSettings)
    settings.beforeSync = {
      do throws(StateError) { try grants.synchronize() } catch { complain("\(error)") }
    }
    settings.segmentSize = keeping.segment
    settings.retention = .init(bytes: keeping.size, span: keeping.seconds.map { Int64($0) * 1_000_000 })
    return settings
  }

  /// Has the log go on in another file when one is full, and old ones removed.
  func keepLog(now: Int64) {
    if keeping.carrying != nil {
      carry(now: now)
      if keeping.carrying == nil { removeOldEntries() }
    }
    if keeping.carrying == nil, log.isSegmentFull, log.segmentEntries >= keeping.least { rotateLog() }
    if now >= keeping.removal {
      keeping.removal = now + LogKeeper.hour
      removeOldEntries()
    }
  }

  /// Begins another file. A log that is nothing but what is carried would begin one after the other.
  private func rotateLog() {
    do {
      let scopes = instances.values.map(\.owners.used).reduce(0, +)
      keeping.least = Int64(4 * (try grants.identifiers().count + instances.count + scopes))
      guard log.segmentEntries >= keeping.least else { return }
      let through = log.anchor.sequence
      try log.append([AuditEvent(.logRotated, how: "size", detail: [AuditEvent.Fact.through: "\(through)"])])
      try beginCarrying()
    } catch {
      complain("the audit log does not go on in another file: \(error)")
      keeping.least = log.segmentEntries + 1024
    }
  }

  func beginCarrying() throws {
    keeping.carrying = LogKeeper.Carrying(launches: instances.keys.sorted()[...], grants: try grants.identifiers()[...])
  }

  /// Writes down what was in force when the file began and is so now; what has ended meanwhile has an entry of its own.
  private func carry(now: Int64) {
    guard var carrying = keeping.carrying, carrying.again <= now else { return }
    do {
      var events: [AuditEvent] = []
      while events.count < LogKeeper.slice, let id = carrying.launches.popFirst() {
        if let instance = instances[id] { events += carried(instance) }
      }
      while events.count < LogKeeper.slice, let id = carrying.grants.popFirst() {
        if let grant = try grants.grant(id), grant.revoked == nil { events.append(try Self.carried(grant, grants)) }
      }
      carrying.count += events.count
      let isDone = carrying.launches.isEmpty && carrying.grants.isEmpty
      if isDone {
        events.append(AuditEvent(.carriedAll, detail: [AuditEvent.Fact.entries: "\(carrying.count)"]))
      }
      try log.append(events)
      FaultPoint.somethingCarried.pass()
      FaultPoint.somethingCarried.hold()
      keeping.carrying = isDone ? nil : carrying
    } catch {
      complain("what is in force is not in the audit log's new file yet: \(error)")
      keeping.carrying?.again = now + LogKeeper.pause
    }
  }

  /// A broker that ends in order leaves a file that stands alone: another one would have to begin anew. Nobody waits for it for
  /// longer than a moment.
  func finishCarrying() {
    let end = Clock.monotonic() + LogKeeper.pause
    while let due = keeping.nextDue {
      let now = Clock.monotonic()
      guard due <= now, now < end else { return }
      carry(now: now)
    }
  }

  /// A launch, and the scopes that it has started.
  private func carried(_ instance: Instance) -> [AuditEvent] {
    var detail = instance.facts
    detail[AuditEvent.Fact.carries] = "launch"
    detail[AuditEvent.Fact.since] = Instance.rfc3339(instance.started)
    let scopes = instance.owners.all.map { owned in
      let grant = try? grants.grant(owned.holder.grant)
      var detail = [
        AuditEvent.Fact.carries: "scope", AuditEvent.Fact.since: Instance.rfc3339(owned.holder.since),
        AuditEvent.Fact.count: "\(owned.holder.count)", AuditEvent.Fact.limit: "\(instance.owners.limit)",
        AuditEvent.Fact.used: "\(instance.owners.used(by: owned.process))",
      ]
      detail[AuditEvent.Fact.process] = instance.processes[owned.process].map { "\($0.inside)" }
      detail[AuditEvent.Fact.access] = grant?.rights.rawValue
      detail[AuditEvent.Fact.caller] = owned.holder.caller
      var carried = event(
        .carried, .allowed, instance, grant: grant, document: instance.shown[owned.holder.grant],
        how: instance.exposed[owned.holder.grant]?.how, detail: detail)
      carried.grant = owned.holder.grant
      return carried
    }
    return [event(.carried, .allowed, instance, detail: detail)] + scopes
  }

  private static func carried(_ grant: Grant, _ grants: GrantStore) throws -> AuditEvent {
    var detail = try facts(of: grant, grants)
    detail[AuditEvent.Fact.carries] = "grant"
    detail[AuditEvent.Fact.since] = Instance.rfc3339(grant.created)
    return AuditEvent(
      .carried, app: grant.bundleIdentifier, grant: grant.id, document: document(grant, nil),
      how: grant.origin.rawValue, detail: detail)
  }

  /// What a grant is, for who has not read how it was given.
  static func facts(of grant: Grant, _ grants: GrantStore) throws -> [String: String] {
    var facts = [
      AuditEvent.Fact.access: grant.rights.rawValue, AuditEvent.Fact.documentKind: grant.kind.rawValue,
      AuditEvent.Fact.until: until(grant),
    ]
    facts[AuditEvent.Fact.parent] = try grants.parent(of: grant.id)
    return facts
  }

  /// By a thread of its own: nobody who asks the broker for something waits for it.
  private func removeOldEntries() {
    let (log, now) = (log, Clock.realtime() / 1000)
    @Sendable func remove() {
      do { try log.removeOld(now: now) } catch { complain("the audit log's old entries are not removed: \(error)") }
    }
    if (try? Worker.start { remove() }) == nil { remove() }
  }
}

extension LogKeeping {
  /// What a file says; without one, what holds without.
  package static func read(_ path: String) throws -> LogKeeping {
    let bytes: [UInt8]
    do throws(KernelError) {
      bytes = try Descriptor.content(ofFile: path, limit: 1 << 20)
    } catch {
      if error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory { return LogKeeping() }
      throw StateError("\(path), which says how the audit log is kept, cannot be read: \(error.fileFault)")
    }
    return try LogKeeping(bytes, file: path)
  }
}
