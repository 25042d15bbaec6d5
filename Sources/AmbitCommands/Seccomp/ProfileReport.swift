internal import Seccomp
internal import Terminal
internal import Wire

/// A profile as a whole, group by group.
struct ProfileReport {
  private let named: NamedProfile

  init(_ named: NamedProfile) { self.named = named }

  private func actions(_ group: SeccompProfile.Group) -> [String] {
    Set(group.rules.map(\.action.sentence)).sorted()
  }

  var text: String {
    let table = Table([.init("GROUP"), .init("CALLS", alignment: .trailing), .init("EACH"), .init("WHY")], for: 1)
    var rows: [[Table.Cell]] = named.profile.groups.map { group in
      let conditional = group.rules.contains { !$0.conditions.isEmpty } ? ", by its arguments" : ""
      return [
        Table.Cell(group.name, .bold), Table.Cell("\(Set(group.rules.map(\.call)).count)"),
        Table.Cell(actions(group).joined(separator: " or ") + conditional), Table.Cell(printable(group.reason), .dim),
      ]
    }
    rows.append([
      Table.Cell("anything else", .bold), "", Table.Cell(named.profile.otherwise.sentence), "",
    ])
    var text = table.render(rows)
    guard let evaluated = named.evaluated else { return text }
    for entry in evaluated.leftOut {
      text += "left out: syscalls[\(entry.index)] (\(entry.names.joined(separator: " "))): \(entry.reason)\n"
    }
    if !evaluated.unknown.isEmpty {
      text += "not known to this libseccomp: \(evaluated.unknown.joined(separator: " "))\n"
    }
    if !evaluated.flags.isEmpty { text += "without effect here: \(evaluated.flags.joined(separator: " "))\n" }
    return text + "Ambit's own profile holds besides; of the two the stricter decides.\n"
  }

  var json: JSONObject {
    var json: JSONObject = [
      "profile": .string(named.name), "otherwise": .string(named.profile.otherwise.sentence),
      "groups": .array(
        named.profile.groups.map { group in
          .object([
            "name": .string(group.name), "reason": .string(group.reason),
            "actions": .array(actions(group).map { .string($0) }),
            "calls": .array(Set(group.rules.map(\.call)).sorted().map { .string($0) }),
          ])
        }),
    ]
    guard let evaluated = named.evaluated else { return json }
    json["leftOut"] = .array(evaluated.leftOut.map { .object($0.json) })
    json["unknown"] = .array(evaluated.unknown.map { .string($0) })
    json["flags"] = .array(evaluated.flags.map { .string($0) })
    return json
  }
}

extension OCIProfile.LeftOut {
  var json: JSONObject {
    [
      "entry": .string("syscalls[\(index)]"), "calls": .array(names.map { .string($0) }), "reason": .string(reason),
    ]
  }
}
