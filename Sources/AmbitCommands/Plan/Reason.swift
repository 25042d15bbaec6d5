internal import Broker
internal import Kernel
internal import Launcher
internal import Paths
internal import Sandbox
internal import Seccomp
internal import Terminal
internal import Wire

/// An answer to “why?”.
struct Reason {
  enum Verdict: String { case allowed, refused, unknown }

  let verdict: Verdict
  /// The rule that decides: an identifier of the catalogue, a layer, or the place in the plan.
  let rule: String
  let reason: String
  /// Its remedy; empty where it is allowed.
  let remedy: String

  init(isAllowed: Bool, rule: String, reason: String, remedy: String = "") {
    self.init(isAllowed ? .allowed : .refused, rule: rule, reason: reason, remedy: remedy)
  }

  init(_ verdict: Verdict, rule: String, reason: String, remedy: String = "") {
    self.verdict = verdict
    self.rule = rule
    self.reason = reason
    self.remedy = remedy
  }

  init(_ denial: Denial) {
    #if AMBIT_MUTANTS
      self.init(
        isAllowed: Mutant.whySaysYes.isActive, rule: denial.rule, reason: denial.reason, remedy: denial.remedy)
    #else
      self.init(isAllowed: false, rule: denial.rule, reason: denial.reason, remedy: denial.remedy)
    #endif
  }

  /// - Parameter path: absolute, inside.
  init(_ operation: AccessOperation, at path: String, _ planned: PlannedLaunch) {
    let rules = AccessRules(planned.plan)
    let followed = rules.following(path)
    if let granted = Self.granted(operation, at: followed, rules, planned) {
      self = granted
      return
    }
    // A place among the documents is one whose scope is not started, until it is.
    let presence: AccessRules.Presence =
      followed.lies(below: InsidePath.documents) ? .placeholder : .present
    if let denial = rules.denial(of: operation, at: followed, presence) ?? rules.absence(of: followed) {
      self.init(denial)
      return
    }
    // A question about a path may mean the present file on this machine.
    let isOther = !rules.isMachines(followed) && (try? Descriptor.open(path, flags: [.path, .noFollow])) != nil
    self.init(
      isAllowed: true, rule: rules.place(of: followed),
      reason: "the sandbox does not stand in the way"
        + (isOther ? "; it is the app's own, and not what this machine has under that path" : ""))
  }

  init(call: String, _ planned: PlannedLaunch) throws(Failure) {
    try NamedProfile.check(call: call)
    let found = planned.filter.explanation(of: call)
    // The strictest decides: no profile brings back a call that the filter refuses.
    for foreign in found.canPass ? planned.foreign : [] {
      let theirs = foreign.evaluated.profile.explanation(of: call)
      if !theirs.canPass {
        self.init(
          isAllowed: false, rule: "seccomp profile, \(theirs.parts.first?.group ?? "defaultAction")",
          reason: "in \(printable(foreign.file)) it \(theirs.sentence)",
          remedy: "allow it in the profile, or run without --seccomp and seccomp.profile")
        return
      }
    }
    guard let first = found.parts.first else {
      self.init(
        isAllowed: found.otherwise == .allow, rule: "seccomp",
        reason: "no rule names it, so it \(found.otherwise.sentence)", remedy: AccessRules.filtered.remedy)
      return
    }
    let conditional = found.parts.filter { !$0.conditions.isEmpty }.count
    let how = found.sentence
    self.init(
      isAllowed: found.canPass, rule: "seccomp, group “\(first.group)”",
      reason: "it \(how)" + (conditional > 0 ? ", by what its arguments are (\(conditional) comparisons)" : "")
        + ": \(first.reason)",
      remedy: found.canPass ? "" : AccessRules.filtered.remedy)
  }

  var isAllowed: Bool { verdict == .allowed }

  func text(_ question: String, _ style: Style) -> String {
    let word =
      switch verdict {
      case .allowed: style.green("allowed")
      case .refused: style.red("refused")
      case .unknown: style.yellow("not known")
      }
    var text = "\(word)  \(style.bold(question))\n"
    text += "  \(style.dim("rule  "))  \(rule)\n  \(style.dim("reason"))  \(reason)\n"
    if !remedy.isEmpty { text += "  \(style.dim("remedy"))  \(remedy)\n" }
    return text
  }

  func json(_ operation: String, _ subject: String) -> JSONObject {
    [
      "operation": .string(operation), "subject": .string(subject), "verdict": .string(verdict.rawValue),
      "allowed": verdict == .unknown ? .null : .bool(isAllowed), "rule": .string(rule), "reason": .string(reason),
      "remedy": .string(remedy),
    ]
  }
}
