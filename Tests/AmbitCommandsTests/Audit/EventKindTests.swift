import ArgumentParser
import Audit
import Testing

@testable import AmbitCommands

@Suite struct EventKindTests {
  @Test func `every kind is taken by its name`() throws {
    for kind in AuditEvent.Kind.known { #expect(try AuditEvent.Kind.named(kind.rawValue) == kind) }
  }

  @Test(arguments: [
    ("grnt", "did you mean \"grant\"?"), ("Grant", "did you mean \"grant\"?"),
    ("bookmark", "\"bookmarkCreated\" or \"bookmarkResolved\""), ("xyzzy", "is none. The kinds: "),
    ("", "is none. The kinds: "), ("a\u{1b}[1m", "\\u{1b}"),
  ])
  func `another word is refused with the nearest kinds`(word: String, part: String) {
    #expect { try AuditEvent.Kind.named(word) } throws: { "\($0)".contains(part) && "\($0)".contains("launch, ") }
  }

  @Test(arguments: [
    ["log", "--kind", "grnt"], ["export", "--as", "jsonl", "--to", "-", "--kind", "grnt"],
  ])
  func `the commands that take a kind refuse one that there is not, with 64`(words: [String]) {
    #expect {
      _ = try AuditCommand.parseAsRoot(words)
    } throws: {
      AuditCommand.exitCode(for: $0).rawValue == 64 && AuditCommand.message(for: $0).contains("did you mean \"grant\"?")
    }
  }
}
