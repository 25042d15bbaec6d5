internal import Kernel

extension SeccompProfile {
  /// The answer to one call, and the rules that decide.
  package struct Explanation: Equatable, Sendable {
    package struct Part: Equatable, Sendable {
      package let action: SeccompAction
      /// The conditions on the arguments; empty: any arguments.
      package let conditions: [SeccompCondition]
      package let group: String
      package let reason: String
    }

    package let call: String
    /// Rules that name the call, in order.
    package let parts: [Part]
    /// The answer where none of them matches.
    package let otherwise: SeccompAction

    /// Whether nothing but the default decides.
    package var isDefault: Bool { parts.isEmpty }

    /// Whether there are arguments with which the call goes through, or is left to an observer.
    package var canPass: Bool { outcomes.contains(where: \.canPass) }

    /// Its possible answers, by the arguments. Where rules overlap the strictest holds, so that one without conditions
    /// leaves nothing to laxer ones, nor to the default.
    package var outcomes: [SeccompAction] {
      let always = parts.filter(\.conditions.isEmpty).map(\.action).min { $0.rank < $1.rank }
      let sometimes = parts.filter { !$0.conditions.isEmpty }.map(\.action)
      var found: [SeccompAction] = []
      for action in sometimes.filter({ $0.rank < always?.rank ?? .max }) + [always ?? otherwise]
      where !found.contains(action) { found.append(action) }
      return found
    }
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
    case .fail(let number): "fails with \(ErrorNumber.name(of: number) ?? "errno \(number)")"
    case .kill: "ends the process with SIGSYS"
    case .notify: "is looked at by the launcher"
    case .killThread: "ends the thread with SIGSYS"
    case .trap: "is not made, and raises SIGSYS"
    case .trace: "fails with ENOSYS, as nobody traces"
    case .log: "is let through and logged by the kernel"
    }
  }
}

extension SeccompCondition {
  /// For people: `argument 0 & 0x7e020000 = 0x0`.
  package var sentence: String {
    func hexadecimal(_ value: some BinaryInteger) -> String { "0x" + String(value, radix: 16) }
    let test =
      switch test {
      case .equal(let value): "= \(value)"
      case .masked(let mask, let value): "& \(hexadecimal(mask)) = \(hexadecimal(value))"
      case .whole(.notEqual(let value)): "≠ \(value)"
      case .whole(.less(let value)): "< \(value)"
      case .whole(.lessOrEqual(let value)): "≤ \(value)"
      case .whole(.equal(let value)): "= \(value)"
      case .whole(.greaterOrEqual(let value)): "≥ \(value)"
      case .whole(.greater(let value)): "> \(value)"
      case .whole(.masked(let mask, let value)): "& \(hexadecimal(mask)) = \(hexadecimal(value))"
      }
    return "argument \(argument) \(test)"
  }
}
