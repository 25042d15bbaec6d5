internal import CLinux
internal import CSeccomp
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// What happens to a system call.
package enum SeccompAction: Hashable, Sendable {
  case allow
  /// The call fails with this errno.
  case fail(Int32)
  /// The process ends with SIGSYS.
  case kill

  fileprivate var raw: UInt32 {
    switch self {
    case .allow: 0x7fff_0000
    case .fail(let errno): 0x0005_0000 | (UInt32(bitPattern: errno) & 0xffff)
    case .kill: 0x8000_0000
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

  fileprivate var raw: scmp_arg_cmp {
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

/// A filter as the kernel takes it: an array of `struct sock_filter`, eight bytes each.
package struct SeccompProgram: Equatable, Sendable {
  package let bytes: [UInt8]
  package var instructionCount: Int { bytes.count / 8 }
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The library that compiles, as part of a cache's key.
  package static var compilerVersion: String {
    guard let version = unsafe seccomp_version() else { return "unknown" }
    return unsafe "\(version.pointee.major).\(version.pointee.minor).\(version.pointee.micro)"
  }

  /// Compiles rules with libseccomp, for this machine's native architecture only: any other ends the process.
  ///
  /// Calls that this libseccomp does not know are left to the default action; ``unknown(in:)`` lists them.
  package init(rules: [SeccompRule], otherwise: SeccompAction) throws(KernelError) {
    guard let context = unsafe seccomp_init(otherwise.raw) else {
      throw KernelError("seccomp_init", errno: .noMemory)
    }
    defer { unsafe seccomp_release(context) }
    try Self.check("seccomp_attr_set", "SCMP_FLTATR_ACT_BADARCH") {
      unsafe seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SeccompAction.kill.raw)
    }
    // A tree instead of a list: the filter is a few hundred rules long.
    try Self.check("seccomp_attr_set", "SCMP_FLTATR_CTL_OPTIMIZE") {
      unsafe seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2)
    }
    for rule in rules where rule.action != otherwise {
      let number = unsafe seccomp_syscall_resolve_name(rule.call)
      // Negative numbers stand for calls of other architectures; libseccomp refuses to filter most of them here.
      guard number >= 0 else { continue }
      let conditions = rule.conditions.map(\.raw)
      try Self.check("seccomp_rule_add", rule.call) {
        unsafe seccomp_rule_add_array(context, rule.action.raw, number, UInt32(conditions.count), conditions)
      }
    }
    bytes = unsafe try Self.export(context)
  }

  /// Names that this libseccomp cannot resolve to a call of any architecture.
  package static func unknown(in rules: [SeccompRule]) -> [String] {
    rules.map(\.call).filter { name in unsafe seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR }
  }

  private static func export(_ context: scmp_filter_ctx) throws(KernelError) -> [UInt8] {
    let raw = try KernelError.checkNegative("memfd_create", "seccomp") { unsafe ambit_memory_file("seccomp") }
    let file = Descriptor(owning: raw)
    try check("seccomp_export_bpf") { unsafe seccomp_export_bpf(context, file.rawValue) }
    let size = try file.status().size
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = bytes.count
    try KernelError.check("pread", "seccomp program") {
      unsafe bytes.withUnsafeMutableBytes { unsafe pread(file.rawValue, $0.baseAddress, count, 0) }
    }
    return bytes
  }

  private static func check(_ call: String, _ subject: String = "", _ body: () -> Int32) throws(KernelError) {
    try KernelError.checkNegative(call, subject, body)
  }
}
