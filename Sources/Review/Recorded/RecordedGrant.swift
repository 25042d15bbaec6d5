package import Audit
package import Foundation

/// The rights of a grant to a document.
package enum RecordedAccess: String, CaseIterable, Codable, Sendable {
  case readOnly, readWrite

  package var words: String { self == .readOnly ? "read only" : "read and write" }
}

/// A grant as the log tells of it (`AUD-3`): its app, its document, its origin, its rights, its beginning, its end, and the grant
/// that it was made from.
package struct RecordedGrant: Equatable, Sendable {
  package let id: String
  /// Bundle identifier of the app that has it.
  package let app: String
  /// The launch that asked, and its process on the host; nil where the user gave it without being asked.
  package let instance: String?
  package let pid: Int32?
  /// The document as it was when it was granted.
  package let granted: AuditEvent.Document?
  /// The document as it is known now: under the path where it was last seen, by the identity of the file that it is since the
  /// last program replaced it.
  package internal(set) var document: AuditEvent.Document?
  /// `file`, `folder` or `package`; nil where the log does not say.
  package let kind: String?
  package let access: RecordedAccess?
  /// `user`, `scripted`, `passed` or `bookmark`.
  package let how: String?
  /// Its latest end, in words: `withdrawn`, `the right of io.ambit.Notes ends`, `2025-06-01T09:30:00Z`.
  package internal(set) var until: String?
  /// When it ends by itself at the latest, where the log says so.
  package internal(set) var ends: Date?
  /// The grant that this one was made from, and ends with.
  package internal(set) var parent: String?
  package let since: Date
  /// The entry that granted it.
  package let sequence: Int64
  /// It was granted before the log begins, or by an entry that is not there any more: `since` and `sequence` then say where it was
  /// first seen.
  package let isInferred: Bool

  /// The moment in the text of a grant's end.
  static func moment(_ until: String?) -> Date? {
    until?.components(separatedBy: " or ").compactMap { Timestamp($0)?.date }.min()
  }
}

/// How a grant came to its end.
package struct RecordedGrantEnding: Equatable, Sendable {
  /// `user`, `app`, `quota`, `reference`, `removed`, …
  package let how: String?
  package let rule: String?
  package let reason: String?
  package let time: Date
  /// The entry that ended it, or the one before its time was over.
  package let sequence: Int64
  /// False where its time was over and no broker ran to say so, or none has yet.
  package let isRecorded: Bool
}
