import TestSupport
import Testing

@testable import Terminal

@Suite struct `Tables` {
  static let columns = [
    Table.Column("name"), Table.Column("size", alignment: .trailing), Table.Column("where", keeping: .end),
  ]

  @Test func `columns are as wide as their longest cell, and lines end without blanks`() {
    let table = Table(Self.columns, style: Style(isEnabled: false), width: nil)
    let text = table.render([
      ["notes.txt", "7", "/home/alice/notes.txt"],
      ["日本語", "1024", ""],
      ["x"],
    ])
    #expect(
      text == """
        name       size  where
        notes.txt     7  /home/alice/notes.txt
        日本語     1024
        x

        """)
  }

  @Test func `a header stands alone when there are no rows`() {
    let table = Table(Self.columns, style: Style(isEnabled: false), width: 80)
    #expect(table.render([]) == "name  size  where\n")
  }

  @Test func `on a narrow terminal the column gives way that has most to give`() {
    let table = Table(Self.columns, style: Style(isEnabled: false), width: 26)
    let text = table.render([["notes.txt", "7", "/home/alice/notes.txt"]])
    #expect(
      text == """
        name       size  where
        notes.txt     7  …otes.txt

        """)
  }

  @Test func `a column takes no more than its maximum, on a terminal`() {
    let column = Table.Column("name", maxWidth: 5)
    let row: [Table.Cell] = ["much too long"]
    #expect(Table([column], style: Style(isEnabled: false), width: 80).render([row]) == "name\nmuch…\n")
    #expect(Table([column], style: Style(isEnabled: false), width: nil).render([row]) == "name\nmuch too long\n")
  }

  @Test func `escape codes stand around the text and not around the blanks`() {
    let table = Table([Table.Column("a"), Table.Column("b")], style: Style(isEnabled: true), width: 80)
    let layout = table.layout([[Table.Cell("wide one"), "z"]])
    #expect(layout.line([Table.Cell("no", .red), "z"]) == "\u{1b}[31mno\u{1b}[0m        z")
  }

  @Test func `nothing in a cell reaches the terminal as an escape code or a second line`() {
    let table = Table([Table.Column("name"), Table.Column("b")], style: Style(isEnabled: false), width: nil)
    let text = table.render([["evil\u{1b}]0;title\u{7}\nline", "z"]])
    #expect(text == "name                            b\nevil\\u{1b}]0;title\\u{07}\\nline  z\n")
  }

  // MARK: Identifiers and times

  /// As a list of grants has them.
  static let grants = [
    Table.Column("APP", .identifier, minWidth: 8, keeping: .end), Table.Column("DOCUMENT", minWidth: 8, keeping: .end),
    Table.Column("SHA", .extra, minWidth: 12), Table.Column("USED", minWidth: 10), Table.Column("BY", .extra),
  ]
  static let grant: [Table.Cell] = [
    "io.ambit.demo.particles", "/home/ada/Fire.particles", "6c041c45e958",
    Table.Cell("2026-01-01 09:30", short: "2026-01-01"), "you",
  ]

  private func lines(width: Int?) -> [String] {
    Table(Self.grants, style: Style(isEnabled: false), width: width).render([Self.grant]).split(separator: "\n")
      .map(String.init)
  }

  @Test func `all is there where there is room, and where the output is no terminal`() {
    for width in [86, 120, nil] {
      #expect(
        lines(width: width) == [
          "APP                      DOCUMENT                  SHA           USED              BY",
          "io.ambit.demo.particles  /home/ada/Fire.particles  6c041c45e958  2026-01-01 09:30  you",
        ])
    }
  }

  @Test func `short forms come before anything is cut, and texts are cut before a column is left out`() {
    #expect(
      lines(width: 80)[1] == "io.ambit.demo.particles  /home/ada/Fire.particles  6c041c45e958  2026-01-01  you")
    #expect(lines(width: 65)[1] == "io.ambit.demo.particles  …articles  6c041c45e958  2026-01-01  you")
  }

  @Test func `columns of little worth are left out before an identifier is cut, the last one first`() {
    #expect(
      lines(width: 63) == [
        "APP                      DOCUMENT      SHA           USED",
        "io.ambit.demo.particles  …e.particles  6c041c45e958  2026-01-01",
      ])
    #expect(
      lines(width: 56) == [
        "APP                      DOCUMENT             USED",
        "io.ambit.demo.particles  …ada/Fire.particles  2026-01-01",
      ])
  }

  @Test func `an identifier is cut when nothing else can give way, and a time never`() {
    #expect(lines(width: 40)[1] == "…it.demo.particles  …rticles  2026-01-01")
    #expect(lines(width: 30)[1] == "…rticles  …rticles  2026-01-01")
  }

  @Test func `on every terminal the identifier is whole before others are cut, and no time is cut`() {
    for width in 45...90 {
      let line = lines(width: width)[1]
      #expect(displayWidth(line) <= width)
      #expect(line.hasPrefix("io.ambit.demo.particles  "), "\(width)")
      #expect(line.contains("2026-01-01"), "\(width)")
      #expect(!line.contains("2026-01-01 0") || line.contains("2026-01-01 09:30"), "\(width)")
    }
    for width in 30..<45 {
      let line = lines(width: width)[1]
      #expect(displayWidth(line) <= width)
      #expect(line.hasPrefix("…") && line.hasSuffix("2026-01-01"), "\(width)")
    }
  }

  @Test func `rows come out aligned and within the terminal, whatever is in them`() {
    let pieces = ["a", "日", "e\u{301}", "😀", " ", "/", "\u{1b}[0m", "x"]
    var generator = Seeded(seed: 3)
    for _ in 0..<300 {
      let width = Int.random(in: 20..<60, using: &generator)
      let rows: [[Table.Cell]] = (0..<4).map { _ in
        (0..<3).map { _ in
          Table.Cell(
            (0..<Int.random(in: 0..<20, using: &generator))
              .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
        }
      }
      let columns = [Table.Column("a"), Table.Column("b", alignment: .trailing), Table.Column("c", keeping: .end)]
      let layout = Table(columns, style: Style(isEnabled: false), width: width).layout(rows)
      #expect(layout.widths.reduce(0, +) + 4 <= width)
      for row in rows {
        let line = layout.line(row)
        #expect(displayWidth(line) <= width)
        // The last column's text starts where its column starts, on every row that has one.
        let last = truncated(printable(row[2].text), to: layout.widths[2], keeping: .end)
        if !last.isEmpty {
          #expect(line.hasSuffix(last))
          #expect(displayWidth(line) - displayWidth(last) == layout.widths[0] + layout.widths[1] + 4)
        }
      }
    }
  }
}
