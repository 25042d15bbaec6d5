import TestSupport
import Testing

@testable import PickerUI

@Suite struct FuzzyMatchTests {
  private static func score(_ query: String, _ name: String) -> Int32? {
    var match = FuzzyMatch()
    return match.score(FuzzyQuery(query), NameTable([Entry(name: FileName(name), kind: .file)]), 0)
  }

  /// Names of a folder that answer, the best first.
  private static func ranked(_ query: String, _ names: String...) -> [String] {
    let table = NameTable(names.map { Entry(name: FileName($0), kind: .file) })
    return NameFilter(FuzzyQuery(query), table, among: Array(names.indices)).ranked.map { names[$0] }
  }

  /// As many names as several threads share.
  @Test func manyNamesAreRankedAsOneByOne() {
    let count = 9000
    let names = (0..<count).map { "Report \($0 * 7919 % count) draft\($0 % 7 == 0 ? " 2" : "").txt" }
    let table = NameTable(names.map { Entry(name: FileName($0), kind: .file) })
    let query = FuzzyQuery("rp42")
    var match = FuzzyMatch()
    let expected = (0..<count).compactMap { index in
      match.score(query, table, index).map { (score: $0, length: table.length(index), index: index) }
    }
    let filter = NameFilter(query, table, among: Array(0..<count))
    #expect(filter.found == expected.map(\.index))
    #expect(filter.found.count > 100)
    let ranked = expected.sorted { ($1.score, $0.length, $0.index) < ($0.score, $1.length, $1.index) }
    #expect(filter.ranked == ranked.map(\.index))
  }

  /// By hand from fzf's description: 16 a character, its bonus, the first one's twice, 3 for a gap and 1 for each further character.
  @Test(
    arguments: [
      ("n", "notes", 16 + 20), ("o", "notes", 16), ("no", "notes", 36 + 26), ("nt", "notes", 36 - 3 + 16),
      ("ns", "notes", 36 - 3 - 1 - 1 + 16), ("t", "my notes.txt", 16 + 16), ("mn", "my notes", 36 - 3 - 1 + 26),
      ("b", "fooBar", 16 + 14), ("1", "foo12", 16 + 14), ("b", "foo-bar", 16 + 16), ("b", "foo:bar", 16 + 18),
      ("'otes", "notes", 16 * 4 + 3 * 4), ("^no", "notes", 62), ("tes$", "notes", 16 * 3 + 2 * 4),
      ("^notes$", "notes", 140),
      ("no !x", "notes", 62), ("no es", "notes", 62 + 36),
    ] as [(String, String, Int32)])
  func `Scores are fzf's`(query: String, name: String, score: Int32) {
    #expect(Self.score(query, name) == score)
  }

  @Test(arguments: [
    ("tn", "notes.txt."), ("xyz", "notes"), ("notess", "notes"), ("ee", "e"), ("'ts", "notes"), ("^otes", "notes"),
    ("note$", "notes"), ("^note$", "notes"), ("!o", "notes"), ("Notes", "notes"), ("é", "cafe"), ("a b", "a"),
  ])
  func `The filter wants all its letters, in order`(query: String, name: String) {
    #expect(Self.score(query, name) == nil)
  }

  @Test(arguments: [
    ("", "anything"), ("notes", "NOTES"), ("Notes", "Notes"), ("cafe", "CAFÉ"), ("é", "CAFÉ"), ("é", "cafe\u{301}"),
    ("日", "日本"), ("cafe\u{301}", "Café"), ("a\\ b", "xa b"), ("'", "anything"), ("$", "a$"), ("!x", "日"), ("!é", "e"),
  ])
  func `Case counts where there is a capital, an accent where there is one`(query: String, name: String) {
    #expect(Self.score(query, name) != nil)
  }

  @Test func `The best comes first, then the shorter, then the order of the folder`() {
    #expect(Self.ranked("ab", "xab", "axb", "abc", "ab", "acb", "q") == ["ab", "abc", "axb", "acb", "xab"])
    #expect(Self.ranked("b", "foobar", "foo-bar", "fooBar", "bar") == ["bar", "foo-bar", "fooBar", "foobar"])
    #expect(Self.ranked("!a", "zz", "ba", "y") == ["zz", "y"])
  }

  @Test(
    arguments: [
      ("no", "Notes", [0, 1]), ("ts", "Notes", [2, 4]), ("e", "Été", [0]), ("", "Notes", []), ("q", "Notes", []),
      ("本", "日本", [1]), ("nt x", "n.tx", [0, 2, 3]), ("!q", "Notes", []), ("bar", "a-b-bar", [4, 5, 6]),
      ("a", "\r\na", [1]),
    ] as [(String, String, Set<Int>)])
  func `The matched letters are known for emphasis`(query: String, name: String, letters: Set<Int>) {
    #expect(Emphasis.characters(of: FuzzyQuery(query), in: name) == letters)
  }

  @Test func `Every name that matches has letters to emphasise, and no other has`() {
    var random = Seeded(seed: 5)
    let letters = Array("abAB.é-1")
    for _ in 0..<Rounds.few(500, of: 3000) {
      func text(_ count: Int) -> String {
        String((0..<count).compactMap { _ in letters.randomElement(using: &random) })
      }
      let (name, query) = (text(8), text(.random(in: 1...4, using: &random)))
      let found = Emphasis.characters(of: FuzzyQuery(query), in: name)
      #expect(found.isEmpty == (Self.score(query, name) == nil), "\(query) in \(name)")
      // The characters at these places are the query, in order.
      let shown = name.enumerated().filter { found.contains($0.offset) }.map { String($0.element) }.joined()
      if !found.isEmpty { #expect(Self.score("'" + query, shown) != nil, "\(query) in \(name)") }
    }
  }

  @Test func `A query narrows another only where no sign could turn it round`() {
    #expect(FuzzyQuery.narrows("a", to: "ab") && FuzzyQuery.narrows("a ", to: "a !b"))
    #expect(!FuzzyQuery.narrows("!a", to: "!ab") && !FuzzyQuery.narrows("a$", to: "a$b"))
    #expect(!FuzzyQuery.narrows("", to: "a") && !FuzzyQuery.narrows("ab", to: "a"))
  }
}
