import Cryptography
import Testing

/// Each against the examples of its standard: what was sealed, signed or named by an earlier version is read by a later one.
struct CryptographyTests {
  private func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(text)) }

  @Test func `SHA-256 of FIPS 180-4's examples, in one go and in pieces`() {
    #expect(
      Hexadecimal.text(SHA256.digest("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Hexadecimal.text(SHA256.digest("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    var hash = SHA256()
    hash.update(Array("abcdbcdecdefdefgefghfghi".utf8))
    unsafe Array("ghijhijkijkljklmklmnlmnomnopnopq".utf8).withUnsafeBytes { unsafe hash.update($0) }
    #expect(
      Hexadecimal.text(hash.finish()) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(hash.finish() == SHA256.digest(""))
  }

  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
  ])
  func `MD5 of RFC 1321's examples`(text: String, digest: String) {
    #expect(Hexadecimal.text(MD5.digest(Array(text.utf8))) == digest)
  }

  @Test func `HMAC-SHA-256 of RFC 4231's first and sixth example`() {
    #expect(
      Hexadecimal.text(HMACSHA256.code(of: Array("Hi There".utf8), key: Array(repeating: 0x0B, count: 20)))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    let long = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
    #expect(
      Hexadecimal.text(HMACSHA256.code(of: long, key: Array(repeating: 0xAA, count: 131)))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  /// The third example has neither salt nor purpose, and asks for 42 bytes.
  @Test func `HKDF-SHA-256 of RFC 5869's third example`() {
    #expect(
      Hexadecimal.text(HMACSHA256.deriveKey(from: Array(repeating: 0x0B, count: 22), for: ""))
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
  }

  @Test(arguments: [
    (0, "6e155fad26900be1"), (3, "44b5cb542f220104"), (1 << 10, "26bf2f5d60118bd9"), (1 << 15, "27f8ef643b0d118d"),
  ])
  func `UMAC-64 of RFC 4418's examples`(length: Int, code: String) {
    var mac = UMAC64(key: Array("abcdefghijklmnop".utf8))
    let nonce = "bcdefghi".utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let message = Array(repeating: UInt8(ascii: "a"), count: length)
    func bytes(_ code: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) } }
    #expect(Hexadecimal.text(bytes(mac.code(of: message, number: nonce))) == code)
    #expect(Hexadecimal.text(bytes(mac.code(of: message, number: nonce))) == code)
    #expect(Hexadecimal.text(bytes(mac.code(of: message, number: nonce + 1))) != code)
  }

  @Test func `ChaCha20-Poly1305 of RFC 8439's example, and nothing that was changed`() throws {
    let key = Array(UInt8(0x80)...0x9F)
    let nonce = try bytes("070000004041424344454647")
    let context = try bytes("50515253c0c1c2c3c4c5c6c7")
    let text = Array(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        .utf8)
    let sealed = ChaChaPoly.seal(text, key: key, context: context, nonce: nonce)
    let ciphertext =
      "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b29"
      + "05d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b"
      + "6116"
    #expect(Hexadecimal.text(sealed) == Hexadecimal.text(nonce) + ciphertext + "1ae10b594f09e26a7e902ecbd0600691")
    #expect(ChaChaPoly.open(sealed, key: key, context: context) == text)
    #expect(ChaChaPoly.open(sealed, key: key, context: context + [0]) == nil)
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 1
      #expect(ChaChaPoly.open(changed, key: key, context: context) == nil, "\(place)")
    }
    for length in 0..<28 { #expect(ChaChaPoly.open(Array(sealed.prefix(length)), key: key, context: context) == nil) }
    let empty = ChaChaPoly.seal([], key: key, context: [])
    #expect(empty.count == 28 && ChaChaPoly.open(empty, key: key, context: []) == [])
  }

  @Test func `Ed25519 of RFC 8032's second example`() throws {
    let seed = try bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    let key = try #require(Ed25519.PrivateKey(seed))
    #expect(
      Hexadecimal.text(key.publicKey) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    let signature = key.sign([0x72])
    #expect(
      Hexadecimal.text(signature)
        == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    #expect(Ed25519.verifies(signature, of: [0x72], by: key.publicKey))
    #expect(!Ed25519.verifies(signature, of: [0x73], by: key.publicKey))
    #expect(!Ed25519.verifies(signature, of: [0x72], by: Ed25519.PrivateKey.random().publicKey))
    #expect(!Ed25519.verifies(Array(signature.dropLast()), of: [0x72], by: key.publicKey))
    #expect(!Ed25519.verifies(signature, of: [0x72], by: []))
    #expect(Ed25519.PrivateKey(Array(seed.dropLast())) == nil)
  }

  @Test func `hexadecimal text and back`() {
    #expect(Hexadecimal.text([0, 9, 10, 0xFF]) == "00090aff")
    #expect(Hexadecimal.bytes("00090aff") == [0, 9, 10, 0xFF])
    #expect(Hexadecimal.bytes("0") == nil && Hexadecimal.bytes("0g") == nil && Hexadecimal.bytes("FF") == nil)
  }
}
