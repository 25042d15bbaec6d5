internal import Cryptography

/// SHA-256 of a content or a state.
package struct ContentDigest: Hashable, Sendable {
  private let words: [UInt64]

  package init(_ bytes: [UInt8]) {
    words = unsafe SHA256.digest(bytes).withUnsafeBytes { digest in
      (0..<4).map { unsafe digest.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
  }

  var bytes: [UInt8] { unsafe words.withUnsafeBytes { unsafe Array($0) } }

  /// The first digits, for people.
  package var short: String { Hexadecimal.text(bytes.prefix(4)) }
}
