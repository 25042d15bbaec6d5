internal import CNettle

/// ChaCha20-Poly1305 (RFC 8439): without the key, sealed bytes can be neither read nor changed.
///
/// Sealed bytes are the nonce (12), the ciphertext, and the tag (16).
package enum ChaChaPoly {
  package static let keySize = Int(CHACHA_POLY1305_KEY_SIZE)
  package static let nonceSize = Int(CHACHA_POLY1305_NONCE_SIZE)
  package static let tagSize = Int(CHACHA_POLY1305_DIGEST_SIZE)

  /// - Parameters:
  ///   - key: 32 bytes.
  ///   - context: has to be the same when it is opened. It is not part of the result.
  ///   - nonce: 12 bytes that were never used with this key before; by default random ones.
  package static func seal(
    _ content: [UInt8], key: [UInt8], context: [UInt8], nonce: [UInt8] = RandomBytes.make(nonceSize)
  ) -> [UInt8] {
    precondition(key.count == keySize && nonce.count == nonceSize)
    var sealed = nonce + content + [UInt8](repeating: 0, count: tagSize)
    unsafe sealed.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe ambit_chacha_poly1305_seal(
        key, nonce, context.count, context, content.count, content, start + nonceSize,
        start + nonceSize + content.count)
    }
    return sealed
  }

  /// - Returns: `nil`: not sealed with this key in this context, or changed since.
  package static func open(_ sealed: [UInt8], key: [UInt8], context: [UInt8]) -> [UInt8]? {
    precondition(key.count == keySize)
    let length = sealed.count - nonceSize - tagSize
    guard length >= 0 else { return nil }
    var isRight = false
    let content = unsafe [UInt8](unsafeUninitializedCapacity: length) { content, count in
      unsafe sealed.withUnsafeBufferPointer { bytes in
        guard let start = bytes.baseAddress else { return }
        isRight =
          unsafe ambit_chacha_poly1305_open(
            key, start, context.count, context, length, start + nonceSize, start + nonceSize + length,
            content.baseAddress) == 1
      }
      count = length
    }
    return isRight ? content : nil
  }
}

/// Random bytes from the kernel (`getrandom(2)`), fit for keys.
package enum RandomBytes {
  package static func make(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
