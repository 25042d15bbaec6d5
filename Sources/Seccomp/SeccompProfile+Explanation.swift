extension SeccompProfile {
  /// What happens to one call, and which rules decide.
  package struct Explanation: Equatable, Sendable {
    package struct Part: Equatable, Sendable {
      package let action: SeccompAction
      /// What the arguments have to be; empty: whatever they are.
      package let conditions: [SeccompCondition]
      package let group: String
      package let reason: String
    }

    package let call: String
    /// Rules that name the call, in order.
    package let parts: [Part]
    /// What happens where none of them matches.
    package let otherwise: SeccompAction

    /// Whether nothing but the default decides.
    package var isDefault: Bool { parts.isEmpty }

    /// Whether there are arguments with which the call goes through, or is left to an observer.
    package var canPass: Bool { parts.contains { $0.action == .allow || $0.action == .notify } || otherwise == .allow }
  }

  package func explanation(of call: String) -> Explanation {
    Explanation(
      call: call,
      parts: groups.flatMap { group in
        group.rules.filter { $0.call == call }.map {
          .init(action: $0.action, conditions: $0.conditions, group: group.name, reason: group.reason)
        }
      }, otherwise: otherwise)
  }
}

extension SeccompAction {
  /// For people, as the end of “the call …”.
  package var sentence: String {
    switch self {
    case .allow: "is let through"
    case .fail(let errno): "fails with \(SeccompAction.symbol(errno))"
    case .kill: "ends the process with SIGSYS"
    case .notify: "is looked at by the observer"
    }
  }

  private static func symbol(_ errno: Int32) -> String {
    switch errno {
    case 1: "EPERM"
    case 38: "ENOSYS"
    case 97: "EAFNOSUPPORT"
    default: "errno \(errno)"
    }
  }
}

extension SeccompCondition {
  /// For people: `argument 0 & 0x7e020000 = 0x0`.
  package var sentence: String {
    switch test {
    case .equal(let value): "argument \(argument) = \(value)"
    case .masked(let mask, let value):
      "argument \(argument) & 0x\(String(mask, radix: 16)) = 0x\(String(value, radix: 16))"
    }
  }
}
