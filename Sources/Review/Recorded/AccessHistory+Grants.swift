internal import Audit
internal import Foundation
internal import Paths

extension AccessHistory {
  mutating func grant(_ event: AuditEvent) {
    guard let id = event.grant, let app = event.app else { return }
    if event.detail[AuditEvent.Fact.kept] == "true", grants[id] != nil {
      // The user granted it anew; from now on it depends on no other grant.
      picked(event)
      return
    }
    put(RecordedGrant(event, id: id, app: app, isInferred: false))
  }

  /// The user has now decided on it themselves: it stands by itself, and its time begins anew.
  mutating func picked(_ event: AuditEvent) {
    seen(event)
    guard let id = event.grant else { return }
    grants[id]?.parent = nil
    grants[id]?.until = event.detail[AuditEvent.Fact.until]
    grants[id]?.ends = RecordedGrant.moment(event.detail[AuditEvent.Fact.until])
    noteEnd(of: grants[id])
  }

  /// An entry about a grant says where its document is now. In a log without a beginning it says that there is a grant.
  mutating func seen(_ event: AuditEvent) {
    guard let id = event.grant else { return }
    if let known = grants[id] {
      guard let document = event.document, !document.path.isEmpty,
        !document.path.isSamePath(as: known.document?.path ?? "")
      else { return }
      guard known.document.map({ document.isSameFile(as: $0) }) ?? true else { return }
      var moved = known
      moved.document = document
      put(moved)
    } else if !isWhole, let app = event.app {
      put(RecordedGrant(event, id: id, app: app, isInferred: true))
    }
  }

  mutating func put(_ grant: RecordedGrant) {
    drop(grant.id)
    grants[grant.id] = grant
    noteEnd(of: grant)
    if let inode = grant.document?.inode { grantsByInode[inode, default: []].insert(grant.id) }
  }

  private mutating func noteEnd(of grant: RecordedGrant?) {
    if let ends = grant?.ends { nextEnd = min(nextEnd, ends) }
  }

  @discardableResult
  private mutating func drop(_ id: String) -> RecordedGrant? {
    guard let grant = grants.removeValue(forKey: id) else { return nil }
    if let inode = grant.document?.inode {
      grantsByInode[inode]?.remove(id)
      if grantsByInode[inode]?.isEmpty == true { grantsByInode[inode] = nil }
    }
    return grant
  }

  mutating func revoke(_ event: AuditEvent) {
    guard let id = event.grant, let grant = drop(id) else { return }
    justEnded[id] = grant
    // An entry later than the fact may be from the next broker.
    closed.append(.grant(grant, RecordedGrantEnding(event, notAfter: end(of: grant))))
  }

  // MARK: The end of their time

  /// Ends grants whose time was over by then, with those made from them. A running broker withdraws them and says so; without a
  /// broker no entry says so.
  mutating func endDue(by time: Date) {
    guard nextEnd <= time else { return }
    var due = grants.values.compactMap { grant in grant.ends.flatMap { $0 <= time ? (grant: grant, end: $0) : nil } }
    var found = Set(due.map(\.grant.id))
    var new = due[...]
    while !new.isEmpty {
      let ends = Dictionary(uniqueKeysWithValues: new.map { ($0.grant.id, $0.end) })
      let children = grants.values.compactMap { grant in
        found.contains(grant.id) ? nil : grant.parent.flatMap { ends[$0] }.map { (grant: grant, end: $0) }
      }
      found.formUnion(children.map(\.grant.id))
      new = children[...]
      due += children
    }
    for (grant, end) in due.sorted(by: {
      ($0.end, $0.grant.sequence, $0.grant.id) < ($1.end, $1.grant.sequence, $1.grant.id)
    }) {
      drop(grant.id)
      closed.append(
        .grant(
          grant,
          RecordedGrantEnding(
            how: "lifetime", rule: "AUD-1", reason: "its time was up", time: end, sequence: sequence, isRecorded: false)
        ))
    }
    nextEnd = grants.values.compactMap(\.ends).min() ?? .distantFuture
  }

  /// When a grant's time is over: its own, or that of one that it was made of.
  private func end(of grant: RecordedGrant) -> Date? {
    var (end, parent, seen) = (grant.ends, grant.parent, Set([grant.id]))
    while let id = parent, seen.insert(id).inserted, let next = grants[id] ?? justEnded[id] {
      end = [end, next.ends].compactMap(\.self).min()
      parent = next.parent
    }
    return end
  }

  /// The recorded withdrawal failed: the grant is in force.
  mutating func keep(_ event: AuditEvent) {
    guard let id = event.grant, let grant = justEnded.removeValue(forKey: id) else { return }
    put(grant)
  }

  mutating func appRemoved(_ event: AuditEvent) {
    // The broker has ended each of them by an entry of its own; a log without a beginning may lack some.
    for (id, grant) in grants where grant.app == event.app {
      drop(id)
      closed.append(.grant(grant, RecordedGrantEnding(event)))
    }
  }

  /// Another file is the document from now on: for one app where its own policy follows it, for all where an app has saved.
  mutating func replaced(_ event: AuditEvent, isUndone: Bool) {
    guard let before = event.detail[AuditEvent.Fact.oldInode].flatMap({ UInt64($0) }),
      let after = event.detail[AuditEvent.Fact.newInode].flatMap({ UInt64($0) })
    else { return }
    let births = (
      event.detail[AuditEvent.Fact.oldBirth].flatMap { Timestamp($0)?.date },
      event.detail[AuditEvent.Fact.newBirth].flatMap { Timestamp($0)?.date }
    )
    let (from, into) = isUndone ? (after, before) : (before, after)
    let (fromBirth, intoBirth) = isUndone ? (births.1, births.0) : births
    let app = event.rule == "BMK-12" ? event.app : nil
    func follow(_ document: inout AuditEvent.Document?) {
      guard var known = document, known.inode == from else { return }
      if let volume = event.document?.volume, let own = known.volume, volume != own { return }
      if let fromBirth, let own = known.birth, fromBirth != own { return }
      (known.inode, known.birth) = (into, intoBirth)
      document = known
    }
    let affected = (grantsByInode[from] ?? []).filter { app == nil || grants[$0]?.app == app }
    for id in affected {
      guard var grant = grants[id] else { continue }
      follow(&grant.document)
      put(grant)
    }
    for scope in active.values.flatMap(\.values) where affected.contains(scope.key.grant) {
      var scope = scope
      follow(&scope.document)
      active[scope.key.instance]?[scope.key] = scope
    }
  }
}

extension AuditEvent.Document {
  /// As far as both say which file it is.
  func isSameFile(as other: Self) -> Bool {
    guard let inode, let theirs = other.inode else { return true }
    return inode == theirs && (volume == nil || other.volume == nil || volume == other.volume)
  }
}

extension RecordedGrant {
  init(_ event: AuditEvent, id: String, app: String, isInferred: Bool) {
    self.init(
      id: id, app: app, instance: event.instance, pid: event.pid, granted: event.document, document: event.document,
      kind: event.detail[AuditEvent.Fact.documentKind],
      access: event.detail[AuditEvent.Fact.access].flatMap(RecordedAccess.init),
      how: isInferred ? nil : event.detail[AuditEvent.Fact.origin] ?? event.how,
      until: event.detail[AuditEvent.Fact.until], ends: Self.moment(event.detail[AuditEvent.Fact.until]),
      parent: event.detail[AuditEvent.Fact.parent], since: event.time, sequence: event.sequence, isInferred: isInferred)
  }
}

extension RecordedGrantEnding {
  init(_ event: AuditEvent, notAfter end: Date? = nil) {
    self.init(
      how: event.how, rule: event.rule, reason: event.reason, time: min(event.time, end ?? event.time),
      sequence: event.sequence, isRecorded: true)
  }
}
