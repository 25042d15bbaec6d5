import CrashStates
import Testing

/// Small traces, and exactly the states that a crash may leave of each.
@Suite struct StateSetTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    let trace: Trace
    let states: Set<String>
    init(_ name: String, _ trace: Trace, _ states: Set<String>) {
      (self.name, self.trace, self.states) = (name, trace, states)
    }
    var testDescription: String { name }
  }

  static let rows = [
    Row(
      "a write over content", trace("oooo", write(letter, 0, "nnnn")),
      [
        "letter=oooo", "letter=nnnn", "letter=nnoo", "letter=oonn",
      ]),
    Row(
      "a synced write", trace("oooo", write(letter, 0, "nnnn"), .sync(letter, since: 1)),
      [
        "letter=oooo", "letter=nnnn", "letter=nnoo", "letter=oonn",
      ]),
    Row(
      "an append", trace("oo", write(letter, 2, "nn")),
      [
        "letter=oo", "letter=oonn", "letter=oon0", "letter=oo0n", "letter=oo00",
      ]),
    Row("an append of one byte", trace("oo", write(letter, 2, "n")), ["letter=oo", "letter=oon", "letter=oo0"]),
    Row(
      "a truncation and a write", trace("oooo", .resize(letter, 0), write(letter, 0, "nn")),
      [
        "letter=oooo", "letter=", "letter=nn", "letter=n0", "letter=0n", "letter=00",
      ]),
    Row(
      "two writes out of order", trace("oo", write(letter, 0, "a"), write(letter, 1, "b")),
      [
        "letter=oo", "letter=ao", "letter=ob", "letter=ab",
      ]),
    Row(
      "a write over a write", trace("o", write(letter, 0, "a"), write(letter, 0, "b")),
      [
        "letter=o", "letter=a", "letter=b",
      ]),
    Row("a growing truncation", trace("o", .resize(letter, 2)), ["letter=o", "letter=o0"]),
    Row(
      "a new file", trace("o", create(new, "n"), write(new, 0, "a")),
      [
        "letter=o", "letter=o n=", "letter=o n=0", "letter=o n=a",
      ]),
    Row(
      "a new file, its folder synced", trace("o", create(new, "n"), .sync(folder, since: 1), write(new, 0, "a")),
      [
        "letter=o", "letter=o n=", "letter=o n=0", "letter=o n=a",
      ]),
    Row(
      "names in order", trace(nil, create(new, "a"), rename("a", "b"), .unlink(in: folder, name: "b")),
      [
        "", "a=", "b=",
      ]),
    Row(
      "a synced rename, by its folder",
      trace("o", create(new, "n"), rename("n", "letter"), .sync(folder, since: 2), .acknowledge("")),
      [
        "letter=o", "letter=o n=", "letter=",
      ]),
    Row(
      "an exchange",
      trace(
        "o", create(new, "n"), .sync(folder, since: 1),
        .exchange(in: folder, name: "n", with: folder, as: "letter")), ["letter=o", "letter=o n=", "letter= n=o"]),
    // In both folders or in neither, though their other changes are not ordered.
    Row(
      "a rename from folder to folder",
      trace(nil, create(new, "a"), .rename(in: folder, name: "a", to: inner, as: "b")),
      [
        "", "a=", "inner/b=",
      ]),
    Row(
      "changes of two folders", trace(nil, create(new, "a"), .create(letter, .file([]), in: inner, name: "b")),
      [
        "", "a=", "inner/b=", "a= inner/b=",
      ]),
    Row(
      "a folder that may be gone with its content",
      trace(
        nil, .create(new, .folder([:]), in: folder, name: "f"),
        .create(letter, .file([]), in: new, name: "b"), .sync(new, since: 2)), ["", "f/", "f/ f/b="]),
    Row("a link", trace(nil, .create(new, .link("elsewhere"), in: folder, name: "l")), ["", "l->elsewhere"]),
    Row(
      "a file without a name",
      trace(nil, .appear(new), write(new, 0, "a"), .sync(new, since: 2), .link(new, in: folder, name: "n")),
      [
        "", "n=a",
      ]),
    Row(
      "a sync of everything",
      trace("o", write(letter, 0, "n"), create(new, "n"), .syncAll(since: 2), write(letter, 0, "m")),
      [
        "letter=o", "letter=n", "letter=o n=", "letter=n n=", "letter=m n=",
      ]),
  ]

  @Test(arguments: rows) func `a trace has exactly these states`(row: Row) { #expect(states(row.trace) == row.states) }

  @Test func `each block of a write is there, or not, or one half of it`() {
    let block = 4096
    let old = String(repeating: "o", count: 3 * block)
    let made = trace(old, write(letter, 0, String(repeating: "n", count: 3 * block)))
    let enumeration = CrashEnumeration(made, states: 100, seed: 1)
    #expect(enumeration.isExhaustive)
    // Of each half block, whether it is new.
    let found = Set(
      enumeration.map { state -> [Bool] in
        guard case .file(let content)? = state.tree.nodes[letter] else { return [] }
        return stride(from: 0, to: 3 * block, by: block / 2).map { content[$0] == UInt8(ascii: "n") }
      })
    #expect(found.count == 64)
  }

  @Test func `a write that begins within a block tears at that block's border`() {
    let made = trace(String(repeating: "o", count: 8192), write(letter, 4095, "nn"))
    #expect(CrashEnumeration(made, states: 100, seed: 1).map(\.digest).count == 4)
  }

  @Test func `a sync covers what was written before it began, and nothing that came meanwhile`() {
    // Another thread writes between the beginning and the end of the call.
    let steps: [Trace.Operation] = [
      write(letter, 0, "a"), write(letter, 1, "b"), .sync(letter, since: 1), .acknowledge(""),
    ]
    let last = CrashEnumeration(trace("oo", steps), states: 1000, seed: 1).filter { $0.acknowledged == 1 }
    #expect(Set(last.map(\.tree.text)) == ["letter=ao", "letter=ab"])
  }

  @Test func `a sync of a folder makes the other folder of a rename safe, with all before it there`() {
    let steps: [Trace.Operation] = [
      create(new, "a"), .rename(in: folder, name: "a", to: inner, as: "b"), .sync(inner, since: 2), .acknowledge(""),
    ]
    let last = CrashEnumeration(trace(nil, steps), states: 1000, seed: 1).filter { $0.acknowledged == 1 }
    #expect(last.map(\.tree.text) == ["inner/b="])
  }
}
