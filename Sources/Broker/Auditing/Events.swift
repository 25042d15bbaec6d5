internal import Audit
internal import BrokerCore
internal import Cryptography
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess

/// How events about launches, grants and documents are made.
extension AuditEvent {
  /// An event about a running launch.
  @BrokerLoop
  init(
    _ kind: Kind, _ result: Result = .allowed, _ instance: Instance, grant: Grant? = nil,
    document: FoundDocument? = nil, how: String? = nil, rule: String? = nil, reason: String? = nil,
    detail: [String: String] = [:]
  ) {
    self.init(
      kind, result, app: instance.app.bundleIdentifier, instance: instance.id, pid: instance.pid, grant: grant?.id,
      document: grant.map { Document($0, document) } ?? document.map { Document($0) }, how: how, rule: rule,
      reason: reason, detail: detail)
  }

  /// An event about a grant, whether or not its app runs.
  init(
    _ kind: Kind, _ result: Result = .allowed, about grant: Grant, how: String, rule: String, reason: String,
    detail: [String: String] = [:]
  ) {
    self.init(
      kind, result, app: grant.bundleIdentifier, grant: grant.id, document: Document(grant, nil), how: how, rule: rule,
      reason: reason, detail: detail)
  }

  /// The facts of a file that has taken another one's place.
  static func facts(_ old: FileIdentity, _ new: FileIdentity) -> [String: String] {
    var facts = [Fact.oldInode: "\(old.inode)", Fact.newInode: "\(new.inode)"]
    facts[Fact.oldBirth] = date(old.birth).map { Timestamp($0).text }
    facts[Fact.newBirth] = date(new.birth).map { Timestamp($0).text }
    return facts
  }

  /// The facts of a scope of one process.
  ///
  /// - Parameter inside: the process, as its sandbox numbers it.
  static func facts(_ holder: ScopeLedger.Holder, _ inside: Int32) -> [String: String] {
    var facts = [
      Fact.count: "\(holder.count)", Fact.since: Instance.rfc3339(holder.since), Fact.process: "\(inside)",
    ]
    facts[Fact.caller] = holder.caller
    return facts
  }

  /// The facts of a grant, for readers that have not seen how it was given.
  static func facts(_ grant: Grant, parent: String?) -> [String: String] {
    var facts = [
      Fact.access: grant.rights.rawValue, Fact.documentKind: grant.kind.rawValue, Fact.until: grant.term.words,
    ]
    facts[Fact.parent] = parent
    return facts
  }

  fileprivate static func date(_ nanoseconds: Int64) -> Date? {
    nanoseconds == 0 ? nil : Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)
  }
}

extension AuditEvent.Document {
  init(_ identity: FileIdentity, at path: String) {
    self.init(
      path: path, volume: Hexadecimal.text(identity.volume), inode: identity.inode,
      birth: AuditEvent.date(identity.birth))
  }

  init(_ found: FoundDocument) { self.init(found.identity, at: found.path ?? "") }

  /// - Parameter found: the grant's document, if it was seen just now.
  init(_ grant: Grant, _ found: FoundDocument?) {
    self.init(found?.identity ?? grant.identity, at: found?.path ?? grant.path)
  }
}

extension Grant.Term {
  /// How long a grant holds, as events say it.
  var words: String {
    let ends = [launch.map { _ in "the launch ends" }, until.map(Instance.rfc3339)].compactMap { $0 }
    return ends.isEmpty ? "withdrawn" : ends.joined(separator: " or ")
  }
}
