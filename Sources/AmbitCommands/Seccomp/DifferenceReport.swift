internal import Kernel
internal import Seccomp
internal import Terminal
internal import Wire

/// How two profiles differ, call by call.
struct DifferenceReport {
  private let second: NamedProfile
  private let differences: [SeccompDifference]

  init(_ first: NamedProfile, _ second: NamedProfile) {
    self.second = second
    differences = SeccompDifference.between(first.profile, second.profile, calls: SeccompProgram.calls)
  }

  var isEmpty: Bool { differences.isEmpty }

  private static func title(_ kind: SeccompDifference.Kind) -> Table.Cell {
    switch kind {
    case .possible: Table.Cell("possible", .green)
    case .impossible: Table.Cell("impossible", .red)
    case .other: Table.Cell("otherwise", .dim)
    }
  }

  var text: String {
    if isEmpty { return "The two treat every call in the same way.\n" }
    let table = Table([.init("BECOMES"), .init("CALL"), .init("FROM"), .init("TO")], for: 1)
    return table.render(
      differences.map { difference in
        let note = second.isHeldBack(difference.call) ? " (Ambit's own profile refuses it all the same)" : ""
        return [
          Self.title(difference.kind), Table.Cell(difference.call, .bold), Table.Cell(difference.before.sentence),
          Table.Cell(difference.after.sentence + note),
        ]
      })
  }

  var json: JSONObject {
    func calls(_ kind: SeccompDifference.Kind) -> JSONValue {
      .array(
        differences.filter { $0.kind == kind }.map { difference in
          .object([
            "call": .string(difference.call), "from": .string(difference.before.sentence),
            "to": .string(difference.after.sentence), "refusedByAmbit": .bool(second.isHeldBack(difference.call)),
          ])
        })
    }
    return ["possible": calls(.possible), "impossible": calls(.impossible), "other": calls(.other)]
  }
}
