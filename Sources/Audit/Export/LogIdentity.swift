internal import Cryptography
internal import Foundation
internal import Paths

/// The log that an event is of, even if the log's file has been moved or copied.
///
/// It is made of the key that the log is signed with, which lies beside it (`audit.pub`) and stays while old entries go: two logs
/// that were begun apart are two, a copy of a log with its public key is the same one. Earlier versions made it of the first entry,
/// and so is that of a log without a key.
package struct LogIdentity: Hashable, Sendable, CustomStringConvertible {
  /// A UUID (RFC 9562, version 8) in lower case.
  package let description: String

  /// The identity of a log that is signed with this key.
  package init(key: AuditKey.Public) { self.init(hashing: "ambit-log \(key.text)") }

  /// The identity of a log that begins with this entry, and has no key.
  package init(first: AuditEvent) throws { self.init(hashing: try first.jsonLine()) }

  private init(hashing text: String) {
    var bytes = Array(SHA256.digest(text).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Hexadecimal.text(bytes)
    let ends = [8, 12, 16, 20, 32]
    description = zip([0] + ends, ends).map { String(Array(digits)[$0..<$1]) }.joined(separator: "-")
  }

  /// An identity that was written down; nil when the text is none.
  package init?(_ text: String) {
    guard text.utf8.count == 36, UUID(uuidString: text)?.uuidString.lowercased() == text else { return nil }
    description = text
  }
}

/// The name of one event among all events of all logs: by it a receiver knows one that it has had before.
package struct EventIdentifier: Hashable, Sendable, CustomStringConvertible {
  package let log: LogIdentity
  package let sequence: Int64

  package init(log: LogIdentity, sequence: Int64) {
    self.log = log
    self.sequence = sequence
  }

  /// Reads the form of `description`.
  package init?(_ text: String) {
    let parts = text.pathParts
    guard parts.count == 2, let log = LogIdentity(parts[0]), let sequence = Int64(parts[1]), sequence > 0
    else { return nil }
    self.init(log: log, sequence: sequence)
  }

  /// `2f0c…-…/17`.
  package var description: String { "\(log)/\(sequence)" }
}

extension AuditEvent {
  /// SHA-256 of the event as it is recorded, in hexadecimal: another digest is another event.
  package func digest() throws -> String {
    Hexadecimal.text(SHA256.digest(try jsonLine()))
  }
}
