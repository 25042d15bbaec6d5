internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
package import Policy
internal import ScopedAccess
internal import SystemPackage

/// When the log goes on in another file, and when old ones are looked at. A new file begins with a snapshot of all launches, scopes
/// and grants in force, so that it can be read alone. Times are nanoseconds of CLOCK_MONOTONIC.
@BrokerLoop
final class LogKeeper: LoopMember {
  /// The state in force when a file began, as far as it has not been written down there yet.
  private struct Snapshot {
    var launches: ArraySlice<String>
    var grants: ArraySlice<String>
    var count = 0
    /// After a failure.
    var again: Int64 = 0
  }

  private let trail: AuditTrail
  private let grants: GrantStore
  private let sessions: SessionTable
  private let clock: any LoopClock
  private var log: AuditLog { trail.log }
  private var snapshot: Snapshot?
  /// Entries that a file has before another one is begun: with fewer most of it would be snapshot.
  private var least: Int64 = 0
  /// When old files are looked at again.
  private var removal: Int64 = 0

  /// How many entries of a snapshot are written at a time.
  private static let slice = 64
  private static let pause: Int64 = 1_000_000_000
  private static let hour: Int64 = 3600 * pause

  init(_ trail: AuditTrail, _ grants: GrantStore, _ sessions: SessionTable, _ clock: any LoopClock) {
    (self.trail, self.grants, self.sessions, self.clock) = (trail, grants, sessions, clock)
  }

  func prepare(now: Int64) { keepLog(now: now) }
  func nextDue(now: Int64) -> Int64? { snapshot?.again }

  /// Has the log go on in another file when one is full, and old ones removed.
  private func keepLog(now: Int64) {
    if snapshot != nil {
      write(now: now)
      if snapshot == nil { removeOldEntries() }
    }
    if snapshot == nil, log.isSegmentFull, log.segmentEntries >= least { rotateLog() }
    if now >= removal {
      removal = now + Self.hour
      removeOldEntries()
    }
  }

  /// Begins another file. A log of nothing but carried entries would begin one after the other.
  private func rotateLog() {
    do {
      let scopes = sessions.instances.values.map(\.scopes.owners.used).reduce(0, +)
      least = Int64(4 * (try grants.identifiers().count + sessions.instances.count + scopes))
      guard log.segmentEntries >= least else { return }
      let through = log.anchor.sequence
      try log.append([AuditEvent(.logRotated, how: "size", detail: [AuditEvent.Fact.through: "\(through)"])])
      try beginSnapshot()
    } catch {
      complain("the audit log does not go on in another file: \(error)")
      least = log.segmentEntries + 1024
    }
  }

  func beginSnapshot() throws {
    snapshot = Snapshot(launches: sessions.instances.keys.sorted()[...], grants: try grants.identifiers()[...])
  }

  /// Writes down a part of the snapshot. Grants and scopes that have ended meanwhile have an entry of their own.
  private func write(now: Int64) {
    guard var next = snapshot, next.again <= now else { return }
    do {
      var events: [AuditEvent] = []
      while events.count < Self.slice, let id = next.launches.popFirst() {
        if let instance = sessions.instances[id] { events += self.events(of: instance) }
      }
      while events.count < Self.slice, let id = next.grants.popFirst() {
        if let grant = try grants.grant(id), grant.revoked == nil { events.append(try event(of: grant)) }
      }
      next.count += events.count
      let isDone = next.launches.isEmpty && next.grants.isEmpty
      if isDone { events.append(AuditEvent(.carriedAll, detail: [AuditEvent.Fact.entries: "\(next.count)"])) }
      try log.append(events)
      FaultPoint.somethingCarried.pass()
      FaultPoint.somethingCarried.hold()
      snapshot = isDone ? nil : next
    } catch {
      complain("what is in force is not in the audit log's new file yet: \(error)")
      snapshot?.again = now + Self.pause
    }
  }

  /// A broker that ends in order leaves a file that stands alone: another one would have to begin anew. It takes no longer than a
  /// second for it.
  func finishSnapshot() {
    let end = clock.monotonic + Self.pause
    while let due = nextDue(now: 0) {
      let now = clock.monotonic
      guard due <= now, now < end else { return }
      write(now: now)
    }
  }

  /// A launch, and the scopes that it has started.
  private func events(of instance: Instance) -> [AuditEvent] {
    var detail = instance.facts
    detail[AuditEvent.Fact.carries] = "launch"
    detail[AuditEvent.Fact.since] = Instance.rfc3339(instance.started)
    let scopes = instance.scopes.owners.all.map { owned in
      let grant = try? grants.grant(owned.holder.grant)
      var detail = [
        AuditEvent.Fact.carries: "scope", AuditEvent.Fact.since: Instance.rfc3339(owned.holder.since),
        AuditEvent.Fact.count: "\(owned.holder.count)", AuditEvent.Fact.limit: "\(instance.scopes.owners.limit)",
        AuditEvent.Fact.used: "\(instance.scopes.owners.used(by: owned.process))",
      ]
      detail[AuditEvent.Fact.process] = instance.scopes.processes[owned.process].map { "\($0.inside)" }
      detail[AuditEvent.Fact.access] = grant?.rights.rawValue
      detail[AuditEvent.Fact.caller] = owned.holder.caller
      var carried = AuditEvent(
        .carried, .allowed, instance, grant: grant, document: instance.scopes.shown[owned.holder.grant],
        how: instance.scopes.exposed[owned.holder.grant]?.how, detail: detail)
      carried.grant = owned.holder.grant
      return carried
    }
    return [AuditEvent(.carried, .allowed, instance, detail: detail)] + scopes
  }

  private func event(of grant: Grant) throws -> AuditEvent {
    var detail = AuditEvent.facts(grant, parent: try grants.parent(of: grant.id))
    detail[AuditEvent.Fact.carries] = "grant"
    detail[AuditEvent.Fact.since] = Instance.rfc3339(grant.created)
    return AuditEvent(
      .carried, app: grant.bundleIdentifier, grant: grant.id, document: AuditEvent.Document(grant, nil),
      how: grant.origin.rawValue, detail: detail)
  }

  /// By a thread of its own: no request waits for it.
  private func removeOldEntries() {
    let (log, now) = (log, clock.realtime / 1000)
    @Sendable func remove() {
      do { try log.removeOld(now: now) } catch { complain("the audit log's old entries are not removed: \(error)") }
    }
    if (try? Worker.start { remove() }) == nil { remove() }
  }
}

extension AuditTrail {
  /// The content of the user's `audit.toml`. The log's entries about grants reach the disk after the grants.
  static func settings(_ folders: AmbitFolders, _ grants: GrantStore) throws -> AuditLog.Settings {
    var settings = AuditLog.Settings()
    let keeping = try LogKeeping.read(folders.auditSettings)
    settings.beforeSync = {
      do throws(StateError) { try grants.synchronize() } catch { complain("\(error)") }
    }
    settings.segmentSize = keeping.segment
    settings.retention = .init(bytes: keeping.size, span: keeping.seconds.map { Int64($0) * 1_000_000 })
    return settings
  }
}

extension LogKeeping {
  /// A file's settings; without a file, the defaults.
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
