internal import CSeccomp

/// What happens to a system call.
package enum SeccompAction: Hashable, Sendable {
  case allow
  /// The call fails with this errno.
  case fail(Int32)
  /// The process ends with SIGSYS.
  case kill
  /// Whoever listens is asked (`seccomp_unotify(2)`).
  case notify

  var raw: UInt32 {
    switch self {
    case .allow: 0x7fff_0000
    case .fail(let errno): 0x0005_0000 | (UInt32(bitPattern: errno) & 0xffff)
    case .kill: 0x8000_0000
    case .notify: 0x7fc0_0000
    }
  }
}

/// A comparison on one argument of a call. Only the lower 32 bits are looked at, as the kernel does for the arguments
/// that Ambit compares (`int` and `unsigned int`): otherwise a set upper half would slip past.
package struct SeccompCondition: Hashable, Sendable {
  package enum Test: Hashable, Sendable {
    case equal(UInt32)
    /// The bits of the mask have this value.
    case masked(mask: UInt32, value: UInt32)
  }

  package let argument: UInt32
  package let test: Test

  package init(argument: UInt32, _ test: Test) {
    self.argument = argument
    self.test = test
  }

  var raw: scmp_arg_cmp {
    switch test {
    case .equal(let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: 0xffff_ffff, datum_b: UInt64(value))
    case .masked(let mask, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: UInt64(mask), datum_b: UInt64(value))
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
