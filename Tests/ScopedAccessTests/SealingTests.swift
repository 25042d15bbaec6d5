import Folders
import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `Bookmarks and references under seal` {
  let key = SealingKey(bytes: SealingKey.random())
  let bookmark = Bookmark(
    bundleIdentifier: "io.ambit.editor", grant: "abcdefghij", rights: .readWrite, path: "/home/user/Größe – 1.txt")

  private func opens(_ sealed: [UInt8], with key: SealingKey? = nil, for purpose: SealingKey.Purpose = .bookmark)
    -> Bool
  {
    (try? Bookmark.open(sealed, with: key ?? self.key, for: purpose, app: "io.ambit.editor")) != nil
  }

  @Test(arguments: [SealingKey.Purpose.bookmark, .reference])
  func `BMK-3: what was sealed opens again, whole`(purpose: SealingKey.Purpose) throws {
    let sealed = bookmark.sealed(with: key, for: purpose)
    #expect(try Bookmark.open(sealed, with: key, for: purpose, app: "io.ambit.editor") == bookmark)
  }

  private var full: Bookmark {
    let identity = FileIdentity(
      volume: Array(0..<16), handle: Kernel.FileHandle(type: -1, bytes: [9, 8, 7]), inode: .max, birth: -5)
    return Bookmark(
      bundleIdentifier: "io.ambit.editor", grant: "abcdefghij", rights: .readOnly, path: "/home/user/Größe – 1.txt",
      identity: identity, place: Place(folder: identity, name: "Größe – 1.txt"), created: 1_790_000_000_123_456_789,
      scope: .document(.init(grant: "jihgfedcba", identity: identity)),
      values: .init(
        keys: ["NSURLNameKey", "x"], kind: .package, size: .max, birth: 0, modified: .min, volumeName: "Disk"),
      inside: .init(path: "a/b", identity: identity))
  }

  @Test func `BMK-22: everything that it can hold comes back`() throws {
    #expect(Bookmark(bytes: full.bytes) == full)
    let implicit = Bookmark(
      bundleIdentifier: "a", grant: "b", rights: .readWrite, path: "", scope: .implicit(boot: "0a-1b"))
    #expect(Bookmark(bytes: implicit.bytes) == implicit)
    #expect(Bookmark(bytes: bookmark.bytes) == bookmark)
    // Cut or prolonged it is none, sealed or not.
    for length in 0..<full.bytes.count { #expect(Bookmark(bytes: Array(full.bytes[..<length])) == nil, "\(length)") }
    #expect(Bookmark(bytes: full.bytes + [0]) == nil)
    #expect(Bookmark(bytes: [3] + full.bytes.dropFirst()) == nil)
  }

  @Test func `whatever lies under a seal, reading it ends well`() {
    var generator = Seeded(seed: 22)
    for _ in 0..<Rounds.few(4_000, of: 20_000) {
      var bytes = full.bytes
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: .min ... .max, using: &generator)
      }
      if let read = Bookmark(bytes: bytes) { #expect(read.bytes.count == bytes.count) }
    }
  }

  @Test func `BMK-3: it opens with the key read anew`() throws {
    let bytes = SealingKey.random()
    let sealed = bookmark.sealed(with: SealingKey(bytes: bytes), for: .bookmark)
    #expect(opens(sealed, with: SealingKey(bytes: bytes)))
  }

  @Test func `nothing of it can be read, and no two are alike`() {
    let first = bookmark.sealed(with: key, for: .bookmark)
    let second = bookmark.sealed(with: key, for: .bookmark)
    #expect(first != second)
    for words in ["io.ambit", "abcdefghij", "home", "readWrite"] {
      #expect(Data(first).range(of: Data(words.utf8)) == nil, "\(words)")
    }
  }

  @Test func `BMK-20: no change of a byte goes unnoticed`() throws {
    let sealed = bookmark.sealed(with: key, for: .bookmark)
    try #require(opens(sealed))
    for index in sealed.indices {
      for flip in [UInt8(1), 0x80, 0xff] {
        var changed = sealed
        changed[index] ^= flip
        #expect(!opens(changed), "byte \(index) ^ \(flip)")
      }
    }
  }

  @Test func `BMK-20: cut to any length, or longer, it does not open`() {
    let sealed = bookmark.sealed(with: key, for: .bookmark)
    for length in 0..<sealed.count { #expect(!opens(Array(sealed[..<length])), "\(length)") }
    for length in 1...sealed.count { #expect(!opens(Array(sealed[length...])), "without the first \(length)") }
    #expect(!opens(sealed + [0]))
    #expect(!opens([0] + sealed))
    #expect(!opens(sealed + sealed))
  }

  @Test func `a bookmark is no reference, and a reference no bookmark`() {
    #expect(!opens(bookmark.sealed(with: key, for: .bookmark), for: .reference))
    #expect(!opens(bookmark.sealed(with: key, for: .reference), for: .bookmark))
  }

  @Test func `another user's key does not open it`() {
    #expect(!opens(bookmark.sealed(with: key, for: .bookmark), with: SealingKey(bytes: SealingKey.random())))
  }

  @Test(arguments: [
    "io.ambit.edito", "io.ambit.editor2", "io.ambit.Editor", "io.ambit.snooper", "", "io.ambit.editor\0",
  ])
  func `BMK-4: another app does not open it`(app: String) {
    let sealed = bookmark.sealed(with: key, for: .bookmark)
    #expect(throws: Bookmark.OpenError.otherApp("io.ambit.editor")) {
      try Bookmark.open(sealed, with: key, for: .bookmark, app: app)
    }
  }

  @Test func `sealed bytes that hold no bookmark are refused`() {
    for content in ["", "{}", "[]", #"{"bundleIdentifier":"io.ambit.editor"}"#, "\u{0}"] {
      #expect(throws: Bookmark.OpenError.brokenSeal) {
        try Bookmark.open(
          key.seal(Array(content.utf8), for: .bookmark), with: key, for: .bookmark, app: "io.ambit.editor")
      }
    }
  }

  @Test func `BMK-20: 50,000 random blobs never open`() {
    var generator = Seeded(seed: 20)
    let sealed = bookmark.sealed(with: key, for: .bookmark)
    var opened = 0
    for _ in 0..<Rounds.few(8_000, of: 50_000) {
      // Half of them are cut and changed from a real one: nearer to the truth than noise.
      var blob = Array(sealed.prefix(Int.random(in: 0...sealed.count, using: &generator)))
      if Bool.random(using: &generator) {
        blob = (0..<Int.random(in: 0...200, using: &generator)).map { _ in .random(in: .min ... .max, using: &generator)
        }
      } else if let index = blob.indices.randomElement(using: &generator) {
        blob[index] ^= .random(in: 1...255, using: &generator)
      }
      if blob != sealed, (try? key.open(blob, for: .bookmark)) != nil { opened += 1 }
    }
    #expect(opened == 0)
    #expect((try? key.open(sealed, for: .bookmark)) != nil)
  }
}

@Suite struct `Security-scoped tokens` {
  let key = SealingKey(bytes: SealingKey.random())

  @Test func `a token opens its grant in its own launch, also for a broker that was started anew`() {
    let bytes = SealingKey.random()
    let token = SealingKey(bytes: bytes).token(instance: "one", grant: "abcdefghij")
    #expect(SealingKey(bytes: bytes).grant(of: token, instance: "one") == "abcdefghij")
  }

  @Test func `TOK-9, TOK-15: another launch's token is none`() {
    let token = key.token(instance: "one", grant: "abcdefghij")
    #expect(token != key.token(instance: "two", grant: "abcdefghij"))
    for instance in ["two", "", "one ", "on", "One", "one\0abcdefghij", "\0one"] {
      #expect(key.grant(of: token, instance: instance) == nil, "\(instance)")
    }
  }

  @Test func `TOK-15: a token of another key is none`() {
    let token = SealingKey(bytes: SealingKey.random()).token(instance: "one", grant: "abcdefghij")
    #expect(key.grant(of: token, instance: "one") == nil)
  }

  @Test func `a token does not open another grant`() throws {
    let token = key.token(instance: "one", grant: "abcdefghij")
    let code = try #require(token.split(separator: ".").last)
    #expect(key.grant(of: "abcdefghik.\(code)", instance: "one") == nil)
    #expect(key.grant(of: ".\(code)", instance: "one") == nil)
    #expect(key.grant(of: "\(code)", instance: "one") == nil)
  }

  @Test func `instance and grant cannot be shifted into each other`() {
    #expect(key.token(instance: "ab", grant: "c") != key.token(instance: "a", grant: "bc"))
    let shifted = key.token(instance: "ab", grant: "c").replacing("c.", with: "bc.")
    #expect(key.grant(of: shifted, instance: "a") == nil)
  }

  @Test func `no mutation of a token is one`() {
    let token = Array(key.token(instance: "one", grant: "abcdefghij").utf8)
    for index in token.indices {
      for replacement in Array("0123456789abcdefghijz.A\0".utf8) where replacement != token[index] {
        var changed = token
        changed[index] = replacement
        #expect(key.grant(of: String(decoding: changed, as: UTF8.self), instance: "one") == nil)
      }
    }
    for length in 0..<token.count {
      #expect(key.grant(of: String(decoding: token[..<length], as: UTF8.self), instance: "one") == nil)
    }
    let whole = String(decoding: token, as: UTF8.self)
    for text in [whole + "0", whole + "\0", " " + whole, whole.uppercased(), whole + whole] {
      #expect(key.grant(of: text, instance: "one") == nil)
    }
    #expect(key.grant(of: whole, instance: "one") == "abcdefghij")
  }

  @Test func `random texts are no tokens`() {
    var generator = Seeded(seed: 7)
    let letters = Array("abcdefghij0123456789.")
    for _ in 0..<Rounds.few(4_000, of: 20_000) {
      let text = String((0..<43).map { _ in letters.randomElement(using: &generator) ?? "." })
      #expect(key.grant(of: text, instance: "one") == nil)
    }
  }
}
