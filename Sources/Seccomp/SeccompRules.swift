internal import CSeccomp

/// The answer to a system call.
package enum SeccompAction: Hashable, Sendable {
  case allow
  /// The call fails with this errno.
  case fail(Int32)
  /// The process ends with SIGSYS.
  case kill
  /// A listener is asked (`seccomp_unotify(2)`).
  case notify

  // Ambit's own profiles do without these; others' have them.

  /// The calling thread alone ends.
  case killThread
  /// The call is not made, and the thread receives SIGSYS.
  case trap
  /// A tracer is told this number; untraced, the call fails with `ENOSYS`.
  case trace(Int32)
  /// The call is let through, and the kernel's log says so.
  case log

  var raw: UInt32 {
    switch self {
    case .allow: 0x7fff_0000
    case .fail(let errno): 0x0005_0000 | (UInt32(bitPattern: errno) & 0xffff)
    case .kill: 0x8000_0000
    case .notify: 0x7fc0_0000
    case .killThread: 0
    case .trap: 0x0003_0000
    case .trace(let number): 0x7ff0_0000 | (UInt32(bitPattern: number) & 0xffff)
    case .log: 0x7ffc_0000
    }
  }

  /// The kernel's own order, in which the lowest of several answers wins (`seccomp(2)`).
  package var rank: Int32 { Int32(bitPattern: raw & 0xffff_0000) }

  /// Whether the call may be made in the end.
  package var canPass: Bool { self == .allow || self == .log || self == .notify }
}

/// A comparison on one argument of a call.
package struct SeccompCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    /// The lower 32 bits have this value: all that the kernel looks at in `int` and `unsigned int`, so that a set upper half
    /// does not slip past.
    case equal(UInt32)
    /// Those bits of the lower 32 that are in the mask have this value.
    case masked(mask: UInt32, value: UInt32)
    /// All 64 bits, as others' profiles compare.
    case whole(Comparison)
  }

  /// The argument against a number (`seccomp_rule_add(3)`).
  package enum Comparison: Hashable, Sendable {
    case notEqual(UInt64)
    case less(UInt64)
    case lessOrEqual(UInt64)
    case equal(UInt64)
    case greaterOrEqual(UInt64)
    case greater(UInt64)
    case masked(mask: UInt64, value: UInt64)
  }

  package let argument: UInt32
  package let test: Test

  package init(argument: UInt32, _ test: Test) {
    self.argument = argument
    self.test = test
  }

  var raw: scmp_arg_cmp {
    func compare(_ operation: scmp_compare, _ first: UInt64, _ second: UInt64 = 0) -> scmp_arg_cmp {
      scmp_arg_cmp(arg: argument, op: operation, datum_a: first, datum_b: second)
    }
    switch test {
    case .equal(let value): return compare(SCMP_CMP_MASKED_EQ, 0xffff_ffff, UInt64(value))
    case .masked(let mask, let value): return compare(SCMP_CMP_MASKED_EQ, UInt64(mask), UInt64(value))
    case .whole(.notEqual(let value)): return compare(SCMP_CMP_NE, value)
    case .whole(.less(let value)): return compare(SCMP_CMP_LT, value)
    case .whole(.lessOrEqual(let value)): return compare(SCMP_CMP_LE, value)
    case .whole(.equal(let value)): return compare(SCMP_CMP_EQ, value)
    case .whole(.greaterOrEqual(let value)): return compare(SCMP_CMP_GE, value)
    case .whole(.greater(let value)): return compare(SCMP_CMP_GT, value)
    case .whole(.masked(let mask, let value)): return compare(SCMP_CMP_MASKED_EQ, mask, value)
    }
  }
}

package struct SeccompRule: Hashable, Sendable {
  package let call: String
  package let action: SeccompAction
  package let conditions: [SeccompCondition]

  package init(_ call: String, _ action: SeccompAction, _ conditions: [SeccompCondition] = []) {
    self.call = call
    self.action = action
    self.conditions = conditions
  }
}
