package import Audit
package import Foundation

/// One launch of an app as the log tells of it.
package struct RecordedInstance: Equatable, Sendable {
  package let id: String
  package let app: String
  /// The app's name for people.
  package internal(set) var name: String?
  package internal(set) var policy: String?
  /// The app's path on the host, and the digest of its files.
  package internal(set) var path: String?
  package internal(set) var digest: String?
  /// Scope slots of each of its processes.
  package internal(set) var limit: Int?
  package internal(set) var pid: Int32?
  package let since: Date
  /// The entry of the launch, or the first one that names this launch.
  package let sequence: Int64
  /// It was launched before the log begins.
  package let isInferred: Bool
  /// Its broker has ended or died, and no other one has taken it over.
  package internal(set) var isOrphaned = false
  /// When that was, where another broker has begun since.
  package internal(set) var gap: RecordedGap?
  /// The handles that its processes still have to documents that were taken away from them, by grant.
  package internal(set) var outlived: [String: RecordedHold] = [:]
  /// Brokers that have begun since it was heard of last.
  var brokersSince = 0
}

/// Descriptors that have outlived the scope they were opened in.
package struct RecordedHold: Equatable, Sendable {
  package let document: AuditEvent.Document?
  /// The holders and their possible access, in words.
  package let holders: String?
  package let since: Date
  package let sequence: Int64
}

/// How a launch ended: as the log says it, or as nothing was heard of it any more.
package struct RecordedInstanceEnding: Equatable, Sendable {
  package let status: Int?
  package let signal: Int?
  package let reason: String?
  /// False when its end is not in the log.
  package let isRecorded: Bool
  /// When it ended; or by when at the latest, as far as can be told.
  package let time: Date
  /// It ran until then for certain: the same, where the log says when it ended.
  package let certain: Date
  package let sequence: Int64
}
