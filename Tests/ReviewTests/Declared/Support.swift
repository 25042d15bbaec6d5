import AppModel
import Kernel
import Policy
import Review
import Sandbox
import TestSupport

extension Ground {
  /// A machine that lacks nothing.
  static let whole = Ground(
    layout: SystemLayout(entries: [("/usr", .directory), ("/bin", .link("usr/bin")), ("/etc/localtime", .file)]),
    features: SystemFeatures(
      landlockABI: 7, keyrings: .present, countsProcessesByNamespace: true, groups: Set(GroupController.allCases)),
    memory: 16_000_000_000)
}

extension Policy {
  static func test(_ settings: PolicySettings, name: String = "p") -> Policy {
    Policy(name: name, file: "\(name).toml", description: nil, lineage: ["\(name).toml"], settings: settings)
  }
}

extension Explanation {
  init(_ settings: PolicySettings, app: DeclaredApp? = .test(), on ground: Ground = .whole) {
    self.init(policy: .test(settings), origins: .none, app: app, on: ground)
  }
}

extension DeclaredApp {
  static func test(
    _ entitlements: Entitlements = .none, shares: Bool = false, keys: KeyValuePairs<String, Int> = [:]
  ) -> DeclaredApp {
    DeclaredApp(
      name: "Notes.app", identifier: "org.example.notes",
      manifest: AppManifest(
        bundleIdentifier: "org.example.notes", executable: "Notes", name: "Notes", version: "1",
        sharesDocuments: shares), entitlements: entitlements,
      keys: DeclaredKeys(
        sharing: shares ? [.init(path: "UISupportsDocumentBrowser", line: 7)] : [],
        entitlements: keys.map { .init(path: $0.key, line: $0.value) }))
  }
}

/// Settings and what is stricter than them, at random.
enum RandomSettings {
  private static let paths = [
    "/opt", "/opt/fonts", "/opt/fonts/serif", "/srv/data", "/home/ann/Shared", "/home/ann/Shared/a",
  ]
  private static let variables = ["LANG", "LC_*", "LC_ALL", "LC_C*", "LC_CTYPE", "TZ", "TERM"]
  private static let limits = [1, 20, 64, 1000, 4096, 1 << 20, 1 << 30, 1 << 40]

  static func any(_ random: inout Seeded) -> PolicySettings {
    var settings = PolicySettings.closed
    func some<Element>(_ elements: [Element]) -> [Element] { elements.filter { _ in Bool.random(using: &random) } }
    func limit() -> Int? { Bool.random(using: &random) ? nil : limits.randomElement(using: &random) }
    settings.scopeLimit = Int.random(in: 1...5000, using: &random)
    settings.references = .random(using: &random)
    settings.replacedDocuments = Bool.random(using: &random) ? .follow : .refuse
    settings.readOnlyPaths = some(paths)
    settings.environmentPass = some(variables)
    for name in some(["LC_ALL", "EDITOR", "LANG"]) where !settings.environmentPass.contains(name) {
      settings.environmentSet[name] = ["a", "b"].randomElement(using: &random)
    }
    settings.network = NetworkAccess.allCases.randomElement(using: &random) ?? .none
    settings.entitledNetwork = EntitledNetwork.allCases.randomElement(using: &random) ?? .host
    settings.execute = .random(using: &random)
    settings.limits = Capabilities.Limits(
      processes: limit(), openFiles: limit(), fileSize: limit(),
      memory: [nil, .percent(50), .percent(1), .bytes(1 << 30)].randomElement(using: &random) ?? nil,
      cpuTime: limit(), wallTime: limit(), processors: limit(), container: limit(), containerFiles: limit(),
      cgroup: .random(using: &random))
    settings.observe = .random(using: &random)
    settings.seccompProfile = Bool.random(using: &random) ? nil : "/p.json"
    settings.landlockFiles = .random(using: &random)
    settings.requiredLayers = some(Layer.allCases)
    settings.startsPicked = .random(using: &random)
    settings.outlived = Bool.random(using: &random) ? .allow : .end
    settings.persisted = PersistedGrants.names.map(\.value).randomElement(using: &random) ?? .unlimited
    settings.passing = AppPermission.allCases.randomElement(using: &random) ?? .none
    settings.executing = AppPermission.allCases.randomElement(using: &random) ?? .none
    settings.entitlementTrust = EntitlementTrust.allCases.randomElement(using: &random) ?? .none
    settings.tellsHostPaths = .random(using: &random)
    settings.picker.modes = some(PickerMode.allCases)
    settings.picker.types = Bool.random(using: &random) ? .any : .only(some(["gz", "tar.gz", "txt", "png"]))
    settings.picker.folders = .random(using: &random)
    settings.access = Bool.random(using: &random) ? .readOnly : .readWrite
    settings.lifetime = GrantLifetime(withLaunch: .random(using: &random), seconds: limit())
    settings.bookmarks.create = .random(using: &random)
    settings.bookmarks.documentScoped = .random(using: &random)
    settings.bookmarks.implicit = .random(using: &random)
    settings.bookmarks.lifetime = limit()
    settings.patience = limit()
    settings.silentPresenters = Bool.random(using: &random) ? .refuse : .proceed
    settings.sync = Bool.random(using: &random) ? .group : .full
    return settings
  }

  /// One that says something about some fields.
  static func machine(_ random: inout Seeded) throws -> MachinePolicy {
    let lines = [
      "scopes.limit = 8", "scopes.references = false", "picker.modes = []", "picker.types = [\"gz\", \"public.image\"]",
      "picker.folders = false", "grants.persisted = 20", "grants.pass = \"entitlement\"", "grants.execute = \"none\"",
      "grants.access = \"read-only\"", "grants.lifetime = [\"launch\", \"8h\"]", "bookmarks.create = false",
      "bookmarks.lifetime = \"8h\"", "bookmarks.replaced = \"refuse\"",
      "system.read_only = [\"/opt/fonts\", \"/home/ann/Shared\"]",
      "environment.pass = [\"LC_C*\", \"TZ\"]", "network.access = \"entitlement\"", "network.entitled = \"loopback\"",
      "entitlements.trust = \"ask\"",
      "limits.memory = \"10%\"", "limits.processes = 64", "limits.cgroup = true", "seccomp.profile = \"/m.json\"",
      "landlock.files = true", "audit.observe = true", "audit.sync = \"full\"", "require.layers = [\"seccomp\"]",
    ]
    let text = lines.filter { _ in Bool.random(using: &random) }.joined(separator: "\n")
    return try MachinePolicy(Array(text.utf8), file: "machine.toml")
  }

  /// As strict as these or stricter, in every field.
  static func stricter(_ settings: PolicySettings, _ random: inout Seeded) -> PolicySettings {
    var result = settings
    func lower(_ limit: inout Int?) {
      if Bool.random(using: &random) { limit = Int.random(in: 1...(limit ?? 1 << 40), using: &random) }
    }
    func perhaps(_ change: () -> Void) { if Bool.random(using: &random) { change() } }
    result.scopeLimit = Int.random(in: 1...settings.scopeLimit, using: &random)
    perhaps { result.references = false }
    perhaps { result.replacedDocuments = .refuse }
    result.readOnlyPaths = settings.readOnlyPaths.flatMap { path in
      [[path], [], ["\(path)/one"], ["\(path)/one", "\(path)/two", "\(path)/a/b"]].randomElement(using: &random) ?? []
    }
    result.environmentPass = settings.environmentPass.flatMap { pattern in
      let inner = pattern.dropLast()
      return pattern.hasSuffix("*")
        ? [[pattern], [], (0..<20).map { "\(inner)X\($0)" }, ["\(inner)X*", "\(inner)Y*"]].randomElement(using: &random)
          ?? []
        : [[pattern], []].randomElement(using: &random) ?? []
    }
    perhaps { result.environmentSet["LC_CTYPE"] = "C" }
    if let name = result.environmentSet["LC_CTYPE"], !name.isEmpty {
      result.environmentPass.removeAll { $0 == "LC_CTYPE" }
    }
    perhaps {
      result.network =
        switch settings.network {
        case .host: .loopback
        case .loopback, .none: .none
        case .entitlement: .none
        }
    }
    perhaps { result.entitledNetwork = .loopback }
    perhaps { result.execute = false }
    lower(&result.limits.processes)
    lower(&result.limits.openFiles)
    lower(&result.limits.fileSize)
    lower(&result.limits.cpuTime)
    lower(&result.limits.wallTime)
    lower(&result.limits.processors)
    lower(&result.limits.container)
    lower(&result.limits.containerFiles)
    perhaps { result.limits.memory = .bytes(1 << 24) }
    perhaps { result.limits.cgroup = true }
    perhaps { result.observe = true }
    perhaps { result.seccompProfile = settings.seccompProfile ?? "/q.json" }
    perhaps { result.landlockFiles = true }
    perhaps { result.requiredLayers = Layer.allCases }
    perhaps { result.startsPicked = false }
    perhaps { result.outlived = .end }
    perhaps { result.persisted = .refusing(1) }
    func stricter(_ permission: AppPermission) -> AppPermission {
      [permission, .none, permission == .any ? .entitlement : .none].randomElement(using: &random) ?? .none
    }
    result.passing = stricter(settings.passing)
    result.executing = stricter(settings.executing)
    perhaps { result.entitlementTrust = settings.entitlementTrust == .declared ? .ask : .none }
    perhaps { result.tellsHostPaths = false }
    perhaps { result.picker.modes = [] }
    perhaps {
      result.picker.types =
        switch settings.picker.types {
        case .any: .only(["gz", "png"])
        case .only(let names): .only(names.map { "x.\($0)" })
        }
    }
    perhaps { result.picker.folders = false }
    perhaps { result.access = .readOnly }
    perhaps { result.lifetime.withLaunch = true }
    lower(&result.lifetime.seconds)
    perhaps { result.bookmarks.create = false }
    perhaps { result.bookmarks.documentScoped = false }
    perhaps { result.bookmarks.implicit = false }
    lower(&result.bookmarks.lifetime)
    perhaps { result.sync = .full }
    return result
  }

  /// None, or one that asks for some things.
  static func app(_ random: inout Seeded) -> DeclaredApp? {
    guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
    return .test(
      Entitlements(
        networkClient: .random(using: &random), networkServer: .random(using: &random),
        passGrants: .random(using: &random), executePicked: .random(using: &random)), shares: .random(using: &random))
  }
}
