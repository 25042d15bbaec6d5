package import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

extension OCIProfile {
  /// The facts that `includes` and `excludes` ask about. Capabilities are not among them: an app has none.
  package struct Machine: Equatable, Sendable {
    /// As Go calls it.
    package var architecture: String
    package var kernel: KernelVersion

    package init(architecture: String, kernel: KernelVersion) {
      self.architecture = architecture
      self.kernel = kernel
    }

    package static var current: Machine {
      var names = utsname()
      _ = unsafe uname(&names)
      func text<Field>(_ field: Field) -> String {
        unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      }
      let machine = text(names.machine)
      let names64 = ["x86_64": "amd64", "aarch64": "arm64"]
      return Machine(
        architecture: names64[machine] ?? machine, kernel: .current)
    }
  }

  /// A profile on one machine: rules as Ambit has them, a group for each element of `syscalls`.
  package struct Evaluated: Equatable, Sendable {
    /// Groups are called by their place, `syscalls[3]`.
    package let profile: SeccompProfile
    /// The rules that `includes` and `excludes` have left out, and why.
    package let leftOut: [LeftOut]
    /// Calls that this machine's libseccomp does not know; the default holds for them.
    package let unknown: [String]
    /// Flags of the filter that have no effect here.
    package let flags: [String]
  }

  package struct LeftOut: Equatable, Sendable {
    package let index: Int
    package let names: [String]
    package let reason: String
  }

  package func evaluated(on machine: Machine) -> Evaluated {
    var groups: [SeccompProfile.Group] = []
    var leftOut: [LeftOut] = []
    for (index, entry) in entries.enumerated() {
      if let reason = entry.excludes.exclusion(on: machine) ?? entry.includes.lack(on: machine) {
        leftOut.append(LeftOut(index: index, names: entry.names, reason: reason))
        continue
      }
      groups.append(
        SeccompProfile.Group(
          name: "syscalls[\(index)]", reason: entry.comment.isEmpty ? "the profile says no reason" : entry.comment,
          rules: entry.names.map { SeccompRule($0, entry.action, entry.conditions) }))
    }
    let profile = SeccompProfile(groups: groups, otherwise: defaultAction)
    let unknown = Set(SeccompProgram.unknown(in: profile.rules)).sorted()
    return Evaluated(profile: profile, leftOut: leftOut, unknown: unknown, flags: flags)
  }
}

extension OCIProfile.Requirements {
  /// Of `includes`: all of it has to be there, of the architectures one.
  fileprivate func lack(on machine: OCIProfile.Machine) -> String? {
    if !architectures.isEmpty, !architectures.contains(machine.architecture) {
      return "it is for \(architectures.joined(separator: ", ")), and this is \(machine.architecture)"
    }
    if let first = capabilities.first { return "it is for processes with \(first), and an app has no capabilities" }
    if let minimumKernel, machine.kernel < minimumKernel {
      return "it is for kernels from \(minimumKernel) on, and this is \(machine.kernel)"
    }
    return nil
  }

  /// Of `excludes`: one is enough. No capability is: an app has none.
  fileprivate func exclusion(on machine: OCIProfile.Machine) -> String? {
    if architectures.contains(machine.architecture) { return "it leaves out \(machine.architecture), which this is" }
    if let minimumKernel, machine.kernel >= minimumKernel {
      return "it leaves out kernels from \(minimumKernel) on, and this is \(machine.kernel)"
    }
    return nil
  }
}
