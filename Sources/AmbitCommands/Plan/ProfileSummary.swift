internal import Seccomp
internal import Terminal
internal import Wire

/// The effect of a foreign profile on this machine, in numbers.
struct ProfileSummary {
  let through: Int
  let byArguments: Int
  let refused: Int
  private let evaluated: OCIProfile.Evaluated

  init(_ evaluated: OCIProfile.Evaluated) {
    self.evaluated = evaluated
    let explained = Set(evaluated.profile.rules.map(\.call)).subtracting(evaluated.unknown)
      .map(evaluated.profile.explanation(of:))
    through = explained.count { $0.outcomes.allSatisfy(\.canPass) }
    refused = explained.count { !$0.canPass }
    byArguments = explained.count - through - refused
  }

  var rows: [(name: String, text: String)] {
    var rows = [
      (
        name: "calls",
        text: "\(through) let through, \(byArguments) by their arguments, \(refused) refused; anything else "
          + evaluated.profile.otherwise.sentence
      )
    ]
    if !evaluated.leftOut.isEmpty {
      rows.append((name: "left out", text: "\(evaluated.leftOut.count) entries, by their includes and excludes"))
    }
    if !evaluated.unknown.isEmpty {
      rows.append((name: "unknown", text: printable(evaluated.unknown.joined(separator: " "))))
    }
    if !evaluated.flags.isEmpty {
      rows.append((name: "no effect", text: printable(evaluated.flags.joined(separator: " "))))
    }
    return rows
  }

  var json: JSONObject {
    [
      "through": JSONValue(through), "byArguments": JSONValue(byArguments), "refused": JSONValue(refused),
      "otherwise": .string(evaluated.profile.otherwise.sentence), "leftOut": JSONValue(evaluated.leftOut.count),
      "unknown": .array(evaluated.unknown.map { .string($0) }), "flags": .array(evaluated.flags.map { .string($0) }),
    ]
  }
}
