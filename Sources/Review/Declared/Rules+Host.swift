internal import Policy

extension Rules {
  var host: [Entry] {
    let given = settings.environmentSet.sorted { $0.key < $1.key }
    return settings.environmentPass.map { pattern in
      Entry(
        Ability(.seeVariable, pattern), .yes,
        except: given.map(\.key).filter { Ability(.seeVariable, pattern).covers(Ability(.seeVariable, $0)) },
        by: decided("environment.pass", pattern))
    }
      + (settings.environmentPass.isEmpty ? [Entry(Ability(.seeVariable), .no, by: decided("environment.pass"))] : [])
      + given.map { name, value in
        Entry(Ability(.givenVariable, name), .yes, manner: value, by: decided("environment.set", name))
      }
      + [
        Entry(Ability(.seeUser), .no, by: [.ambit(rule: "SBX-1")]),
        Entry(Ability(.seeProcesses), .no, by: [.ambit(rule: "namespaces")]),
      ]
  }
}
