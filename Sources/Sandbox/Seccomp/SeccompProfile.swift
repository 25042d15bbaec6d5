package import Kernel

/// Which system calls a sandboxed program may make: default deny, in groups that say what they are for.
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

  /// A text that is the same for the same filter, whatever the process: the key of the cache.
  package var identity: String {
    var lines = ["ambit seccomp 1", "libseccomp \(SeccompProgram.compilerVersion)", "\(otherwise)"]
    lines += rules.map { "\($0.call) \($0.action) \($0.conditions)" }
    return lines.joined(separator: "\n")
  }
}
