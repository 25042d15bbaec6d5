internal import Rulebook
package import Terminal
package import Wire

/// The catalogue's families, each with the number of its rules.
package struct CatalogueFamilies {
  package static let columns: [Table.Column] = [
    .init("FAMILY"), .init("IN FORCE", alignment: .trailing, minWidth: 8),
    .init("PLANNED", alignment: .trailing, minWidth: 7), .init("RULES ABOUT", minWidth: 11),
  ]

  private let families: [RuleFamily]

  init(_ families: [RuleFamily]) { self.families = families }

  /// - Parameter table: one of ``columns``.
  package func text(_ table: Table) -> String {
    let rows = families.map { family in
      [
        Table.Cell(family.id, .cyan), count(family, .inForce, .green), count(family, .planned, .yellow),
        Table.Cell(family.title),
      ]
    }
    return table.render(rows) + "\(total(.inForce)) rules are in force, \(total(.planned)) are planned.\n"
  }

  package var json: JSONObject {
    [
      "families": .array(
        families.map { family in
          [
            "family": .string(family.id), "about": .string(family.title),
            "inForce": JSONValue(family.count(.inForce)), "planned": JSONValue(family.count(.planned)),
          ]
        })
    ]
  }

  private func total(_ state: Rule.State) -> Int { families.reduce(0) { $0 + $1.count(state) } }

  private func count(_ family: RuleFamily, _ state: Rule.State, _ colour: Style.Attribute) -> Table.Cell {
    let count = family.count(state)
    return count == 0 ? Table.Cell("0", .dim) : Table.Cell("\(count)", colour)
  }
}
