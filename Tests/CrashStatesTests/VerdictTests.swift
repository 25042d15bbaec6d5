import CrashStates
import Testing

/// Ways to save, and whether a crash can hurt them.
@Suite struct VerdictTests {
  private static let content = [create(new, ".t"), write(new, 0, "new text")]

  @Test func `a file that is written, synced, renamed, with its folder synced, is old or new`() {
    let steps =
      Self.content + [.sync(new, since: 2), rename(".t", "letter"), .sync(folder, since: 4), .acknowledge("exit")]
    let found = verdicts(trace("old", steps))
    #expect(found.keys.allSatisfy { !$0.isHarmful }, "\(found)")
    #expect(found[.wholeOld] ?? 0 > 0 && found[.wholeNew] ?? 0 > 0)
  }

  @Test func `without the file's sync it may be torn`() {
    let found = verdicts(
      trace("old", Self.content + [rename(".t", "letter"), .sync(folder, since: 3), .acknowledge("exit")]))
    #expect(found[.torn] ?? 0 > 0, "\(found)")
  }

  @Test func `without the folder's sync an acknowledged save may be lost, and nothing is torn`() {
    let found = verdicts(
      trace("old", Self.content + [.sync(new, since: 2), rename(".t", "letter"), .acknowledge("exit")]))
    #expect(found[.lost] ?? 0 > 0 && found[.torn] == nil && found[.missing] == nil, "\(found)")
  }

  @Test func `the old file's removal before the rename may leave no document`() {
    let steps =
      Self.content + [
        .sync(new, since: 2), .unlink(in: folder, name: "letter"), rename(".t", "letter"), .acknowledge("exit"),
      ]
    #expect(verdicts(trace("old", steps))[.missing] ?? 0 > 0)
  }

  @Test func `what was never acknowledged is not lost`() {
    let found = verdicts(trace("old", Self.content + [.sync(new, since: 2), rename(".t", "letter")]))
    #expect(found.keys.allSatisfy { !$0.isHarmful }, "\(found)")
  }

  @Test func `a document that is yet to be made may be absent until it is acknowledged`() {
    let steps: [Trace.Operation] = [
      create(letter, "letter"), write(letter, 0, "a"), .sync(letter, since: 2), .sync(folder, since: 3),
      .acknowledge("exit"),
    ]
    let found = verdicts(trace(nil, steps))
    // Between its making and its sync it is empty.
    #expect(
      found[.missing] == nil && found[.lost] == nil && found[.torn] ?? 0 > 0 && found[.wholeOld] ?? 0 > 0, "\(found)")
  }

  @Test func `several saves are each lost by themselves`() {
    let steps: [Trace.Operation] = [
      create(new, ".t"), write(new, 0, "first"), .sync(new, since: 2), rename(".t", "letter"), .sync(folder, since: 4),
      .acknowledge("first"), create(.init(9), ".t"), write(.init(9), 0, "second"), .sync(.init(9), since: 8),
      rename(".t", "letter"), .acknowledge("second"),
    ]
    let made = trace("old", steps)
    let versions = Versions(made, document: document) { Observation($0, at: document) }
    #expect(versions.all.map(\.acknowledged) == [0, 0, 1, 1, 2])
    let found = verdicts(made)
    #expect(found[.torn] == nil && found[.lost] ?? 0 > 0, "\(found)")
    let lost = CrashEnumeration(made, states: 10_000, seed: 1).filter {
      versions.verdict($0.observation(at: document), acknowledged: $0.acknowledged) == .lost
    }
    // The first was synced; the second was not.
    #expect(lost.allSatisfy { $0.acknowledged == 2 && $0.tree.text.contains("letter=first") })
  }

  @Test func `a package is whole as one`() {
    let package = TreePath(root: "top", ["inner"])
    let made = trace(
      nil, .create(new, .file([]), in: inner, name: "a"), write(new, 0, "x"),
      .create(letter, .file([]), in: inner, name: "b"),
      .sync(new, since: 3), .sync(inner, since: 4), .acknowledge("exit"))
    let versions = Versions(made, document: package) { Observation($0, at: package) }
    let found = Set(
      CrashEnumeration(made, states: 1000, seed: 1).map {
        versions.verdict($0.observation(at: package), acknowledged: $0.acknowledged)
      })
    #expect(found == [.wholeOld, .wholeNew, .torn])
  }

  @Test func `a link that leads out of the watched folders is never followed`() {
    let made = trace(nil, .create(letter, .link("/etc/passwd"), in: folder, name: "letter"))
    let found = CrashEnumeration(made, states: 10, seed: 1).map { $0.observation(at: document) }
    #expect(Set(found) == [.absent, .unreadable("a link leads out of the watched folders")])
    let up = trace(nil, .create(letter, .link("../../etc/passwd"), in: folder, name: "letter"))
    #expect(Observation(up.initial, at: document) == .absent)
    let last = CrashEnumeration(up, states: 10, seed: 1).first { $0.tree.text.contains("letter") }
    #expect(last?.observation(at: document) == .unreadable("a link leads out of the watched folders"))
  }

  @Test func `a story names the steps that are not on the disk`() throws {
    let made = trace("old", Self.content + [rename(".t", "letter"), .sync(folder, since: 3), .acknowledge("exit")])
    let versions = Versions(made, document: document) { Observation($0, at: document) }
    let torn = CrashEnumeration(made, states: 10_000, seed: 1).filter {
      versions.verdict($0.observation(at: document), acknowledged: $0.acknowledged) == .torn
    }
    let best = try #require(torn.min { Story.length($0) < Story.length($1) })
    let story = Story(best)
    #expect(story.losses == 1)
    #expect(story.rows.map(\.text) == ["create .t", "write 8 bytes at 0 of .t", "rename .t to letter"])
    #expect(story.rows.map(\.isLoss) == [false, true, false])
  }
}
