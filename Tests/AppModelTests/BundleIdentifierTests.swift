import TestSupport
import Testing

@testable import AppModel

@Suite struct BundleIdentifierTests {
  @Test(arguments: [
    "a", "A", "0", "org.example.notes", "org.example-2.Notes", "a.-b", "a-", String(repeating: "x", count: 255),
  ])
  func `these are identifiers`(text: String) {
    #expect(BundleIdentifier.check(text) == nil)
    #expect(BundleIdentifier(text)?.description == text)
  }

  @Test(arguments: [
    ("", "it is empty"),
    (".", "it begins with '.'"),
    ("..", "it begins with '.'"),
    (".hidden", "it begins with '.'"),
    ("-rf", "it begins with '-'"),
    ("a..b", "it has '..' in it"),
    ("a.", "it ends with '.'"),
    ("a/b", "it has the character \"/\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a\\b", "it has the character \"\\\\\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a b", "it has the character \" \", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a_b", "it has the character \"_\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a\0b", "it has the character \"\\u{0}\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a\nb", "it has the character \"\\n\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("é", "it has the character \"é\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    ("a\u{301}", "it has the character \"\u{301}\", and only A-Z, a-z, 0-9, '.' and '-' are allowed"),
    (String(repeating: "x", count: 256), "it is 256 bytes long, and 255 are allowed"),
  ])
  func `these are not, for a reason`(text: String, reason: String) {
    #expect(BundleIdentifier.check(text) == reason)
    #expect(BundleIdentifier(text) == nil)
  }

  @Test(arguments: [
    ("/usr/bin/foo", "program.foo"),
    ("foo", "program.foo"),
    ("./foo.sh", "program.foo.sh"),
    ("/usr/bin/", "program.bin"),
    ("/opt/My Program", "program.My-Program"),
    ("/usr/bin/[", "program.unnamed"),
    ("/usr/bin/g++", "program.g"),
    ("g++-12", "program.g-12"),
    ("..", "program.unnamed"),
    (".hidden", "program.hidden"),
    ("a..b", "program.a.b"),
    ("a._.b", "program.a.b"),
    ("-rf", "program.rf"),
    ("", "program.unnamed"),
    ("/", "program.unnamed"),
    ("été", "program.t"),
    (String(repeating: "x", count: 300), "program." + String(repeating: "x", count: 234)),
  ])
  func `a program gets an identifier from its file name and its path`(path: String, identifier: String) throws {
    let own = AppBundle.identifier(forProgram: path)
    #expect(own.hasPrefix(identifier + "-") && own.utf8.count == identifier.utf8.count + 13, "\(own)")
    let digits = own.suffix(12)
    #expect(digits.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    // Another one of the same name is another app.
    #expect(AppBundle.identifier(forProgram: "/elsewhere" + path) != own)
  }

  @Test func `the identifier of a program is the beginning of its path's SHA-256`() {
    // printf /usr/bin/sh | sha256sum
    #expect(BundleIdentifier.forProgram("/usr/bin/sh") == "program.sh-1df414652da8")
  }

  @Test func `what is not the app that its identifier belongs to gets one that no manifest can have`() throws {
    let digest = try #require(AppDigest(hexadecimal: String(repeating: "0f", count: 32)))
    #expect(BundleIdentifier.forAnother("io.ambit.Ed", digest, attempt: 1) == "another.io.ambit.Ed-0f0f0f0f0f0f")
    #expect(BundleIdentifier.forAnother("io.ambit.Ed", digest, attempt: 2) == "another.io.ambit.Ed-0f0f0f0f0f0f-2")
    let long = BundleIdentifier.forAnother(String(repeating: "a.", count: 127) + "a", digest, attempt: 12)
    #expect(BundleIdentifier.check(long) == nil && long.utf8.count <= BundleIdentifier.maximumLength, "\(long)")
  }

  @Test func `whatever a program is called, its identifier is one and stays a single folder`() {
    var random = Seeded(seed: 7)
    let alphabet = Array("ab.-_/\\ é\u{0}\n~") + ["\u{301}", "…"]
    for _ in 0..<20_000 {
      let path = String(
        (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
      let identifier = AppBundle.identifier(forProgram: path)
      #expect(BundleIdentifier.check(identifier) == nil, "\(path.quoted) → \(identifier)")
      #expect(identifier.hasPrefix("program."))
    }
  }

  @Test(arguments: [
    ("Notes.app", true), ("/x/Notes.app", true), ("/x/Notes.app/", true), ("Notes", false), (".app", false),
    ("/x.app/notes", false), ("", false), ("a\u{1B}.app", false),
  ])
  func `a bundle's path ends in .app`(path: String, expected: Bool) {
    #expect(AppBundle.isBundlePath(path) == expected)
  }

  @Test(arguments: [
    ("plain", "\"plain\""), ("a\"b\\", "\"a\\\"b\\\\\""), ("\u{1B}[2J", "\"\\u{1b}[2J\""), ("a\r\nb", "\"a\\r\\nb\""),
    ("a\u{202E}b", "\"a\\u{202e}b\""), ("👩‍👧", "\"👩‍👧\""),
    (String(repeating: "x", count: 81), "\"" + String(repeating: "x", count: 80) + "…\""),
  ])
  func `what was found in a file is quoted so that it cannot steer a terminal`(text: String, quoted: String) {
    #expect(text.quoted == quoted)
  }
}
