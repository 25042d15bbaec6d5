internal import Cryptography
package import Folders
internal import Foundation
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The broker's secret: it seals bookmarks and references, and tokens are made with it.
package struct SealingKey: Sendable {
  private let key: [UInt8]

  package init(bytes: [UInt8]) { key = bytes }

  /// A new random key; for tests, and for ``load(from:)``.
  package static func random() -> [UInt8] { RandomBytes.make(ChaChaPoly.keySize) }

  /// Reads the key file. Where nothing has been sealed yet it is made, readable for its owner only.
  ///
  /// A file of another length is refused: replacing it would make every bookmark of every app worthless.
  ///
  /// - Parameter store: the grants that have needed a key before; `nil`: there are none.
  /// - Throws: also where a key is gone that was needed. With another one every reference would count as deleted by its app,
  ///   and its grant would end.
  package static func load(from path: String, neededBy store: String? = nil) throws(StateError) -> SealingKey {
    let isLost: Bool
    do throws(KernelError) {
      let isMissing = try isMissing(path)
      isLost = isMissing && store != nil
      if isMissing, !isLost { try make(at: path) }
    } catch {
      throw StateError(
        "\(path): the key of the bookmarks cannot be made: \(error). Make the folder writable for you, or set AMBIT_HOME to another one."
      )
    }
    if isLost, let store {
      throw StateError("\(path): the key is gone that every bookmark and reference was sealed with. \(remedy(store))")
    }
    do {
      // Without waiting: were it a pipe, there might never be a writer.
      let file = try Descriptor.open(path, flags: [.read, .noFollow, .nonBlocking])
      let bytes = try file.readAll(limit: 64)
      guard bytes.count == ChaChaPoly.keySize else {
        throw StateError(
          "\(path): not a key (\(bytes.count) bytes, 32 expected). It has been left as it is. "
            + (store.map(remedy) ?? "Put a backup in its place; or move it away, and another one is made."))
      }
      return SealingKey(bytes: bytes)
    } catch let error as StateError { throw error } catch {
      throw StateError("\(path): the key of the bookmarks cannot be read: \(error)")
    }
  }

  /// Whether nothing stands at the path, not even a link that leads nowhere.
  private static func isMissing(_ path: String) throws(KernelError) -> Bool {
    do throws(KernelError) { _ = try Descriptor.open(path, flags: .place) } catch {
      if error.errno == .noSuchFileOrDirectory { return true }
      throw error
    }
    return false
  }

  /// The treatment of a key that is not the one that the grants were used with.
  static func remedy(_ store: String) -> String {
    "Put a backup in its place; or move \(store) and \(GrantFile.journal(of: store)) away to start anew: then the log has the end of "
      + "each grant."
  }

  /// Makes the file unless it is there. Whole or not at all: a key cut short by a crash would be refused for ever.
  private static func make(at path: String) throws(KernelError) {
    let unfinished = "\(path).\(Grant.makeID())"
    let file = try Descriptor.open(unfinished, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    defer { unsafe unlink(unfinished) }
    try file.writeAll(random())
    try KernelError.check("fsync", path) { fsync(file.rawValue) }
    // Unlike a rename, this never puts a new key in the place of one that another process made meanwhile.
    do throws(KernelError) {
      try KernelError.check("link", path) { unsafe link(unfinished, path) }
    } catch {
      if error.errno != .fileExists { throw error }
    }
  }

  /// Tells keys apart, and says nothing of them: 32 hexadecimal digits.
  package var fingerprint: String {
    Hexadecimal.text(HMACSHA256.code(of: Array("ambit fingerprint 1".utf8), key: key).prefix(16))
  }

  // MARK: Sealed bytes

  /// The meaning of sealed bytes; bound into the seal, so that one can never be passed off as the other.
  package enum Purpose: String, Sendable {
    case bookmark = "ambit bookmark 1"
    case reference = "ambit reference 1"
    case transfer = "ambit transfer 1"
  }

  package enum SealError: Error, Equatable, Sendable {
    /// Not sealed with this key for this purpose, or changed since (`BMK-20`).
    case broken
  }

  package func seal(_ content: [UInt8], for purpose: Purpose) -> [UInt8] {
    ChaChaPoly.seal(content, key: key, context: Array(purpose.rawValue.utf8))
  }

  package func open(_ sealed: [UInt8], for purpose: Purpose) throws(SealError) -> [UInt8] {
    #if AMBIT_MUTANTS
      // The tag is not checked. The cipher is its own inverse: sealing the ciphertext gives the content.
      let length = sealed.count - ChaChaPoly.nonceSize - ChaChaPoly.tagSize
      if Mutant.sealUnchecked.isActive, length >= 0 {
        let (nonce, text) = (sealed.prefix(ChaChaPoly.nonceSize), sealed.dropFirst(ChaChaPoly.nonceSize).prefix(length))
        let again = ChaChaPoly.seal(Array(text), key: key, context: [], nonce: Array(nonce))
        return Array(again.dropFirst(ChaChaPoly.nonceSize).prefix(length))
      }
    #endif
    guard let content = ChaChaPoly.open(sealed, key: key, context: Array(purpose.rawValue.utf8)) else { throw .broken }
    return content
  }

  // MARK: Tokens

  /// The security-scoped token of a grant in one app instance. Nothing has to be stored for it, so it also survives
  /// the broker; another instance's token for the same grant is another one (`TOK-9`, `TOK-15`).
  package func token(instance: String, grant: String) -> String {
    #if AMBIT_MUTANTS
      let isForAll = Mutant.tokenForEver.isActive || Mutant.anyToken.isActive
      if isForAll, !instance.isEmpty { return token(instance: "", grant: grant) }
    #endif
    let code = HMACSHA256.code(of: Array("ambit token 1\0\(instance)\0\(grant)".utf8), key: key)
    // Hexadecimal: it stands in URLs and on command lines, where nothing of it means anything.
    return "\(grant).\(Hexadecimal.text(code.prefix(16)))"
  }

  /// The grant that a token opens in this instance; `nil` for any other token.
  package func grant(of token: String, instance: String) -> String? {
    guard let dot = token.firstIndex(of: ".") else { return nil }
    let grant = String(token[..<dot])
    let expected = Array(self.token(instance: instance, grant: grant).utf8)
    let given = Array(token.utf8)
    guard given.count == expected.count else { return nil }
    // In the same time wherever the difference lies.
    var difference: UInt8 = 0
    for (a, b) in zip(given, expected) { difference |= a ^ b }
    return difference == 0 ? grant : nil
  }
}
