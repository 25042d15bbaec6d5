import Foundation
import Kernel
import TestSupport
import Testing

@testable import Seccomp

@Suite struct `The standard filter as a value` {
  /// Whether a rule's conditions hold for the 32 bits of the argument that they look at.
  private func matches(_ rule: SeccompRule, _ value: UInt32) -> Bool {
    rule.conditions.allSatisfy { $0.holds(for: [UInt64](repeating: UInt64(value), count: 6)) }
  }

  @Test(arguments: [[0x5412, 0x541c], [1], [1, 2, 10], [0], [UInt32.max], [0x8000_0000, 0x7fff_ffff], [0, 1, 2, 3]])
  func `all but some numbers: exactly the others are matched, and each once`(forbidden: [UInt32]) {
    let rules = SeccompProfile.ioctlExcept(forbidden)
    func count(_ value: UInt32) -> Int { rules.count { matches($0, value) } }
    for value in forbidden { #expect(count(value) == 0) }
    var generator = Seeded(seed: 32)
    var wrong = 0
    // Near the forbidden ones, where a mistake would be, and anywhere.
    for value in forbidden {
      for bit in 0..<32 {
        for other in [value ^ (1 << bit), value ^ (3 << bit), value &+ (1 << bit), value &- (1 << bit)]
        where count(other) != (forbidden.contains(other) ? 0 : 1) {
          wrong += 1
        }
      }
    }
    for _ in 0..<20_000 {
      let value = UInt32.random(in: .min ... .max, using: &generator)
      if count(value) != (forbidden.contains(value) ? 0 : 1) { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(rules.allSatisfy { $0.call == "ioctl" && $0.action == .allow && $0.conditions.map(\.argument) == [1] })
  }

  @Test func `a family of requests is left out whole, and nothing beside it`() {
    let rules = SeccompProfile.ioctlExcept([0x5412, 0x4008_941a], noneOf: [0x5000_9400])
    let left = (0x5000_9300..<0x5000_9600).filter { value in rules.count { matches($0, UInt32(value)) } != 1 }
    #expect(left == Array(0x5000_9400..<0x5000_9500))
    for value: UInt32 in [0x5412, 0x4008_941a] { #expect(!rules.contains { matches($0, value) }) }
    for value: UInt32 in [0x5413, 0x4008_941b, 0x4000_9401, 0xd000_9401, 0x5001_9401, 0x4004_9409] {
      #expect(rules.count { matches($0, value) } == 1)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 8, 9, 0x10, 0x11, 0x18, UInt32.max])
  func `B16: without execution, a file in memory is made sealed against it or not at all`(flags: UInt32) {
    let answers = SeccompProfile.standard(network: false).rules.filter {
      $0.call == "memfd_create" && matches($0, flags)
    }
    #expect(answers.map(\.action) == [flags & 8 != 0 ? .allow : .fail(ENOSYS)])
    let free = SeccompProfile.standard(network: false, execute: true).rules.filter { $0.call == "memfd_create" }
    #expect(free.map(\.action) == [.allow] && free.allSatisfy { $0.conditions.isEmpty })
  }

  @Test(arguments: [false, true])
  func `denies by default, and allows nothing that reaches beyond the sandbox`(network: Bool) {
    let profile = SeccompProfile.standard(network: network)
    #expect(profile.otherwise == .fail(EPERM))
    let allowed = Set(profile.rules.filter { $0.action == .allow && $0.conditions.isEmpty }.map(\.call))
    let never = [
      "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "mount", "umount2", "pivot_root",
      "chroot", "unshare", "setns", "clone", "clone3", "open_by_handle_at", "bpf", "perf_event_open", "userfaultfd",
      "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
      "kexec_file_load", "reboot", "swapon", "swapoff", "syslog", "acct", "quotactl", "settimeofday", "clock_settime",
      "adjtimex", "clock_adjtime", "iopl", "ioperm", "modify_ldt", "vhangup", "lookup_dcookie", "fanotify_init",
      "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount", "fsopen", "fsmount",
      "fsconfig", "fspick", "mount_setattr", "move_pages", "migrate_pages", "mbind", "set_mempolicy", "nfsservctl",
      "socket", "socketpair", "ioctl", "personality", "uselib", "ustat", "sysfs", "_sysctl", "create_module",
      "sethostname", "setdomainname",
    ]
    #expect(allowed.intersection(never).isEmpty)
    #expect(allowed.isSuperset(of: ["read", "write", "close", "mmap", "execve", "exit_group", "futex", "fork"]))
  }

  @Test func `names only calls that the library knows, and says why for each group`() {
    let profile = SeccompProfile.standard(network: true)
    #expect(SeccompProgram.unknown(in: profile.rules).isEmpty)
    #expect(profile.groups.allSatisfy { !$0.reason.isEmpty && !$0.rules.isEmpty })
    #expect(Set(profile.groups.map(\.name)).count == profile.groups.count)
  }

  @Test func `is compiled for the kernel, which takes at most 4,096 instructions`() throws {
    for network in [false, true] {
      let profile = SeccompProfile.standard(network: network)
      let program = try SeccompProgram(rules: profile.rules, otherwise: profile.otherwise)
      #expect((1...4096).contains(program.instructionCount))
      #expect(program.bytes.count == program.instructionCount * 8)
      #expect(try SeccompProgram(rules: profile.rules, otherwise: profile.otherwise) == program)
    }
  }

  @Test func `the network changes the rules for sockets, and no others`() {
    let (without, with) = (SeccompProfile.standard(network: false), SeccompProfile.standard(network: true))
    #expect(without.groups.map(\.name) == with.groups.map(\.name))
    for (a, b) in zip(without.groups, with.groups) { #expect((a == b) == (a.name != "sockets")) }
  }

  @Test func `its identity is another for every other filter`() {
    let condition = SeccompCondition(argument: 0, .equal(1))
    let profiles =
      [
        SeccompProfile.standard(network: false), .standard(network: true),
        SeccompProfile(groups: [], otherwise: .allow), SeccompProfile(groups: [], otherwise: .kill),
        SeccompProfile(groups: [], otherwise: .fail(1)), SeccompProfile(groups: [], otherwise: .fail(11)),
      ]
      + [
        SeccompRule("read", .allow), SeccompRule("read", .kill), SeccompRule("write", .allow),
        SeccompRule("read", .fail(1)),
        SeccompRule("read", .allow, [condition]), SeccompRule("read", .allow, [condition, condition]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 1, .equal(1))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .masked(mask: 1, value: 0))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .masked(mask: 1, value: 1))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .masked(mask: 11, value: 1))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .masked(mask: 1, value: 11))]),
        SeccompRule("read", .killThread), SeccompRule("read", .trap), SeccompRule("read", .log),
        SeccompRule("read", .trace(1)), SeccompRule("read", .trace(11)),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.equal(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.notEqual(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.less(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.lessOrEqual(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.greater(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.greaterOrEqual(1)))]),
        SeccompRule("read", .allow, [SeccompCondition(argument: 0, .whole(.masked(mask: 1, value: 1)))]),
      ].map { SeccompProfile(groups: [.init(name: "g", reason: "r", rules: [$0])], otherwise: .allow) }
    #expect(Set(profiles.map(\.identity)).count == profiles.count)
  }
}

@Suite struct `The cache of filters` {
  private let folder: TemporaryFolder
  private let profile = SeccompProfile.standard(network: false)
  private var cache: SeccompCache { SeccompCache(folder: "\(folder.path)/filters") }

  init() throws { folder = try TemporaryFolder() }

  private func compiled() throws -> SeccompProgram {
    try SeccompProgram(rules: profile.rules, otherwise: profile.otherwise)
  }

  /// The one file that the cache has made.
  private func file() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/filters")
    #expect(names.count == 1)
    return "\(folder.path)/filters/\(names.first ?? "")"
  }

  @Test func `gives what compiling gives, also from its file and also without one`() throws {
    #expect(try cache.program(for: profile) == compiled())
    #expect(try cache.program(for: profile) == compiled())
    #expect(try SeccompCache(folder: nil).program(for: profile) == compiled())
    let folderMode = try Descriptor.open("\(folder.path)/filters", flags: .path).status().mode & 0o7777
    #expect(folderMode == 0o700)
  }

  @Test func `reads its file: another whole program in it is what comes back`() throws {
    let other = SeccompProfile(groups: [], otherwise: .kill)
    _ = try SeccompCache(folder: "\(folder.path)/other").program(for: other)
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/other")
    let stored = try #require(FileManager.default.contents(atPath: "\(folder.path)/other/\(names[0])"))
    _ = try cache.program(for: profile)
    try stored.write(to: URL(fileURLWithPath: try file()))
    #expect(try cache.program(for: profile) == SeccompProgram(rules: [], otherwise: .kill))
  }

  @Test func `compiles anew where its file is damaged, and mends it`() throws {
    _ = try cache.program(for: profile)
    let path = try file()
    let whole = try #require(FileManager.default.contents(atPath: path))
    var damaged = [
      Data(), whole.prefix(31), whole.prefix(32), whole.dropLast(8), whole + Data(count: 8), Data(count: 64),
    ]
    for index in stride(from: 0, to: whole.count, by: 97) {
      var changed = whole
      changed[index] ^= 1
      damaged.append(changed)
    }
    for content in damaged {
      try content.write(to: URL(fileURLWithPath: path))
      #expect(try cache.program(for: profile) == compiled())
      #expect(FileManager.default.contents(atPath: path) == whole)
    }
  }

  @Test func `works where its folder cannot be made or its file cannot be replaced`() throws {
    try folder.write("file", "in the way")
    let inTheWay = SeccompCache(folder: "\(folder.path)/file")
    #expect(try inTheWay.program(for: profile) == compiled())
    #expect(FileManager.default.contents(atPath: "\(folder.path)/file") == Data("in the way".utf8))
    _ = try cache.program(for: profile)
    let path = try file()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
    #expect(try cache.program(for: profile) == compiled())
  }

  @Test func `keeps filters of different profiles apart`() throws {
    let network = SeccompProfile.standard(network: true)
    let first = try cache.program(for: profile)
    let second = try cache.program(for: network)
    #expect(first != second)
    #expect(try cache.program(for: profile) == first)
    #expect(try cache.program(for: network) == second)
  }
}
