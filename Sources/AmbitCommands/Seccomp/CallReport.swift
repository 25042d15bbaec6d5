internal import Launcher
internal import Seccomp
internal import Terminal
internal import Wire

/// The effect of a profile on one call, and the rules behind it.
struct CallReport {
  private let named: NamedProfile
  private let found: SeccompProfile.Explanation
  /// Entries that name the call, but do not hold for this launch.
  private let leftOut: [OCIProfile.LeftOut]

  init(_ call: String, in named: NamedProfile) throws(Failure) {
    try NamedProfile.check(call: call)
    self.named = named
    found = named.profile.explanation(of: call)
    leftOut = named.evaluated?.leftOut.filter { $0.names.contains(call) } ?? []
  }

  /// More rules than that are a set of numbers cut into pieces, which says nothing to people.
  private static let shown = 8

  func text(_ style: Style) -> String {
    var text = "\(style.bold(found.call)) \(found.sentence)\n"
    for part in found.parts.prefix(Self.shown) {
      let when = part.conditions.map(\.sentence).joined(separator: " and ")
      text += "  \(style.dim(part.group))  \(part.action.sentence)" + (when.isEmpty ? "" : " if \(when)")
      text += ": \(printable(part.reason))\n"
    }
    if found.parts.count > Self.shown {
      text += "  and \(found.parts.count - Self.shown) more comparisons like these\n"
    }
    if !found.parts.contains(where: \.conditions.isEmpty) {
      text +=
        "  \(style.dim(named.evaluated == nil ? "anything else" : "defaultAction"))  \(found.otherwise.sentence)\n"
    }
    for entry in leftOut { text += "  \(style.dim("syscalls[\(entry.index)]"))  left out: \(entry.reason)\n" }
    if named.isHeldBack(found.call) {
      text +=
        "  Ambit's own profile refuses it all the same: it \(NamedProfile.floor.explanation(of: found.call).sentence)\n"
    }
    return text
  }

  var json: JSONObject {
    [
      "profile": .string(named.name), "call": .string(found.call), "canPass": .bool(found.canPass),
      "outcomes": .array(found.outcomes.map { .string($0.sentence) }),
      "rules": .array(
        found.parts.map { part in
          .object([
            "group": .string(part.group), "action": .string(part.action.sentence),
            "conditions": .array(part.conditions.map { .string($0.sentence) }), "reason": .string(part.reason),
          ])
        }), "otherwise": .string(found.otherwise.sentence), "leftOut": .array(leftOut.map { .object($0.json) }),
      "refusedByAmbit": .bool(named.isHeldBack(found.call)),
    ]
  }
}
