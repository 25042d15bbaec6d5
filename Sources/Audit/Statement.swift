internal import Cryptography
internal import Foundation

/// The broker's statement about its log over its signature: a line of text.
///
///     ambit-audit KIND 1 NUMBER HASH TIME BEFORE SIGNATURE
///     ambit-audit KIND 2 NUMBER HASH TIME BEFORE BOOT SIGNATURE
///
/// NUMBER and HASH are a place in the chain, TIME is in microseconds since 1970, BEFORE is the number of the last
/// checkpoint up to there, BOOT is which time since a start of the machine it was signed in, as 32 hexadecimal digits, and
/// SIGNATURE is Ed25519 (RFC 8032) in base64 over all that stands before it. Numbers have 19 digits, so that all lines of a
/// kind are of one length and one is written over another in one go. A head has BOOT, unless an older version signed it.
package struct Statement: Equatable, Sendable {
  package enum Kind: String, Sendable {
    /// The log goes at least so far. It stands beside the log and is renewed.
    case head
    /// The log goes so far and no further: its writer has closed it, and has taken its journal away. In the head's
    /// place, and as long as one.
    case closed = "shut"
    /// The chain went through there. In the log, every so many entries.
    case checkpoint
    /// Everything up to there was removed, because it was old or too much.
    case begins

    var hasBoot: Bool { self == .head || self == .closed }
  }

  package let kind: Kind
  package let mark: ChainMark
  /// Microseconds since 1970.
  package let time: Int64
  /// The number of the last checkpoint at `mark` or before it; 0: none.
  package let checkpoint: Int64
  /// 16 bytes: which time since a start of the machine it was signed in; nil: it does not say.
  package let boot: [UInt8]?
  package private(set) var signature: [UInt8] = []

  /// - Parameter boot: a head states it; other kinds do not.
  init(
    _ kind: Kind, _ mark: ChainMark, time: Int64, checkpoint: Int64, boot: [UInt8]? = JournalFile.boot, key: AuditKey
  ) {
    self.kind = kind
    self.mark = mark
    self.time = time
    self.checkpoint = checkpoint
    self.boot = kind.hasBoot ? boot.map(Journal.padded) : nil
    signature = key.sign(Array(text.utf8))
  }

  /// Reads a line, with or without its newline. Nil when it is not exactly as one is written.
  package init?(_ line: String) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard (8...9).contains(words.count), let kind = Kind(rawValue: String(words[1])), let sequence = Int64(words[3]),
      let hash = EntryHash(hexadecimal: words[4]), let time = Int64(words[5]), let checkpoint = Int64(words[6]),
      let signature = Data(base64Encoded: String(words[words.count - 1].filter { $0 != "\n" }))
    else { return nil }
    self.kind = kind
    mark = ChainMark(sequence: sequence, hash: hash)
    self.time = time
    self.checkpoint = checkpoint
    boot = words.count == 9 ? Hexadecimal.bytes(words[7]) : nil
    self.signature = Array(signature)
    // Another spelling of the same is not the original.
    guard boot == nil || kind.hasBoot, self.line == line || self.line == line + "\n" else { return nil }
  }

  /// With its newline.
  package var line: String { text + Data(signature).base64EncodedString() + "\n" }

  package func isSigned(by key: AuditKey.Public) -> Bool { key.verifies(signature, of: Array(text.utf8)) }

  /// The signed bytes.
  private var text: String {
    let common =
      "\(Self.digits(mark.sequence)) \(mark.hash.hexadecimal) \(Self.digits(time)) \(Self.digits(checkpoint)) "
    guard let boot else { return "ambit-audit \(kind.rawValue) 1 \(common)" }
    return "ambit-audit \(kind.rawValue) 2 \(common)\(Hexadecimal.text(boot)) "
  }

  private static func digits(_ number: Int64) -> String {
    let text = String(max(0, number))
    return String(repeating: "0", count: 19 - text.utf8.count) + text
  }
}
