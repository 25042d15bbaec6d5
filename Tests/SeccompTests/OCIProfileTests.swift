import Foundation
import Kernel
import TestSupport
import Testing

@testable import Seccomp

@Suite struct `A profile of containers` {
  /// In Docker's shape and with its additions: archMap, includes and excludes, tabs, and nothing left out.
  static let docker = """
    {
    \t"defaultAction": "SCMP_ACT_ERRNO",
    \t"defaultErrnoRet": 1,
    \t"archMap": [
    \t\t{ "architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"] },
    \t\t{ "architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"] }
    \t],
    \t"syscalls": [
    \t\t{ "names": ["read", "write", "chown32", "not_a_call"], "action": "SCMP_ACT_ALLOW" },
    \t\t{ "names": ["ptrace"], "action": "SCMP_ACT_ALLOW", "includes": { "minKernel": "4.8" } },
    \t\t{ "names": ["personality"], "action": "SCMP_ACT_ALLOW",
    \t\t  "args": [ { "index": 0, "value": 4294967295, "op": "SCMP_CMP_EQ" } ] },
    \t\t{ "names": ["arch_prctl"], "action": "SCMP_ACT_ALLOW", "includes": { "arches": ["amd64", "x32"] } },
    \t\t{ "names": ["breakpoint"], "action": "SCMP_ACT_ALLOW", "includes": { "arches": ["arm", "arm64"] } },
    \t\t{ "names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": { "caps": ["CAP_SYS_ADMIN"] } },
    \t\t{ "names": ["clone"], "action": "SCMP_ACT_ALLOW",
    \t\t  "args": [ { "index": 0, "value": 2114060288, "op": "SCMP_CMP_MASKED_EQ" } ],
    \t\t  "excludes": { "caps": ["CAP_SYS_ADMIN"], "arches": ["s390", "s390x", "mips3l64n32"] } },
    \t\t{ "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "excludes": { "caps": ["CAP_SYS_ADMIN"] } }
    \t]
    }
    """

  /// In Podman's: names of errnos beside numbers, empty lists and objects, null, one call in two entries.
  static let podman = """
    { "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "defaultErrno": "ENOSYS", "architectures": null,
      "syscalls": [
      { "names": ["kexec_load"], "action": "SCMP_ACT_ERRNO", "args": [], "comment": "", "includes": {}, "excludes": {},
        "errnoRet": 1, "errno": "EPERM" },
      { "names": ["setns", "read"], "action": "SCMP_ACT_ALLOW", "args": [], "comment": "plain", "includes": {},
        "excludes": {} },
      { "names": ["setns"], "action": "SCMP_ACT_ERRNO", "args": null, "excludes": { "caps": ["CAP_SYS_ADMIN"] },
        "errno": "EINVAL" },
      { "names": ["socket"], "action": "SCMP_ACT_ALLOW", "comment": "",
        "args": [ { "index": 0, "value": 16, "valueTwo": 0, "op": "SCMP_CMP_NE" } ] } ] }
    """

  private let machine = OCIProfile.Machine(architecture: "amd64", kernel: KernelVersion(6, 1))

  @Test func `Docker's shape is taken, for an app without capabilities on this machine`() throws {
    let evaluated = try OCIProfile(Self.docker).evaluated(on: machine)
    #expect(evaluated.profile.otherwise == .fail(1))
    #expect(evaluated.profile.groups.map(\.name) == [0, 1, 2, 3, 6, 7].map { "syscalls[\($0)]" })
    #expect(evaluated.unknown == ["not_a_call"], "chown32 is a call of other architectures")
    #expect(evaluated.leftOut.map(\.index) == [4, 5])
    #expect(evaluated.leftOut.first?.reason == "it is for arm, arm64, and this is amd64")
    #expect(evaluated.leftOut.last?.reason.contains("CAP_SYS_ADMIN") == true)
    let clone = evaluated.profile.explanation(of: "clone")
    #expect(clone.parts.map(\.conditions) == [[.init(argument: 0, .whole(.masked(mask: 0x7e02_0000, value: 0)))]])
    #expect(evaluated.profile.explanation(of: "clone3").parts.map(\.action) == [.fail(38)])
    #expect(!evaluated.profile.explanation(of: "mount").canPass)
  }

  @Test func `on another machine other entries hold`() throws {
    let profile = try OCIProfile(Self.docker)
    let arm = profile.evaluated(on: .init(architecture: "arm64", kernel: KernelVersion(4, 7)))
    #expect(arm.leftOut.map(\.index) == [1, 3, 5])
    #expect(arm.leftOut.first?.reason == "it is for kernels from 4.8 on, and this is 4.7")
    let s390x = profile.evaluated(on: .init(architecture: "s390x", kernel: KernelVersion(5, 0)))
    #expect(s390x.leftOut.map(\.index) == [3, 4, 5, 6])
    #expect(s390x.leftOut.last?.reason.contains("s390x, which this is") == true)
    let old = try OCIProfile(
      #"{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"name":"read","action":"SCMP_ACT_LOG","excludes":{"minKernel":"5.10"}}]}"#
    )
    #expect(old.evaluated(on: .init(architecture: "amd64", kernel: KernelVersion(5, 10))).leftOut.count == 1)
    #expect(old.evaluated(on: .init(architecture: "amd64", kernel: KernelVersion(5, 9))).leftOut.isEmpty)
  }

  @Test func `Podman's shape is taken, and of two entries for a call the stricter holds`() throws {
    let profile = try OCIProfile(Self.podman)
    #expect(profile.defaultAction == .fail(38))
    #expect(profile.entries.map(\.action) == [.fail(1), .allow, .fail(22), .allow])
    let rules = profile.evaluated(on: machine).profile.rules
    #expect(modelled(rules, otherwise: .fail(38), "setns", [0, 0, 0, 0, 0, 0]) == .fail(22))
    #expect(modelled(rules, otherwise: .fail(38), "socket", [16, 0, 0, 0, 0, 0]) == .fail(38))
    #expect(modelled(rules, otherwise: .fail(38), "socket", [1, 0, 0, 0, 0, 0]) == .allow)
    #expect(profile.evaluated(on: machine).profile.explanation(of: "read").parts.first?.reason == "plain")
  }

  @Test(
    arguments: [
      ("ALLOW", .allow), ("ERRNO", .fail(1)), ("KILL", .killThread), ("KILL_THREAD", .killThread),
      ("KILL_PROCESS", .kill),
      ("TRAP", .trap), ("LOG", .log), ("TRACE", .trace(1)),
    ] as [(String, SeccompAction)]) func `every action means what it means elsewhere`(
      word: String, action: SeccompAction
    ) throws
  {
    let profile = try OCIProfile(
      #"{"defaultAction":"SCMP_ACT_\#(word)","syscalls":[{"names":["read"],"action":"SCMP_ACT_\#(word)"}]}"#)
    #expect(profile.defaultAction == action)
    #expect(profile.entries.map(\.action) == [action])
  }

  @Test(
    arguments: [
      ("NE", .notEqual(5)), ("LT", .less(5)), ("LE", .lessOrEqual(5)), ("EQ", .equal(5)), ("GE", .greaterOrEqual(5)),
      ("GT", .greater(5)), ("MASKED_EQ", .masked(mask: 5, value: 0)),
    ] as [(String, SeccompCondition.Comparison)])
  func `every comparison is read`(word: String, comparison: SeccompCondition.Comparison) throws {
    let profile = try OCIProfile(
      Self.entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":3,"value":5,"op":"SCMP_CMP_\#(word)"}]"#)
    )
    #expect(profile.entries.first?.conditions == [.init(argument: 3, .whole(comparison))])
  }

  @Test(arguments: [0, 1, 1 << 63 - 1, 1 << 63, .max] as [UInt64])
  func `arguments are compared in all of their 64 bits`(value: UInt64) throws {
    let args = #"[{"index":0,"value":\#(value),"op":"SCMP_CMP_MASKED_EQ","valueTwo":\#(value)}]"#
    let profile = try OCIProfile(Self.entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","args":\#(args)"#))
    #expect(profile.entries.first?.conditions == [.init(argument: 0, .whole(.masked(mask: value, value: value)))])
  }

  private static func entry(_ fields: String) -> String {
    #"{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{\#(fields)}]}"#
  }
  private static func args(_ fields: String) -> String {
    entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","args":[\#(fields)]"#)
  }
  private static func top(_ fields: String) -> String { #"{"defaultAction":"SCMP_ACT_ALLOW",\#(fields)}"# }

  private static let faults: [(text: String, place: String, reason: String)] = [
    ("", "line 1, column 1", "ends too early"), ("{\n  \"a\" 1}", "line 2, column 7", "colon"),
    ("{} x", "line 1, column 4", "follows the end"), ("[]", "", "must be an object, and is a list"),
    ("{}", "", "no defaultAction"),
    (#"{"defaultAction":1}"#, "defaultAction", "must be a string, and is 1"),
    (#"{"defaultAction":"ALLOW"}"#, "defaultAction", "one of SCMP_ACT_ALLOW, SCMP_ACT_ERRNO"),
    (#"{"defaultAction":"SCMP_ACT_NOTIFY"}"#, "defaultAction", "asks a listener"),
    (#"{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_KILL"}"#, "line 1, column 35", "occurs twice"),
    (top(#""defaultErrnoRet":1"#), "defaultErrnoRet", "SCMP_ACT_ALLOW has no errno"),
    (top(#""sysCalls":[]"#), "sysCalls", "no such key; take it out. Known here: defaultAction"),
    (top(#""a\u001b[31m":[]"#), #"a\u{1B}[31m"#, "no such key"),
    (top(#""syscalls":{}"#), "syscalls", "must be a list, and is an object"),
    (top(#""syscalls":["read"]"#), "syscalls[0]", "must be an object, and is “read”"),
    (top(#""architectures":["amd64"]"#), "architectures[0]", "SCMP_ARCH_X86_64"),
    (top(#""architectures":"SCMP_ARCH_ARM""#), "architectures", "must be a list"),
    (top(#""architectures":[],"archMap":[]"#), "architectures", "archMap, which says the same"),
    (top(#""archMap":[{"subArchitectures":[]}]"#), "archMap[0]", "names no architecture"),
    (
      top(#""archMap":[{"architecture":"SCMP_ARCH_ARM","subArchitectures":[1]}]"#), "archMap[0].subArchitectures[0]",
      "an architecture"
    ),
    (top(#""listenerPath":"/x""#), "listenerPath", "SCMP_ACT_NOTIFY"),
    (top(#""flags":["X"]"#), "flags[0]", "SECCOMP_FILTER_FLAG_LOG"),
    (#"{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":4096}"#, "defaultErrnoRet", "from 0 to 4095, and is 4096"),
    (#"{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":-1}"#, "defaultErrnoRet", "from 0 to 4095"),
    (#"{"defaultAction":"SCMP_ACT_ERRNO","defaultErrno":"EPREM"}"#, "defaultErrno", "name of an errno"),
    (
      #"{"defaultAction":"SCMP_ACT_ERRNO","defaultErrno":"EPERM","defaultErrnoRet":2}"#, "defaultErrno",
      "is 1 on this machine"
    ),
    (entry(#""action":"SCMP_ACT_ALLOW""#), "syscalls[0]", "names no system call"),
    (entry(#""names":[],"action":"SCMP_ACT_ALLOW""#), "syscalls[0]", "names no system call"),
    (entry(#""names":"read","action":"SCMP_ACT_ALLOW""#), "syscalls[0].names", "must be a list"),
    (entry(#""names":[1],"action":"SCMP_ACT_ALLOW""#), "syscalls[0].names[0]", "name of a system call, and is 1"),
    (entry(#""names":["read\u0000x"],"action":"SCMP_ACT_ALLOW""#), "syscalls[0].names[0]", "name of a system call"),
    (entry(#""name":"a","names":["b"],"action":"SCMP_ACT_ALLOW""#), "syscalls[0].name", "also names"),
    (entry(#""names":["read"]"#), "syscalls[0]", "no action"),
    (entry(#""names":["read"],"action":"SCMP_ACT_NOTIFY""#), "syscalls[0].action", "asks a listener"),
    (entry(#""names":["read"],"action":"SCMP_ACT_KILL","errnoRet":1"#), "syscalls[0].errnoRet", "has no errno"),
    (entry(#""names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":"1""#), "syscalls[0].errnoRet", "whole number"),
    (entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","comment":1"#), "syscalls[0].comment", "a string"),
    (entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","includes":[]"#), "syscalls[0].includes", "an object"),
    (
      entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"cap":[]}"#), "syscalls[0].includes.cap",
      "caps, arches, minKernel"
    ),
    (
      entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","excludes":{"caps":["SYS_ADMIN"]}"#),
      "syscalls[0].excludes.caps[0]", "CAP_SYS_ADMIN"
    ),
    (
      entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","excludes":{"arches":["amd46"]}"#),
      "syscalls[0].excludes.arches[0]", "amd64"
    ),
    (
      entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"minKernel":"four"}"#),
      "syscalls[0].includes.minKernel", "4.8"
    ),
    (
      entry(#""names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"minKernel":4.8}"#),
      "syscalls[0].includes.minKernel", "a string"
    ),
    (args(#"{"value":1,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0]", "has no index"),
    (args(#"{"index":6,"value":1,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].index", "from 0 to 5, and is 6"),
    (args(#"{"index":-1,"value":1,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].index", "from 0 to 5"),
    (args(#"{"index":0,"value":-1,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].value", "whole number from 0"),
    (args(#"{"index":0,"value":1.5,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].value", "whole number"),
    (
      args(#"{"index":0,"value":18446744073709551616,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].value",
      "from 0 to 18446744073709551615"
    ),
    (args(#"{"index":0,"value":1}"#), "syscalls[0].args[0]", "has no op"),
    (args(#"{"index":0,"value":1,"op":"EQ"}"#), "syscalls[0].args[0].op", "SCMP_CMP_MASKED_EQ"),
    (
      args(#"{"index":0,"value":1,"valueTwo":2,"op":"SCMP_CMP_EQ"}"#), "syscalls[0].args[0].valueTwo", "MASKED_EQ alone"
    ),
    (
      args(#"{"index":0,"value":1,"valueTwo":2,"op":"SCMP_CMP_MASKED_EQ"}"#), "syscalls[0].args[0].valueTwo",
      "never equal"
    ),
    (
      args(#"{"index":0,"value":1,"op":"SCMP_CMP_GE"},{"index":0,"value":9,"op":"SCMP_CMP_LE"}"#),
      "syscalls[0].args[1]", "compared twice"
    ),
  ]

  @Test(arguments: faults.indices) func `what is wrong is refused with its place and what to do`(index: Int) {
    let (text, place, reason) = Self.faults[index]
    let error = #expect(throws: OCIProfileError.self, "\(text)") { try OCIProfile(text) }
    #expect(error?.place == place, "\(text)")
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    #expect(error?.description.hasPrefix("p.json: ") == true)
  }

  @Test func `what is too deep or too large, or no file at all, is refused`() throws {
    let deep = String(repeating: "[", count: 500_000)
    #expect(throws: OCIProfileError.self) { try OCIProfile(#"{"syscalls":"# + deep) }
    let large = String(repeating: " ", count: OCIProfile.maximumSize + 1)
    #expect(throws: OCIProfileError.self) { try OCIProfile(large) }
    let folder = try TemporaryFolder()
    try folder.write("large", large)
    try folder.write("good", Self.docker)
    let made = unsafe mkfifo("\(folder.path)/pipe", 0o600)
    #expect(made == 0)
    for name in ["large", "missing", "pipe", ""] {
      let error = #expect(throws: OCIProfileError.self) { try OCIProfile(contentsOf: "\(folder.path)/\(name)") }
      #expect(error?.file == "\(folder.path)/\(name)")
    }
    #expect(try OCIProfile(contentsOf: "\(folder.path)/good") == OCIProfile(Self.docker))
  }

  @Test func `a damaged file is taken or refused, and never more`() throws {
    var generator = Seeded(seed: 11)
    var (taken, refused) = (0, 0)
    for text in [Self.docker, Self.podman] {
      let whole = Array(text.utf8)
      for _ in 0..<Rounds.few(1000, of: 4000) {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let index = Int.random(in: bytes.indices, using: &generator)
          switch Int.random(in: 0...4, using: &generator) {
          case 0: bytes[index] = .random(in: 0...255, using: &generator)
          case 1: bytes.remove(at: index)
          case 2: bytes.insert(bytes.randomElement(using: &generator) ?? 0, at: index)
          case 3: bytes.removeSubrange(index..<min(bytes.count, index + 40))
          default: bytes[index] = Array("0123456789{}[],:\"".utf8).randomElement(using: &generator) ?? 0
          }
          if bytes.isEmpty { bytes = [0] }
        }
        do {
          let evaluated = try OCIProfile(parsing: bytes, file: "p.json").evaluated(on: machine)
          _ = try SeccompProgram(strictest: evaluated.profile.rules, otherwise: evaluated.profile.otherwise)
          taken += 1
        } catch is OCIProfileError { refused += 1 }
      }
    }
    #expect(taken > 50)
    #expect(refused > 500)
  }

  @Test(
    arguments: [
      ("4.8", KernelVersion(4, 8)), ("6.1.0-13-amd64", KernelVersion(6, 1)), ("5.10-rc1", KernelVersion(5, 10)),
      ("4", nil),
      ("", nil), ("a.b", nil), ("4.", nil), (".8", nil), ("-4.8", nil), ("4.x", nil),
    ] as [(String, KernelVersion?)]) func `kernels' versions`(text: String, version: KernelVersion?)
  {
    #expect(KernelVersion(text) == version)
  }

  @Test func `they are compared by number, and this machine has one`() {
    #expect(KernelVersion(4, 10) > KernelVersion(4, 8))
    #expect(KernelVersion(5, 0) > KernelVersion(4, 19))
    #expect(OCIProfile.Machine.current.kernel > KernelVersion(4, 0))
    #expect(!OCIProfile.Machine.current.architecture.isEmpty)
  }
}
