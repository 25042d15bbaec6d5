import ArgumentParser
import Rulebook
import Terminal
import TestSupport
import Testing
import Wire

@testable import AmbitCommands

/// What `ambit rule` prints.
@Suite struct CatalogueReportTests {
  private static let plain = Style(isEnabled: false)

  private func text(_ names: String..., onlyPlanned: Bool = false, width: Int? = nil) throws -> String {
    try CatalogueReport(names, onlyPlanned: onlyPlanned).text(Self.plain, width: width)
  }

  private func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

  @Test func `a rule is shown with all that the catalogue has of it`() throws {
    for family in Rulebook.families {
      for rule in family.rules {
        let text = try text(rule.id)
        #expect(text.hasPrefix("\(rule.id), \(family.title): \(rule.state.words)\n"))
        #expect(
          text.contains("\n  \(rule.statement)\n")
            && text.hasSuffix("  Source: \(rule.source) (\(rule.strength.rawValue): \(rule.strength.words))\n"))
      }
    }
  }

  /// A line that is wider than the terminal is a single word, behind at most the columns before it.
  @Test(arguments: [62, 80, 200])
  func `on a terminal lines are wrapped between words`(width: Int) throws {
    for family in Rulebook.families {
      for line in lines(try text(family.id, width: width) + text(family.rules[0].id, width: width)) {
        let text = line.trimmingPrefix("  Source: ").drop { $0 == " " }
        #expect(displayWidth(String(line)) <= width || !text.contains(" "), "\(line)")
      }
    }
  }

  @Test func `on the narrowest terminal a statement has twenty columns`() throws {
    let text = try text("LIM-1", "LIM-2", width: 10)
    #expect(text.contains("LIM-1  in force  When a process has\n                 as many active"), "\(text)")
  }

  @Test func `in a pipe a family has a line for each rule, whatever its length`() throws {
    for family in Rulebook.families {
      let lines = lines(try text(family.id)).dropLast()
      #expect(lines.count == family.rules.count)
      for (line, rule) in zip(lines, family.rules) {
        #expect(line.hasPrefix("\(rule.id) ") && line.hasSuffix(" \(rule.statement)"))
      }
    }
  }

  @Test func `on a terminal families have headings, and rules their colours`() throws {
    let text = try CatalogueReport(["REF", "A"]).text(Style(isEnabled: true), width: 80)
    #expect(text.hasPrefix("\u{1B}[1mREF: references in the container\u{1B}[0m\n\u{1B}[36mREF-1\u{1B}[0m  "))
    #expect(text.contains("\u{1B}[32min force\u{1B}[0m") && text.contains("\n\n\u{1B}[1mA: "))
  }

  @Test func `a rule that is asked for twice is there once, and names have no case`() throws {
    #expect(try text("lim-1", "LIM", "LIM-1") == text("LIM"))
    #expect(try text("a1", "A1") == text("A1"))
  }

  private func rules(_ report: CatalogueReport) throws -> [JSON] {
    try #require(JSON(report.json.text)?["rules"]?.array)
  }

  @Test func `planned rules are told from those in force`() throws {
    let planned = Rulebook.families.flatMap(\.rules).filter { $0.state == .planned }.map(\.id)
    #expect(try rules(CatalogueReport([], onlyPlanned: true)).compactMap { $0["rule"]?.string } == planned)
    #expect(try text("A", onlyPlanned: true) == "All of these rules are in force.\n")
  }

  @Test func `as JSON a rule and a family have one shape`() throws {
    let rule = try rules(CatalogueReport(["PCK-9"]))
    #expect(
      rule.count == 1
        && rule.first?.object?.keys.sorted() == ["family", "rule", "source", "state", "statement", "strength"])
    #expect(rule.first?["rule"]?.string == "PCK-9" && rule.first?["state"]?.string == "inForce")
    #expect(try rules(CatalogueReport(["PCK"])).contains(rule[0]))
  }

  @Test func `without a name each family is counted`() throws {
    let list = CatalogueFamilies(Rulebook.families)
    let text = list.text(Table(CatalogueFamilies.columns, style: Self.plain, width: nil))
    let lines = lines(text).dropLast()
    #expect(lines.count == Rulebook.families.count + 2)
    for (line, family) in zip(lines.dropFirst(), Rulebook.families) {
      let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map(String.init)
      #expect(
        words[0] == family.id && words[1] == "\(family.count(.inForce))" && words[2] == "\(family.count(.planned))")
      #expect(line.hasSuffix(family.title))
    }
    let families = try #require(JSON(list.json.text)?["families"]?.array)
    #expect(families.map { $0["family"]?.string } == Rulebook.families.map(\.id))
    #expect(families.map { $0["inForce"]?.int } == Rulebook.families.map { $0.count(.inForce) })
    #expect(families.map { $0["planned"]?.int } == Rulebook.families.map { $0.count(.planned) })
  }

  @Test(arguments: [
    ("PCK-99", ["PCK-19", "PCK-9"]), ("PCK-27", ["PCK-26", "PCK-25", "PCK-24"]), ("PKC-9", ["PCK-9"]),
    ("pck9", ["PCK-9"]), ("picker", ["PCK"]), ("limit", ["LIM"]), ("I14", ["I13", "I12", "I11"]), ("X", []), ("", []),
    ("something else", []), (String(repeating: "PCK-9", count: 100), []),
  ])
  func `an unknown name is refused with the nearest ones`(name: String, nearest: [String]) {
    #expect(CatalogueReport.nearest(to: name) == nearest)
    #expect(throws: ValidationError.self) { try CatalogueReport(["PCK-1", name]) }
  }

  @Test func `the refusal names each unknown name, says what to do, and no name of it acts on a terminal`() {
    let error = #expect(throws: ValidationError.self) { try CatalogueReport(["PCK-99", "PCK-1", "nothing\u{1B}[2J"]) }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("The catalogue has no rule PCK-99. Did you mean PCK-19 or PCK-9?\n"), "\(message)")
    #expect(message.hasSuffix("“ambit rule” lists the families.") && !message.contains("\u{1B}"), "\(message)")
  }
}
