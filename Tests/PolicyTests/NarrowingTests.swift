import Sandbox
import TestSupport
import Testing

@testable import Policy

/// The algebra of machine-wide policies, with random policies against what they permit, question by question.
@Suite struct NarrowingTests {
  private static let machine = 16 << 30

  /// A random value for each field, as TOML; the same few values often, so that two policies meet.
  private static func value(of field: PolicyField, _ random: inout Seeded) -> String? {
    func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
    func some(_ values: [String]) -> String {
      "[" + values.filter { _ in Bool.random(using: &random) }.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    }
    switch field.name {
    case "description", "inherits": return nil
    case "environment.set": return pick(["{}", "{ EDITOR = \"vi\" }", "{ PAGER = \"a \\u202e b\", \"A.B\" = \"\" }"])
    case "scopes.limit": return pick(["1", "8", "256", "100000"])
    case "picker.modes": return some(PickerMode.allCases.map(\.rawValue))
    case "picker.types":
      return pick(["\"any\"", some(["txt", "tar.gz", "gz", "public.png", "public.data", "public.image"])])
    case "grants.persisted":
      return pick(["5", "128", "512", "1000", "[\"windows\", 5]"] + PersistedGrants.names.map { "\"\($0.name)\"" })
    case "grants.lifetime":
      return pick(["\"forever\"", "\"launch\"", "\"8h\"", "\"90s\"", "[\"launch\", \"30d\"]"])
    case "bookmarks.lifetime", "coordination.patience": return pick(["\"forever\"", "\"8h\"", "\"30d\""])
    case "system.read_only": return some(["/opt", "/opt/tools", "/opt/tools/bin", "/srv/a", "/srv/ab"])
    case "environment.pass": return some(["LANG", "LC_*", "LC_ALL", "L*", "TERM"])
    case "limits.memory": return pick(["\"none\"", "\"50%\"", "\"1 GiB\"", "\"12 GiB\"", "\"100%\""])
    case "limits.processors": return pick(["\"none\"", "0.5", "4"])
    case "limits.cpu_time", "limits.wall_time": return pick(["\"none\"", "5", "\"1h\""])
    case "limits.container": return pick(["\"none\"", "\"1 MiB\"", "\"10 GiB\""])
    case "limits.container_files": return pick(["\"none\"", "10", "1000"])
    case "limits.processes", "limits.open_files", "limits.file_size": return pick(["16", "512", "4096"])
    case "seccomp.profile": return pick(["\"standard\"", "\"/p/a\"", "\"/p/b\"", "[\"/p/b\", \"/p/a\"]"])
    case "require.layers": return some(Layer.allCases.map(\.rawValue))
    default:
      for form in field.forms {
        switch form {
        case .boolean: return pick(["true", "false"])
        case .words(let words): return pick(words.map { "\"\($0.name)\"" })
        default: continue
        }
      }
      Issue.record("\(field.name) has no random value")
      return nil
    }
  }

  private static func file(_ random: inout Seeded, all: Bool = false) throws -> PolicyOverrides {
    var text = ""
    for field in PolicyField.all where all || Int.random(in: 0..<3, using: &random) > 0 {
      if let value = value(of: field, &random) { text += "\(field.name) = \(value)\n" }
    }
    return try PolicyOverrides(StrictTOML.parse(text, file: "/p/x.toml"))
  }

  private static func machinePolicy(_ random: inout Seeded) throws -> MachinePolicy {
    MachinePolicy(overrides: try file(&random), file: "machine")
  }

  private static func settings(_ overrides: PolicyOverrides) -> PolicySettings {
    PolicySettings.closed.overridden(by: overrides)
  }

  /// What can be asked of a policy with yes (it is permitted) or no as the answer.
  private static let questions: [(name: String, isPermitted: @Sendable (PolicySettings) -> Bool)] = {
    var all: [(String, @Sendable (PolicySettings) -> Bool)] = []
    for count in [1, 2, 8, 9, 256, 257, 100_000] { all.append(("\(count) scopes", { $0.scopeLimit >= count })) }
    for count in [1, 5, 6, 128, 129, 500, 512, 513, 1000, 1001, 5000] {
      all.append(("\(count) grants", { count <= $0.persisted.quota ?? .max }))
      all.append(
        (
          "\(count) grants without a bookmark",
          { count <= min($0.persisted.recent ?? .max, $0.persisted.quota ?? .max) }
        ))
    }
    for entitled in [false, true] {
      all.append(("passing, entitled \(entitled)", { $0.passing.covers(entitled) }))
      all.append(("executing, entitled \(entitled)", { $0.executing.covers(entitled) }))
      for reach in [1, 2] { all.append(("network \(reach), entitled \(entitled)", { reachOf($0, entitled) >= reach })) }
    }
    for mode in PickerMode.allCases { all.append(("mode \(mode)", { $0.picker.modes.contains(mode) })) }
    for name in ["a.txt", "a.gz", "a.tar.gz", "tar.gz", ".gz", "a.PNG", "a.jpg", "a", "a.txt.zip"] {
      all.append(("picking \(name)", { $0.picker.types.allows(name) }))
    }
    let flags: [(String, @Sendable (PolicySettings) -> Bool)] = [
      ("folders", { $0.picker.folders }), ("references", { $0.references }), ("starting", { $0.startsPicked }),
      ("outliving", { $0.outlived == .allow }), ("host paths", { $0.tellsHostPaths }),
      ("writing", { $0.access == .readWrite }), ("following", { $0.replacedDocuments == .follow }),
      ("bookmarks", { $0.bookmarks.create }), ("document-scoped", { $0.bookmarks.documentScoped }),
      ("implicit", { $0.bookmarks.implicit }), ("running files", { $0.execute }),
      ("outliving the launch", { !$0.lifetime.withLaunch }), ("not being observed", { !$0.observe }),
      ("no Landlock", { !$0.landlockFiles }), ("no group", { !$0.limits.cgroup }),
      ("group commit", { $0.sync == .group }),
      ("going on without silent presenters", { $0.silentPresenters == .proceed }),
      ("entitlements by declaring them", { $0.entitlementTrust == .declared }),
      ("entitlements by asking the user", { $0.entitlementTrust != .none }),
    ]
    all += flags
    for seconds in [1, 90, 91, 3600, 8 * 3600, 86400, 30 * 86400, 365 * 86400] {
      all.append(("a grant after \(seconds) s", { seconds <= $0.lifetime.seconds ?? .max }))
      all.append(("a bookmark after \(seconds) s", { seconds <= $0.bookmarks.lifetime ?? .max }))
      all.append(("waiting \(seconds) s", { seconds <= $0.patience ?? .max }))
      all.append(("processor for \(seconds) s", { seconds <= $0.limits.cpuTime ?? .max }))
      all.append(("running \(seconds) s", { seconds <= $0.limits.wallTime ?? .max }))
    }
    for path in ["/opt", "/opt/tools", "/opt/tools/bin", "/opt/x", "/srv/a", "/srv/ab", "/srv"] {
      all.append(("seeing \(path)", { $0.readOnlyPaths.contains { path == $0 || path.hasPrefix($0 + "/") } }))
    }
    for name in ["LANG", "LC_ALL", "LC_TIME", "LC_", "L", "TERM", "OTHER"] {
      all.append(("passing \(name)", { $0.environmentPass.contains { EnvironmentName.matches($0, name) } }))
    }
    for gigabytes in [1, 2, 8, 12, 15, 16, 64] {
      all.append(("\(gigabytes) GiB", { gigabytes << 30 <= bytes($0.limits.memory) }))
      all.append(("a container of \(gigabytes) GiB", { gigabytes << 30 <= $0.limits.container ?? .max }))
    }
    for count in [1, 10, 16, 17, 512, 4096, 10_000] {
      all.append(("\(count) processes", { count <= $0.limits.processes ?? .max }))
      all.append(("\(count) files open", { count <= $0.limits.openFiles ?? .max }))
      all.append(("\(count) bytes", { count <= $0.limits.fileSize ?? .max }))
      all.append(("\(count) container files", { count <= $0.limits.containerFiles ?? .max }))
      all.append(("\(count) thousandths", { count <= $0.limits.processors ?? .max }))
    }
    for layer in Layer.allCases { all.append(("running without \(layer)", { !$0.requiredLayers.contains(layer) })) }
    for profile in ["/p/a", "/p/b"] {
      all.append(("calls that \(profile) takes away", { !profiles($0).contains(profile) }))
    }
    return all
  }()

  private static func reachOf(_ settings: PolicySettings, _ entitled: Bool) -> Int {
    switch settings.network {
    case .none: 0
    case .loopback: 1
    case .host: 2
    case .entitlement: entitled ? (settings.entitledNetwork == .host ? 2 : 1) : 0
    }
  }

  private static func bytes(_ memory: Capabilities.Limits.Memory?) -> Int {
    switch memory {
    case .bytes(let bytes): bytes
    case .percent(let share): machine / 100 * share
    case nil: .max
    }
  }

  private static func profiles(_ settings: PolicySettings) -> Set<String> {
    Set([settings.seccompProfile].compactMap { $0 } + settings.furtherSeccompProfiles)
  }

  private static func answers(_ settings: PolicySettings) -> [Bool] { questions.map { $0.isPermitted(settings) } }

  /// What a file permits as a machine-wide one: what it does not speak of, it permits. Some questions are about two fields at once,
  /// so they are put to it as settings under which nothing else stands in the way.
  private static func open() -> PolicySettings {
    var settings = PolicySettings.closed
    settings.scopeLimit = 100_000
    settings.startsPicked = true
    settings.passing = .any
    settings.executing = .any
    settings.entitlementTrust = .declared
    settings.tellsHostPaths = true
    settings.network = .host
    settings.execute = true
    settings.patience = nil
    settings.silentPresenters = .proceed
    settings.readOnlyPaths = ["/opt", "/srv/a", "/srv/ab", "/srv"]
    settings.environmentPass = ["L*", "TERM", "OTHER"]
    return settings
  }

  @Test func `what two policies both permit is permitted, and nothing that either does not`() throws {
    var random = Seeded(seed: 5)
    for round in 0..<Rounds.few(60, of: 200) {
      let user = Self.settings(try Self.file(&random))
      let machine = try Self.machinePolicy(&random)
      let both = user.narrowed(by: machine, memory: Self.machine)
      // The machine-wide policy alone: over what permits everything.
      let alone = Self.open().overridden(by: machine.overrides)
      for (question, isPermitted) in Self.questions {
        let expected = isPermitted(user) && isPermitted(alone)
        // A network left to the entitlement and entitled to less than the fixed one is said in two fields.
        if question.hasPrefix("network") {
          #expect(!isPermitted(both) || expected, "round \(round): \(question)")
        } else {
          #expect(isPermitted(both) == expected, "round \(round): \(question)")
        }
      }
    }
  }

  @Test func `narrowing is commutative in effect, idempotent and associative`() throws {
    var random = Seeded(seed: 7)
    for round in 0..<Rounds.few(25, of: 80) {
      let user = Self.settings(try Self.file(&random))
      let (first, second) = (try Self.machinePolicy(&random), try Self.machinePolicy(&random))
      func narrowed(_ settings: PolicySettings, _ machines: MachinePolicy...) -> PolicySettings {
        machines.reduce(settings) { $0.narrowed(by: $1, memory: Self.machine) }
      }
      let once = narrowed(user, first)
      #expect(narrowed(user, first, first) == once, "round \(round)")
      #expect(
        Self.answers(narrowed(user, first, second)) == Self.answers(narrowed(user, second, first)), "round \(round)")
      let joined = MachinePolicy(
        overrides: first.overrides.narrowed(by: second.overrides, on: .init(memory: Self.machine)), file: "joined")
      #expect(
        Self.answers(narrowed(user, joined)) == Self.answers(narrowed(user, first, second)), "round \(round)")
    }
  }

  @Test func `what is left under machine-wide policies is read again from its own text`() throws {
    var random = Seeded(seed: 13)
    for round in 0..<Rounds.few(90, of: 300) {
      let user = Self.settings(try Self.file(&random))
      let both = try (0...2).reduce(user) { settings, _ in
        settings.narrowed(by: try Self.machinePolicy(&random), memory: Self.machine)
      }
      for settings in [user, both] {
        #expect(try PolicySettings(text: settings.text, file: "log") == settings, "round \(round): \(settings.text)")
      }
    }
  }

  @Test func `a variable that is set is not passed, though a pattern for it was narrowed to its name`() throws {
    let user = Self.settings(
      try PolicyOverrides(StrictTOML.parse("environment = { pass = ['LC_*'], set = { LC_ALL = 'C' } }", file: "x")))
    let machine = try MachinePolicy(Array("environment.pass = ['LC_ALL', 'LC_TIME']".utf8), file: "m")
    let both = user.narrowed(by: machine, memory: Self.machine)
    #expect(both.environmentPass == ["LC_TIME"] && both.environmentSet == ["LC_ALL": "C"])
    #expect(try PolicySettings(text: both.text, file: "log") == both)
  }

  @Test func `a machine-wide policy that says nothing changes nothing`() throws {
    var random = Seeded(seed: 11)
    let nothing = MachinePolicy(overrides: PolicyOverrides(), file: "machine")
    for _ in 0..<20 {
      let settings = Self.settings(try Self.file(&random, all: true))
      #expect(settings.narrowed(by: nothing, memory: Self.machine) == settings)
    }
  }

  @Test func `what a machine-wide policy took away is listed with its file`() throws {
    let machine = try MachinePolicy(
      Array("scopes.limit = 8\nlimits.memory = '10%'\nnetwork.access = 'host'".utf8), file: "/etc/ambit/policy.toml")
    let policy = try PolicyLibrary(directories: []).load("default").narrowed(by: [machine], memory: Self.machine)
    #expect(
      policy.narrowings == [
        Narrowing(field: "scopes.limit", from: "256", to: "8", file: "/etc/ambit/policy.toml"),
        Narrowing(field: "limits.memory", from: "\"50%\"", to: "\"10%\"", file: "/etc/ambit/policy.toml"),
      ])
    #expect(policy.settings.network == .entitlement)
  }

  @Test func `a machine-wide policy may inherit built-in ones, and cannot set variables`() throws {
    let strict = try MachinePolicy(Array("inherits = 'strict'\nscopes.limit = 100".utf8), file: "m.toml")
    let policy = try PolicyLibrary(directories: []).load("default").narrowed(by: [strict], memory: Self.machine)
    #expect(policy.settings.scopeLimit == 100)
    #expect(policy.settings.network == .none)
    #expect(policy.settings.requiredLayers.contains(.landlock))
    #expect(throws: PolicyError.self) { try MachinePolicy(Array("environment.set = { A = '1' }".utf8), file: "m.toml") }
    #expect(throws: PolicyError.self) { try MachinePolicy(Array("inherits = 'mine'".utf8), file: "m.toml") }
  }
}
