import CSeccomp
import Kernel
import TestSupport
import Testing

@testable import Seccomp

#if canImport(Glibc)
  import Glibc
#endif

/// What the compiled filter answers, run as the kernel runs it.
@Suite struct `Calls on files that pass with some of their arguments` {
  private static func machine(_ profile: SeccompProfile) throws -> FilterMachine {
    FilterMachine(try SeccompProgram(rules: profile.rules, otherwise: profile.otherwise))
  }

  private static func answer(_ machine: FilterMachine, _ call: String, _ arguments: UInt64...) -> UInt32? {
    let rest = [UInt64](repeating: 0x5a5a_5a5a, count: 6 - arguments.count)
    return machine.answer(
      number: UInt32(unsafe seccomp_syscall_resolve_name(call)), architecture: seccomp_arch_native(), arguments + rest)
  }

  /// Calls that take a mode, and those that look at it only where they make a file: where they have it.
  private static let withMode: [(call: String, mode: Int)] = [
    ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1),
    ("mknodat", 2), ("creat", 1),
  ]
  private static let opening: [(call: String, flags: Int)] = [("open", 1), ("openat", 2)]
  private static let modes: [UInt64] = [
    0, 0o644, 0o755, 0o777, 0o1777, 0o2000, 0o2755, 0o4000, 0o4755, 0o6000, 0o6755, 0o7777, 0o100644, 0o104755,
    0o104644,
  ]
  /// What the kernel cuts off makes no difference.
  private static let upper: [UInt64] = [0, 1 << 16, 1 << 32, 0xffff_ffff_ffff_0000]

  private static func isHere(_ call: String) -> Bool { unsafe seccomp_syscall_resolve_name(call) >= 0 }

  @Test(arguments: [false, true])
  func `I3, TOK-21: no call makes a file with the set-id bits, whatever else stands in its arguments`(observed: Bool)
    throws
  {
    let standard = SeccompProfile.standard(network: true)
    let machine = try Self.machine(observed ? standard.observed : standard)
    let (allow, refuse, ask) = (SeccompAction.allow.raw, SeccompAction.fail(EPERM).raw, SeccompAction.notify.raw)
    for (call, place) in Self.withMode where Self.isHere(call) {
      for mode in Self.modes {
        for upper in Self.upper where upper & mode == 0 {
          var arguments = [UInt64](repeating: 0x6d00, count: 6)
          arguments[place] = mode | upper
          let answer = machine.answer(
            number: UInt32(unsafe seccomp_syscall_resolve_name(call)), architecture: seccomp_arch_native(), arguments)
          let isOpening = call == "creat"
          // The observer refuses what it is asked about of the other calls; of these it lets most go on.
          let expected =
            mode & 0o6000 != 0 ? (observed && !isOpening ? ask : refuse) : observed && isOpening ? ask : allow
          #expect(answer == expected, "\(call) \(String(mode | upper, radix: 8))")
        }
      }
    }
    for (call, place) in Self.opening where Self.isHere(call) {
      for flags: UInt64 in [0, 1, 2, 0o100, 0o101, 0o1102, 0o20_000_000, 0o20_200_001, 0o20_000_100, 0o2_200_000] {
        for mode in Self.modes {
          for upper: UInt64 in [0, 1 << 32] {
            var arguments = [UInt64](repeating: 0x6d00, count: 6)
            arguments[place] = flags | upper
            arguments[place + 1] = mode | upper
            let answer = machine.answer(
              number: UInt32(unsafe seccomp_syscall_resolve_name(call)), architecture: seccomp_arch_native(), arguments)
            let isRefused = flags & 0o20_000_100 != 0 && mode & 0o6000 != 0
            #expect(
              answer == (isRefused ? refuse : observed ? ask : allow),
              "\(call) \(String(flags | upper, radix: 8)) \(String(mode, radix: 8))")
          }
        }
      }
    }
    // Its mode lies in memory.
    #expect(Self.answer(machine, "openat2") == SeccompAction.fail(ENOSYS).raw)
  }

  @Test(arguments: [false, true])
  func `I5: pages of a file go into no pipe and no socket`(observed: Bool) throws {
    let standard = SeccompProfile.standard(network: true)
    let machine = try Self.machine(observed ? standard.observed : standard)
    for call in ["splice", "tee", "vmsplice"] {
      #expect(Self.answer(machine, call) == SeccompAction.fail(EINVAL).raw)
    }
    // The launcher copies between regular files.
    #expect(Self.answer(machine, "sendfile") == SeccompAction.notify.raw)
    for (level, option, upper): (UInt64, UInt64, UInt64) in [(1, 60, 0), (1, 60, 1 << 32), (1, 60, 0xffff_ffff << 32)] {
      let answer = Self.answer(machine, "setsockopt", 5, level | upper, option | upper)
      #expect(answer == SeccompAction.fail(EOPNOTSUPP).raw)
    }
    // Between files, and all other options: SO_SNDBUF, SO_REUSEADDR, IPPROTO_TCP, SOL_NETLINK.
    #expect(Self.answer(machine, "copy_file_range") == SeccompAction.allow.raw)
    for (level, option): (UInt64, UInt64) in [(1, 7), (1, 2), (1, 61), (1, 52), (6, 60), (0, 60), (270, 60), (1, 124)] {
      #expect(Self.answer(machine, "setsockopt", 5, level, option) == SeccompAction.allow.raw)
    }
  }

  @Test func `I12: of fcntl what is known passes, without leases, delegations and notifications`() throws {
    let standard = SeccompProfile.standard(network: false)
    let machine = try Self.machine(standard)
    let passing: [UInt64] = Array(0...38) + [1025, 1028] + Array(1030...1038)
    for command: UInt64 in Array(0...64) + Array(1000...1100) + [2048, 1 << 16, 1 << 31] {
      for upper: UInt64 in [0, 1 << 32, 1 << 63] {
        let answer = Self.answer(machine, "fcntl", 3, command | upper)
        let isPassing = passing.contains(command) || (39..<64).contains(command)
        #expect(answer == (isPassing ? SeccompAction.allow.raw : SeccompAction.fail(EPERM).raw), "\(command)")
      }
    }
  }
}
