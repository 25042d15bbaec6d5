import CSeccomp
import Kernel
import TestSupport
import Testing

@testable import Seccomp

@Suite struct `A filter in which the strictest rule wins` {
  private static let actions: [SeccompAction] = [
    .allow, .fail(1), .fail(38), .kill, .killThread, .trap, .trace(7), .log, .fail(0),
  ]
  private static let calls = [
    "read", "write", "open", "close", "ioctl", "socket", "clone", "openat", "statx", "getcpu",
  ]

  /// Values near each other and near the borders of the halves, where a mistake would be.
  private static func value(_ generator: inout Seeded) -> UInt64 {
    let base: [UInt64] = [
      0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, (1 << 32) + 1, 1 << 63, .max, .max - 1,
      0xdead_beef_0000_0001,
    ]
    let value = base.randomElement(using: &generator) ?? 0
    return switch Int.random(in: 0...3, using: &generator) {
    case 0: value &+ 1
    case 1: value &- 1
    default: value
    }
  }

  private static func condition(_ generator: inout Seeded, argument: UInt32) -> SeccompCondition {
    let value = value(&generator)
    let low = UInt32(truncatingIfNeeded: value)
    let mask = Self.value(&generator)
    let tests: [SeccompCondition.Test] = [
      .equal(low), .masked(mask: UInt32(truncatingIfNeeded: mask), value: low & UInt32(truncatingIfNeeded: mask)),
      .whole(.notEqual(value)), .whole(.less(value)), .whole(.lessOrEqual(value)), .whole(.equal(value)),
      .whole(.greaterOrEqual(value)), .whole(.greater(value)), .whole(.masked(mask: mask, value: value & mask)),
    ]
    return SeccompCondition(argument: argument, tests.randomElement(using: &generator) ?? .equal(0))
  }

  @Test(arguments: 0..<UInt64(Rounds.few(12, of: 40))) func `random rules answer as a simple model does`(seed: UInt64)
    throws
  {
    var generator = Seeded(seed: seed)
    let rules = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
      let arguments = (UInt32(0)...5).filter { _ in Int.random(in: 0...3, using: &generator) == 0 }
      return SeccompRule(
        Self.calls.randomElement(using: &generator) ?? "read",
        Self.actions.randomElement(using: &generator) ?? .allow,
        arguments.map { Self.condition(&generator, argument: $0) })
    }
    let otherwise = Self.actions.randomElement(using: &generator) ?? .allow
    let machine = FilterMachine(try SeccompProgram(strictest: rules, otherwise: otherwise))
    let native = seccomp_arch_native()
    var wrong = 0
    for call in Self.calls + ["getpid", "exit"] {
      let number = UInt32(unsafe seccomp_syscall_resolve_name(call))
      for _ in 0..<400 {
        let arguments = (0..<6).map { _ in Self.value(&generator) }
        let wanted = modelled(rules, otherwise: otherwise, call, arguments)
        if machine.answer(number: number, architecture: native, arguments) != wanted.raw { wrong += 1 }
      }
    }
    #expect(wrong == 0)
    #expect(machine.answer(number: 0, architecture: native ^ 1, [0, 0, 0, 0, 0, 0]) == SeccompAction.kill.raw)
    #expect(machine.answer(number: .max, architecture: native, [0, 0, 0, 0, 0, 0]) == otherwise.raw)
  }

  @Test func `the order of strictness is the kernel's`() {
    let order: [SeccompAction] = [.kill, .killThread, .trap, .fail(1), .notify, .trace(1), .log, .allow]
    #expect(order.map(\.rank) == order.map(\.rank).sorted())
    #expect(Set(order.map(\.rank)).count == order.count)
    #expect(SeccompAction.fail(1).rank == SeccompAction.fail(38).rank)
  }

  @Test func `every call of the machine by itself fits, and a filter that does not is an error and no crash`() throws {
    let all = (Int32(0)..<600).compactMap(SeccompProgram.name(ofCall:))
    #expect(all.count > 300)
    let alternating = all.enumerated().map { SeccompRule($0.element, $0.offset % 2 == 0 ? .allow : .log) }
    #expect(try SeccompProgram(strictest: alternating, otherwise: .fail(1)).instructionCount < 2000)
    let many = (0..<3000).map { SeccompRule("read", .allow, [.init(argument: 0, .equal($0))]) }
    let error = #expect(throws: KernelError.self) { try SeccompProgram(strictest: many, otherwise: .fail(1)) }
    #expect("\(try #require(error))".contains("4096"))
  }

  @Test func `the cache keeps the two ways to compile apart`() throws {
    let folder = try TemporaryFolder()
    let cache = SeccompCache(folder: folder.path)
    let rules = [
      SeccompRule("ioctl", .allow), SeccompRule("ioctl", .fail(1), [.init(argument: 1, .equal(2))]),
    ]
    let profile = SeccompProfile(groups: [.init(name: "g", reason: "r", rules: rules)], otherwise: .fail(1))
    for _ in 0..<2 {
      #expect(
        try cache.program(for: profile, by: .strictest) == SeccompProgram(strictest: rules, otherwise: .fail(1)))
      #expect(try cache.program(for: profile) == SeccompProgram(rules: rules, otherwise: .fail(1)))
    }
  }
}
