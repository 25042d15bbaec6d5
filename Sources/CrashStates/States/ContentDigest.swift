internal import Crypto

/// SHA-256 of a content or a state.
package struct ContentDigest: Hashable, Sendable {
  private let words: [UInt64]

  package init(_ bytes: [UInt8]) {
    var hash = SHA256()
    unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
    words = unsafe hash.finalize().withUnsafeBytes { digest in
      (0..<4).map { unsafe digest.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
  }

  var bytes: [UInt8] { unsafe words.withUnsafeBytes { unsafe Array($0) } }

  /// The first digits, for people.
  package var short: String {
    bytes.prefix(4).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }.joined()
  }
}
