internal import Folders
internal import Policy
internal import Review

extension ReportModel {
  /// The policies of its launches in words, from the launches' entries. If an entry has only a name, the policy that has that name
  /// here and now is used, if there is one.
  mutating func explainPolicies() {
    var subjects: AuditSubjects?
    for (index, words) in policies.enumerated() {
      do {
        if let text = words.text {
          policies[index].explain(try AuditSubject(words, text: text))
        } else {
          var known = try subjects ?? AuditSubjects()
          policies[index].explain(try known.standing(words.name))
          subjects = known
        }
      } catch {
        policies[index].note =
          words.text == nil
          ? "The log has its name alone, and there is no policy of this name here that could be read."
          : "What the launch's entry has of it is no policy that this version could read."
      }
    }
  }
}

extension ReportModel.PolicyWords {
  fileprivate mutating func explain(_ subject: AuditSubject) {
    let explanation = subject.explanation(on: .current(for: subject.policy))
    let exposure = Exposure(explanation)
    let source =
      text == nil ? "The log has its name alone: this is the policy of that name as it is here and now. " : ""
    let description = subject.policy.description.map { "\($0). " } ?? ""
    note = "\(source)\(description)Exposure: \(Exposure.text(exposure.tenths)) of 100."
    sections = explanation.groups.map { title, lines in
      Section(
        title: title,
        abilities: lines.map { line in
          Ability(phrase: line.phrase, extent: line.extent, by: line.decisions, isClosed: line.isClosed)
        })
    }
  }
}

extension Explanation {
  /// Its lines, by subject.
  fileprivate var groups: [(title: String, lines: [ExplanationLine])] {
    Ability.Group.allCases.map { group in
      (group.title, ExplanationLine.lines(entries.filter { $0.ability.verb.group == group }))
    }
  }
}

extension AuditSubject {
  /// A policy as a launch's entry has it.
  fileprivate init(_ words: ReportModel.PolicyWords, text: String) throws {
    let file = "entry \(words.entry ?? 0)"
    let policy = Policy(
      name: words.name, file: file, description: nil, lineage: [],
      settings: try PolicySettings(text: text, file: file))
    self.init(policy: policy, origins: PolicyOrigins(text: text, file: file), app: nil)
  }
}

extension AuditSubjects {
  /// The text of a log is not trusted: it can make Ambit open only a policy's file of that name.
  fileprivate mutating func standing(_ name: String) throws -> AuditSubject {
    guard !PolicyLibrary.isPath(name) else { throw StateError("\(name) is no policy's name") }
    let (policy, origins) = try policy(name)
    return AuditSubject(policy: policy, origins: origins, app: nil)
  }
}
