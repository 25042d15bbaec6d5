import Foundation
import Kernel
import TestSupport
import Testing

@testable import Sandbox
@testable import Seccomp

/// Comparisons of arguments as the kernel makes them, on calls that look at none of their arguments.
@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `A profile of containers in a sandbox` {
  private static let script = #"""
    import ctypes, errno, sys
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    for line in sys.argv[1].split(";"):
      words = [int(word) for word in line.split()]
      ctypes.set_errno(0)
      result = call(ctypes.c_long(words[0]), *[ctypes.c_ulong(word) for word in words[1:]])
      print("ok" if result >= 0 else ctypes.get_errno())
    """#

  private static let calls = ["getppid", "getgid", "getegid", "getuid", "sched_yield", "munlockall", "sync"]

  private func results(_ attempts: [(call: String, arguments: [UInt64])], _ profiles: SeccompProfile...) throws
    -> [String]
  {
    let numbers = Dictionary(
      (Int32(0)..<600).map { (SeccompProgram.name(ofCall: $0) ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let lines = try attempts.map { attempt in
      ([String(try #require(numbers[attempt.call]))] + attempt.arguments.map(String.init)).joined(separator: " ")
    }
    let folder = try TemporaryFolder()
    let request = SandboxRequest(
      program: .file(path: "/usr/bin/python3"), arguments: ["-I", "-c", Self.script, lines.joined(separator: ";")],
      bundleIdentifier: "io.ambit.tests", container: try folder.folder("container"), hostID: hostID)
    let outcome = try run(SandboxPlan(request, on: .current()), foreign: profiles)
    #expect(outcome.failure == nil)
    #expect(outcome.status == 0, "\(outcome.output)")
    return outcome.lines
  }

  /// Around a value, at the borders of the halves, and anywhere.
  private func values(_ value: UInt64, _ generator: inout Seeded) -> [UInt64] {
    [
      value, value &+ 1, value &- 1, value ^ 1 << 32, value ^ 1 << 63, value & 0xffff_ffff, value << 32, 0, .max,
      UInt64.random(in: 0 ... .max, using: &generator), UInt64.random(in: 0...0xffff_ffff, using: &generator),
    ]
  }

  @Test(arguments: [5, 0xffff_ffff, 0x1_0000_0000, 0x7fff_ffff_ffff_fff0, 0xfedc_ba98_7654_3210, .max - 1] as [UInt64])
  func `each comparison decides as its name says`(value: UInt64) throws {
    var generator = Seeded(seed: value)
    let operations = ["NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"]
    let entries = zip(operations, Self.calls).enumerated().map { index, pair in
      let second = pair.0 == "MASKED_EQ" ? #", "valueTwo": \#(value & 0x10_0000_0015)"# : ""
      return """
        { "names": ["\(pair.1)"], "action": "SCMP_ACT_ERRNO", "errnoRet": \(40 + index),
          "args": [ { "index": \(index % 6), "value": \(value), "op": "SCMP_CMP_\(pair.0)"\(second) } ] }
        """
    }
    let text = #"{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ \#(entries.joined(separator: ",\n")) ] }"#
    let profile = try OCIProfile(parsing: Array(text.utf8), file: "p.json").evaluated(on: .current).profile
    let masked = value & 0x10_0000_0015
    func holds(_ index: Int, _ argument: UInt64) -> Bool {
      switch index {
      case 0: argument != value
      case 1: argument < value
      case 2: argument <= value
      case 3: argument == value
      case 4: argument >= value
      case 5: argument > value
      default: argument & value == masked
      }
    }
    var attempts: [(call: String, arguments: [UInt64])] = []
    var wanted: [String] = []
    for (index, call) in Self.calls.enumerated() {
      for argument in values(value, &generator) + [masked, masked | ~value, masked & 0xffff_ffff] {
        var arguments = (0..<6).map { _ in UInt64.random(in: 0 ... .max, using: &generator) }
        arguments[index % 6] = argument
        attempts.append((call, arguments))
        wanted.append(holds(index, argument) ? "\(40 + index)" : "ok")
      }
    }
    #expect(try results(attempts, profile) == wanted)
    #expect(wanted.contains("ok") && Set(wanted).count == 8)
  }

  @Test func `all comparisons of an entry have to hold, and of two entries the stricter wins`() throws {
    let text = """
      { "defaultAction": "SCMP_ACT_LOG", "syscalls": [
        { "name": "getppid", "action": "SCMP_ACT_ALLOW" },
        { "name": "getppid", "action": "SCMP_ACT_ERRNO", "errnoRet": 44, "args": [
          { "index": 0, "value": 1, "op": "SCMP_CMP_EQ" }, { "index": 5, "value": 2, "op": "SCMP_CMP_GT" } ] },
        { "name": "getppid", "action": "SCMP_ACT_TRACE", "args": [ { "index": 1, "value": 7, "op": "SCMP_CMP_EQ" } ] } ] }
      """
    let profile = try OCIProfile(parsing: Array(text.utf8), file: "p.json").evaluated(on: .current).profile
    let attempts: [[UInt64]] = [
      [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 2], [1, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 3], [1, 7, 0, 0, 0, 3],
      [0, 7, 0, 0, 0, 0],
    ]
    #expect(
      try results(attempts.map { ("getppid", $0) }, profile) == ["ok", "ok", "44", "ok", "44", "\(ENOSYS)"])
  }

  @Test func `of several profiles the strictest decides, call by call, and each of them is loaded`() throws {
    func profile(_ entries: String) throws -> SeccompProfile {
      let text = #"{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ \#(entries) ] }"#
      return try OCIProfile(parsing: Array(text.utf8), file: "p.json").evaluated(on: .current).profile
    }
    func refusing(_ call: String, _ errno: Int) -> String {
      #"{ "name": "\#(call)", "action": "SCMP_ACT_ERRNO", "errnoRet": \#(errno) }"#
    }
    let first = try profile(refusing("getppid", 41))
    let second = try profile(refusing("getgid", 42) + "," + refusing("getppid", 43))
    // The last one may refuse what it was loaded with.
    let third = try profile(refusing("sync", 44) + "," + refusing("seccomp", 45))
    let attempts = ["getppid", "getgid", "sync", "getegid"].map {
      (call: $0, arguments: [UInt64](repeating: 0, count: 6))
    }
    // Of two that refuse by an errno the kernel takes the newest one's.
    #expect(try results(attempts, first, second, third) == ["43", "42", "44", "ok"])
    #expect(try results(attempts, first) == ["41", "ok", "ok", "ok"])
  }

  @Test func `a profile behind one that lets none be loaded ends the launch`() throws {
    let closed =
      #"{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [ { "name": "seccomp", "action": "SCMP_ACT_ERRNO" } ] }"#
    let profile = try OCIProfile(parsing: Array(closed.utf8), file: "p.json").evaluated(on: .current).profile
    let folder = try TemporaryFolder()
    let request = SandboxRequest(
      program: .file(path: "/bin/echo"), arguments: ["ran"], bundleIdentifier: "io.ambit.tests",
      container: try folder.folder("container"), hostID: hostID)
    let outcome = try run(SandboxPlan(request, on: .current()), foreign: [profile, profile])
    #expect(outcome.failure?.hasPrefix("filter 4") == true && outcome.output.isEmpty, "\(outcome)")
  }
}
