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

  @Test func `rows come out aligned and within the terminal, whatever is in them`() {
    let pieces = ["a", "日", "e\u{301}", "😀", " ", "/", "\u{1b}[0m", "x"]
    var generator = SplitMix(seed: 3)
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
