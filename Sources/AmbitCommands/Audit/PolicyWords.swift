internal import Policy
internal import Review

extension ReportModel {
  /// The policies that its launches were under in words, as far as there are such policies here.
  mutating func explainPolicies() {
    var subjects = AuditSubjects()
    let found = policies.map { words -> AuditSubject? in
      // A log says what it likes: no file is opened because of it but a policy's of that name.
      guard !PolicyLibrary.isPath(words.name), let (policy, origins) = try? subjects.policy(words.name) else {
        return nil
      }
      return AuditSubject(policy: policy, origins: origins, app: nil)
    }
    for (index, subject) in found.enumerated() {
      guard let subject else {
        policies[index].note = "There is no policy of this name here that could be read."
        continue
      }
      let explanation = subject.explanation(on: .current(for: subject.policy))
      let exposure = Exposure(explanation)
      policies[index].note =
        "\(subject.policy.description ?? subject.policy.name). Exposure: \(Exposure.text(exposure.tenths)) of 100."
      policies[index].sections = Ability.Group.allCases.map { group in
        PolicyWords.Section(
          title: group.title,
          abilities: ExplanationLine.lines(explanation.entries.filter { $0.ability.verb.group == group }).map { line in
            PolicyWords.Ability(
              phrase: line.phrase, extent: line.extent, by: line.decisions, isClosed: line.isClosed)
          })
      }
    }
  }
}
