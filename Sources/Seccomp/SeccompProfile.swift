internal import Kernel

/// The system calls that a sandboxed program may make: default deny, in groups that state their purpose.
package struct SeccompProfile: Equatable, Sendable {
  package struct Group: Equatable, Sendable {
    package let name: String
    /// Why the calls of this group are treated as they are.
    package let reason: String
    package let rules: [SeccompRule]
  }

  package var groups: [Group]
  package var otherwise: SeccompAction

  package var rules: [SeccompRule] { groups.flatMap(\.rules) }

  /// A text that is the same for the same filter, in every process: the key of the cache.
  package var identity: String {
    // Spelt out: this runs at every launch, and describing values by reflection costs more than the rest of it.
    var text = "ambit seccomp 1\nlibseccomp \(SeccompProgram.compilerVersion)\n"
    text += otherwise.code
    for group in groups {
      for rule in group.rules {
        text += "\n"
        text += rule.call
        text += rule.action.code
        for condition in rule.conditions { text += condition.code }
      }
    }
    return text
  }
}

extension SeccompAction {
  fileprivate var code: String {
    switch self {
    case .allow: " allow"
    case .fail(let errno): " fail " + String(errno)
    case .kill: " kill"
    case .notify: " notify"
    case .killThread: " kill thread"
    case .trap: " trap"
    case .trace(let number): " trace " + String(number)
    case .log: " log"
    }
  }
}

extension SeccompCondition {
  fileprivate var code: String {
    let test =
      switch test {
      case .equal(let value): " = " + String(value)
      case .masked(let mask, let value): " & " + String(mask) + " = " + String(value)
      case .whole(let comparison): " whole " + comparison.code
      }
    return " " + String(argument) + test
  }
}

extension SeccompCondition.Comparison {
  fileprivate var code: String {
    switch self {
    case .notEqual(let value): "≠ " + String(value)
    case .less(let value): "< " + String(value)
    case .lessOrEqual(let value): "≤ " + String(value)
    case .equal(let value): "= " + String(value)
    case .greaterOrEqual(let value): "≥ " + String(value)
    case .greater(let value): "> " + String(value)
    case .masked(let mask, let value): "& " + String(mask) + " = " + String(value)
    }
  }
}
