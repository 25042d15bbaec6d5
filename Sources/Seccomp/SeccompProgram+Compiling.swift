internal import CSeccomp
package import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

extension SeccompProgram {
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
    self.init(bytes: unsafe try Self.export(context))
  }

  /// Names that this libseccomp cannot resolve to a call of any architecture.
  package static func unknown(in rules: [SeccompRule]) -> [String] {
    rules.map(\.call).filter { name in unsafe seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR }
  }

  /// The calls of this machine that this libseccomp knows.
  package static var calls: [String] { (Int32(0)..<1024).compactMap(name(ofCall:)) }

  /// The name of a call of this machine, by its number.
  package static func name(ofCall number: Int32) -> String? {
    guard let name = unsafe seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number) else { return nil }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
  }

  private static func export(_ context: scmp_filter_ctx) throws(KernelError) -> [UInt8] {
    let file = try MemoryFile.make("seccomp")
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
