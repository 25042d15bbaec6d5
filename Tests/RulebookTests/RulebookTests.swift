import Rulebook
import Testing

@Suite struct `The catalogue in the program` {
  private static let rules = Rulebook.families.flatMap(\.rules)

  @Test func `has the families of statements, and the escapes after them`() {
    #expect(
      Rulebook.families.map(\.id) == [
        "SBX", "PCK", "TOK", "LIM", "BMK", "REF", "MDQ", "COO", "DOC", "PRV", "TYP", "OIP", "RST", "THM", "AUD", "FSF",
        "A", "B", "C", "D", "E", "F", "G", "H", "I",
      ])
    for family in Rulebook.families { #expect(!family.rules.isEmpty && !family.title.isEmpty, "\(family.id)") }
  }

  @Test func `has each rule once, in its family, in the order of its numbers`() throws {
    #expect(Set(Self.rules.map(\.id)).count == Self.rules.count)
    for family in Rulebook.families {
      let prefix = family.id.count == 1 ? family.id : "\(family.id)-"
      let numbers = try family.rules.map { rule in
        try #require(rule.id.hasPrefix(prefix) ? Int(rule.id.dropFirst(prefix.count)) : nil, "\(rule.id)")
      }
      #expect(numbers == numbers.sorted(), "\(family.id)")
    }
  }

  @Test func `has a statement and a source for every rule, as sentences and without a table's bars`() {
    for rule in Self.rules {
      #expect(rule.statement.hasSuffix(".") && rule.statement.count < 260, "\(rule.id)")
      #expect(!rule.source.isEmpty && !(rule.statement + rule.source).contains("|"), "\(rule.id)")
    }
  }

  @Test func `has a state for every rule, and counts them`() {
    let counted = Rulebook.families.reduce(0) { $0 + $1.count(.inForce) + $1.count(.planned) }
    #expect(counted == Self.rules.count)
    // Escapes are tried, or they are no entries.
    for family in Rulebook.families where family.id.count == 1 { #expect(family.count(.planned) == 0, "\(family.id)") }
  }

  @Test func `finds each family and each rule by its identifier, in any case`() {
    for family in Rulebook.families {
      #expect(Rulebook.named(family.id.lowercased()) == .family(family))
      for rule in family.rules { #expect(Rulebook.named(rule.id.lowercased()) == .rule(rule, in: family)) }
    }
    #expect(Rulebook.identifiers.count == Rulebook.families.count + Self.rules.count)
  }

  @Test(arguments: ["", "PCK-", "PCK-0", "PCK-99", "PCK9", "XYZ", "A2", "PCK-9 ", "ﬁ", "PCK-9\u{301}"])
  func `finds nothing under another name`(name: String) {
    #expect(Rulebook.named(name) == nil)
  }
}
