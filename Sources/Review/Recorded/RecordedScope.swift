package import Audit
package import Foundation

/// A security scope as the log tells of it: one document, started by one process of one launch.
package struct RecordedScope: Equatable, Sendable {
  /// Its owner. A document that two processes have started is two scopes, and takes a slot of each.
  package struct Key: Hashable, Sendable {
    package let instance: String
    /// As the sandbox numbers processes; nil where the log does not say.
    package let process: Int32?
    package let grant: String

    package init(instance: String, process: Int32?, grant: String) {
      self.instance = instance
      self.process = process
      self.grant = grant
    }
  }

  package let key: Key
  package let app: String
  package internal(set) var document: AuditEvent.Document?
  /// The rights of the grant; nil where the log does not say.
  package let access: RecordedAccess?
  /// The way in which the launch came by the document: `user`, `bookmark`, `reference`, …
  package let how: String?
  /// The caller in the app, as the app names it.
  package let caller: String?
  /// Starts that are not balanced yet.
  package internal(set) var count: Int
  /// The most that they were at a time.
  package internal(set) var mostCount: Int
  /// Slots of the process that were taken right after the start, and how many it had.
  package let used: Int?
  package let limit: Int?
  package let since: Date
  /// The entry of the first start.
  package let sequence: Int64
  /// The broker that started it died, and no other one has taken its app over yet: the document may still be shown.
  package var isOrphaned: Bool { gap != nil }
  /// When that broker died.
  package internal(set) var gap: RecordedGap?
}

/// A time in which a broker died: it wrote an entry before, and another broker began after.
package struct RecordedGap: Equatable, Sendable {
  package let from: Date
  package let to: Date

  /// A clock that was set back makes it a moment.
  init(from: Date, to: Date) { (self.from, self.to) = (min(from, to), to) }
}

/// How a scope came to its end.
package struct RecordedScopeEnding: Equatable, Sendable {
  package enum Cause: String, CaseIterable, Sendable {
    /// The app stopped it.
    case stopped
    /// The process that had started it ended first.
    case processEnded
    /// The whole app ended first.
    case appEnded
    /// The grant was withdrawn while it was active.
    case withdrawn
    /// The broker ended, or another one took the app over from a broker that had died.
    case brokerEnded
    /// The recorded start could not be shown.
    case notShown
    /// The log does not say: a broker died, and nothing was heard of the app afterwards.
    case unknown
  }

  package let cause: Cause
  package let rule: String?
  package let reason: String?
  /// When it ended; or by when at the latest, as far as can be told.
  package let time: Date
  /// It was started until then for certain: the same, where the log says when it ended.
  package let certain: Date
  /// The entry that ended it.
  package let sequence: Int64

  package var isExact: Bool { certain == time }

  /// The app had not stopped the scope.
  package var isLeak: Bool { cause == .processEnded || cause == .appEnded }
}
