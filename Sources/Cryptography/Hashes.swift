internal import CNettle

/// SHA-256 (FIPS 180-4), in one go or piece by piece.
package struct SHA256: Sendable {
  /// Bytes of a digest.
  package static let size = Int(SHA256_DIGEST_SIZE)
  private var context = sha256_ctx()

  package init() { unsafe nettle_sha256_init(&context) }

  package mutating func update(_ bytes: [UInt8]) {
    unsafe nettle_sha256_update(&context, bytes.count, bytes)
  }

  @unsafe package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe nettle_sha256_update(&context, bytes.count, bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
  }

  /// - Returns: 32 bytes; afterwards it begins anew.
  package mutating func finish() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Self.size) { digest, count in
      unsafe ambit_sha256_digest(&context, digest.baseAddress)
      count = Self.size
    }
  }

  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }

  /// Of a text's UTF-8.
  package static func digest(_ text: String) -> [UInt8] { digest(Array(text.utf8)) }
}

/// MD5 (RFC 1321), for names of files that others compute in the same way. It protects nothing.
package enum MD5 {
  /// - Returns: 16 bytes.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(MD5_DIGEST_SIZE)) { digest, count in
      unsafe ambit_md5(bytes.count, bytes, digest.baseAddress)
      count = Int(MD5_DIGEST_SIZE)
    }
  }
}

/// UMAC-64 (RFC 4418), a code that costs a fifth of a digest. Two different messages with one number have the same code with a probability
/// of 2⁻⁶⁰, if their author does not know the key.
package struct UMAC64: Sendable {
  private var context = umac64_ctx()

  /// - Parameter key: 16 bytes; without one, a random one.
  package init(key: [UInt8]? = nil) {
    let key = key ?? (0..<Int(UMAC_KEY_SIZE)).map { _ in UInt8.random(in: .min ... .max) }
    precondition(key.count == UMAC_KEY_SIZE, "a key has 16 bytes")
    unsafe nettle_umac64_set_key(&context, key)
  }

  /// - Parameter number: the message's; the code depends on it.
  package mutating func code(of message: [UInt8], number: UInt64) -> UInt64 {
    let nonce = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    return unsafe ambit_umac64(&context, nonce, message.count, message)
  }
}

/// HMAC-SHA-256 (RFC 2104), which only a holder of the key can make, and check.
package enum HMACSHA256 {
  /// - Returns: 32 bytes.
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: SHA256.size) { digest, count in
      unsafe ambit_hmac_sha256(key.count, key, message.count, message, digest.baseAddress)
      count = SHA256.size
    }
  }

  /// A key of 32 bytes for another purpose, derived from a secret: HKDF-SHA-256 (RFC 5869) without salt, its first block.
  package static func deriveKey(from secret: [UInt8], for purpose: String) -> [UInt8] {
    let extracted = code(of: secret, key: Array(repeating: 0, count: SHA256.size))
    return code(of: Array(purpose.utf8) + [1], key: extracted)
  }
}
