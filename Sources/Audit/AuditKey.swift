internal import Cryptography
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// The broker's key for signing its log: an Ed25519 key of its own, made at first use, in `audit.key` beside the log.
///
/// Its public part lies beside it in `audit.pub`, for checks of the log without the right to sign. A process that can
/// read the key can sign another log.
package struct AuditKey: Sendable {
  private let key: Ed25519.PrivateKey
  /// For things that are written too often to be signed.
  private let codeKey: [UInt8]

  package struct Public: Equatable, Sendable {
    private let bytes: [UInt8]

    fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// 32 bytes as base64.
    package init?(_ text: String) {
      let trimmed = text.hasSuffix("\n") ? String(text.dropLast()) : text
      guard let data = Data(base64Encoded: trimmed), data.count == 32, data.base64EncodedString() == trimmed else {
        return nil
      }
      bytes = Array(data)
    }

    package var text: String { Data(bytes).base64EncodedString() }

    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
      Ed25519.verifies(signature, of: message, by: bytes)
    }
  }

  init() { self.init(.random()) }

  var publicKey: Public { Public(key.publicKey) }

  func sign(_ message: [UInt8]) -> [UInt8] { key.sign(message) }

  /// The key of a log.
  ///
  /// - Parameter isNew: nothing is signed yet, and a key is made if there is none.
  /// - Throws: when it is gone or is no key: its signatures could not be told from those of another.
  static func load(_ files: LogFiles, isNew: Bool) throws(AuditLogError) -> AuditKey {
    let known = try publicKey(of: files)
    guard case .here(let loaded) = try beside(files, isRequired: true) else {
      guard isNew, known == nil else {
        throw AuditLogError(.damaged, files.key, "the key that the log is signed with is gone", of: .signature)
      }
      let made = AuditKey()
      // The key first: a public part without it is a key that was lost.
      try SmallFile.make(files.key, made.key.bytes, mode: 0o600)
      try SmallFile.make(files.publicKey, Array((made.publicKey.text + "\n").utf8), mode: 0o600)
      return made
    }
    if let known, known != loaded.publicKey {
      throw AuditLogError(.damaged, files.publicKey, "it is not the public part of \(files.key)", of: .signature)
    }
    if known == nil { try SmallFile.make(files.publicKey, Array((loaded.publicKey.text + "\n").utf8), mode: 0o600) }
    return loaded
  }

  /// Takes the rights of others to the key away.
  ///
  /// - Returns: whether others could read or replace its content until now.
  static func close(_ files: LogFiles) -> Bool {
    let descriptor = unsafe open(files.key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return false }
    fchmod(descriptor, status.st_mode & 0o700)
    return true
  }

  private init(_ key: Ed25519.PrivateKey) {
    self.key = key
    codeKey = HMACSHA256.deriveKey(from: key.bytes, for: "ambit-audit end 1")
  }

  /// HMAC-SHA256, which only a holder of the key can make, and check.
  func code(of message: [UInt8]) -> [UInt8] {
    HMACSHA256.code(of: message, key: codeKey)
  }

  /// The key beside a log, as far as the checking process may read it.
  enum Beside {
    case here(AuditKey)
    case gone, unreadable

    var key: AuditKey? { if case .here(let key) = self { key } else { nil } }
  }

  /// - Parameter isRequired: one that is out of reach is an error.
  /// - Throws: when the present file is no key.
  static func beside(_ files: LogFiles, isRequired: Bool = false) throws(AuditLogError) -> Beside {
    let bytes: [UInt8]?
    do { bytes = try SmallFile.read(files.key) } catch {
      guard error.problem == .inaccessible, !isRequired else { throw error }
      return .unreadable
    }
    guard let bytes else { return .gone }
    guard let key = Ed25519.PrivateKey(bytes) else {
      throw AuditLogError(.damaged, files.key, "it is no key of 32 bytes", of: .signature)
    }
    return .here(AuditKey(key))
  }

  /// The public part that lies beside a log; nil when there is none.
  package static func publicKey(of files: LogFiles) throws(AuditLogError) -> Public? {
    try publicKey(SmallFile.read(files.publicKey), files.publicKey)
  }

  static func publicKey(_ bytes: [UInt8]?, _ path: String) throws(AuditLogError) -> Public? {
    guard let bytes else { return nil }
    guard let key = Public(String(decoding: bytes, as: UTF8.self)) else {
      throw AuditLogError(.damaged, path, "it is no public key (32 bytes as base64)", of: .signature)
    }
    return key
  }
}
