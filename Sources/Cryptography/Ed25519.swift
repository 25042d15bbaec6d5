internal import CNettle

/// Signatures by Ed25519 (RFC 8032).
package enum Ed25519 {
  package static let signatureSize = Int(ED25519_SIGNATURE_SIZE)

  package struct PrivateKey: Sendable {
    /// 32 bytes: the seed.
    package let bytes: [UInt8]
    /// 32 bytes.
    package let publicKey: [UInt8]

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == Int(ED25519_KEY_SIZE) else { return nil }
      self.init(seed: bytes)
    }

    package static func random() -> PrivateKey { PrivateKey(seed: RandomBytes.make(Int(ED25519_KEY_SIZE))) }

    private init(seed: [UInt8]) {
      bytes = seed
      publicKey = unsafe [UInt8](unsafeUninitializedCapacity: Int(ED25519_KEY_SIZE)) { key, count in
        unsafe nettle_ed25519_sha512_public_key(key.baseAddress, seed)
        count = Int(ED25519_KEY_SIZE)
      }
    }

    /// - Returns: 64 bytes.
    package func sign(_ message: [UInt8]) -> [UInt8] {
      unsafe [UInt8](unsafeUninitializedCapacity: Ed25519.signatureSize) { signature, count in
        unsafe nettle_ed25519_sha512_sign(publicKey, bytes, message.count, message, signature.baseAddress)
        count = Ed25519.signatureSize
      }
    }
  }

  /// - Parameter publicKey: 32 bytes; with another number nothing is right.
  package static func verifies(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard publicKey.count == Int(ED25519_KEY_SIZE), signature.count == signatureSize else { return false }
    return unsafe nettle_ed25519_sha512_verify(publicKey, message.count, message, signature) == 1
  }
}
