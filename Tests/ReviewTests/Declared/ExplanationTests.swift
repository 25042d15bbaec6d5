import AppModel
import Foundation
import Policy
import Review
import Sandbox
import TestSupport
import Testing

@Suite struct `What an explanation says` {
  /// For each field of a policy's settings a change that some app notices, and what the app asks for.
  private static let changes: [String: @Sendable (inout PolicySettings) -> Void] = [
    "scopeLimit": { $0.scopeLimit = 3 }, "references": { $0.references.toggle() },
    "replacedDocuments": { $0.replacedDocuments = .refuse }, "readOnlyPaths": { $0.readOnlyPaths = ["/opt/fonts"] },
    "environmentPass": { $0.environmentPass = ["TZ"] }, "environmentSet": { $0.environmentSet = ["EDITOR": "ed"] },
    "network": { $0.network = .loopback }, "execute": { $0.execute.toggle() },
    "observe": { $0.observe.toggle() }, "seccompProfile": { $0.seccompProfile = "/p.json" },
    "landlockFiles": { $0.landlockFiles.toggle() }, "entitledNetwork": { $0.entitledNetwork = .loopback },
    "entitlementTrust": { $0.entitlementTrust = .declared },
    "requiredLayers": { $0.requiredLayers = [.seccomp] }, "startsPicked": { $0.startsPicked.toggle() },
    "outlived": { $0.outlived = .end }, "persisted": { $0.persisted = .android },
    "passing": { $0.passing = .any }, "executing": { $0.executing = .any },
    "tellsHostPaths": { $0.tellsHostPaths.toggle() },
    "picker.modes": { $0.picker.modes = [] }, "picker.types": { $0.picker.types = .only(["txt"]) },
    "picker.folders": { $0.picker.folders.toggle() }, "access": { $0.access = .readOnly },
    "lifetime.withLaunch": { $0.lifetime.withLaunch = true }, "lifetime.seconds": { $0.lifetime.seconds = 60 },
    "bookmarks.create": { $0.bookmarks.create.toggle() },
    "bookmarks.documentScoped": { $0.bookmarks.documentScoped.toggle() },
    "bookmarks.implicit": { $0.bookmarks.implicit.toggle() }, "bookmarks.lifetime": { $0.bookmarks.lifetime = 60 },
    "patience": { $0.patience = 5 }, "silentPresenters": { $0.silentPresenters = .proceed },
    "sync": { $0.sync = .full },
    "furtherSeccompProfiles": { $0.furtherSeccompProfiles = ["/machine.json"] },
    "limits.processes": { $0.limits.processes = 7 }, "limits.openFiles": { $0.limits.openFiles = 77 },
    "limits.fileSize": { $0.limits.fileSize = 7 }, "limits.memory": { $0.limits.memory = .percent(7) },
    "limits.cpuTime": { $0.limits.cpuTime = 7 }, "limits.wallTime": { $0.limits.wallTime = 7 },
    "limits.processors": { $0.limits.processors = 700 }, "limits.container": { $0.limits.container = 7 << 20 },
    "limits.containerFiles": { $0.limits.containerFiles = 7 }, "limits.cgroup": { $0.limits.cgroup.toggle() },
  ]

  private static var fields: [String] {
    Mirror(reflecting: PolicySettings.closed).children.flatMap { child -> [String] in
      guard let label = child.label else { return [] }
      guard ["limits", "picker", "bookmarks", "lifetime"].contains(label) else { return [label] }
      return Mirror(reflecting: child.value).children.compactMap { $0.label.map { "\(label).\($0)" } }
    }
  }

  @Test func `Every field of a policy's settings is known here`() {
    #expect(Set(Self.fields) == Set(Self.changes.keys))
  }

  @Test(arguments: fields) func `A change of any field of a policy's settings changes what is explained`(
    field: String
  ) throws {
    // The entitlement decides, so that both fields about the network do.
    var settings = PolicySettings.closed
    settings.network = .entitlement
    let change = try #require(Self.changes[field])
    var changed = settings
    change(&changed)
    let app = DeclaredApp.test(Entitlements(networkClient: true))
    #expect(Explanation(settings, app: app).entries != Explanation(changed, app: app).entries, "\(field)")
    #expect(Explanation(settings, app: app) == Explanation(settings, app: app))
  }

  @Test func `Every verb of the vocabulary is in every explanation, possible or not`() {
    var random = Seeded(seed: 1)
    for _ in 0..<60 {
      let explanation = Explanation(RandomSettings.any(&random), app: RandomSettings.app(&random))
      for verb in Ability.Verb.allCases where verb != .givenVariable {
        #expect(!explanation[verb].isEmpty, "\(verb)")
        #expect(explanation[verb].allSatisfy { !$0.decisions.isEmpty })
      }
    }
  }

  @Test func `What is said of the network is what the sandbox gets`() {
    var random = Seeded(seed: 2)
    for _ in 0..<60 {
      let settings = RandomSettings.any(&random)
      guard let app = RandomSettings.app(&random) else { continue }
      let explanation = Explanation(settings, app: app)
      /// What the sandbox has of it, where the user allows all that they are asked about, and where nothing.
      func launch(allowing allowed: Set<WideningEntitlement>) -> Capabilities {
        let ruling = EntitlementRuling(declared: app.entitlements, under: settings, allowing: allowed)
        return Capabilities(policy: .test(settings), entitlements: ruling.given)
      }
      let capabilities = launch(allowing: [])
      let most = launch(allowing: Set(WideningEntitlement.allCases))
      let questions: [(Ability.Verb, (Capabilities) -> Bool)] = [
        (.connectOut, { $0.network == .host }), (.ownLoopback, { $0.network.hasSockets }),
        (.runPicked, { $0.executesPicked }), (.passGrants, { $0.mayPass }),
      ]
      for (verb, has) in questions {
        let extent: Extent = has(capabilities) ? .yes : has(most) ? .ifAllowed : .no
        #expect(explanation.extent(of: Ability(verb)) == extent, "\(verb) \(settings)")
      }
      for name in ["LANG", "LC_ALL", "LC_CTYPE", "LC_X", "TZ", "EDITOR", "PATH"] {
        let isPassed = capabilities.passes(name) && capabilities.environmentSet[name] == nil
        #expect(explanation.extent(of: Ability(.seeVariable, name)) == Extent(isPassed), "\(name) \(settings)")
      }
    }
  }

  @Test func `A policy alone says what it gives to an app that asks`() {
    var settings = PolicySettings.closed
    settings.network = .entitlement
    settings.passing = .entitlement
    for (trust, extent) in [(EntitlementTrust.none, Extent.no), (.ask, .ifAllowed), (.declared, .ifAsked)] {
      settings.entitlementTrust = trust
      let any = Explanation(settings, app: nil)
      #expect(any.extent(of: Ability(.connectOut)) == extent && any.extent(of: Ability(.passGrants)) == extent)
    }
    let any = Explanation(settings, app: nil)
    #expect(any.extent(of: Ability(.connectOut)) == .ifAsked)
    #expect(any.extent(of: Ability(.passGrants)) == .ifAsked)
    settings.entitledNetwork = .loopback
    let loopback = Explanation(settings, app: nil)
    #expect(loopback.extent(of: Ability(.connectOut)) == .no)
    #expect(loopback.extent(of: Ability(.ownLoopback)) == .ifAsked)
  }

  @Test func `A decision names file and line of the nearest policy that says anything`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      "base.toml", "inherits = \"default\"\n[scopes]\nlimit = 9\n[environment]\npass = [\n  \"TZ\",\n  \"LANG\",\n]\n")
    let path = try folder.write(
      "mine.toml",
      "inherits = \"base\"\n\n[network]\naccess = \"host\"\n[system]\nread_only = [\n\"/opt/a\",\n\"/opt/b\"]\n")
    let library = PolicyLibrary(directories: [URL(fileURLWithPath: folder.path)])
    let resolved = try library.resolve(path)
    let policy = try resolved.policy.limited(by: ["processes=5"])
    let explanation = Explanation(
      policy: policy, origins: PolicyOrigins(of: resolved, limitedBy: ["processes=5"]), app: .test(), on: .whole)

    func place(_ ability: Ability) -> String? {
      let entry = explanation.entries.first { $0.ability == ability }
      guard case .policy(let origin)? = entry?.decisions.first else { return nil }
      return "\(origin.file.split(separator: "/").last ?? ""):\(origin.position.line) \(origin.value)"
    }
    #expect(place(Ability(.connectOut)) == "mine.toml:4 \"host\"")
    #expect(place(Ability(.readPath, "/opt/b")) == "mine.toml:8 \"/opt/b\"")
    #expect(place(Ability(.startDocuments)) == "base.toml:3 9")
    #expect(place(Ability(.seeVariable, "LANG")) == "base.toml:7 \"LANG\"")
    #expect(place(Ability(.keepReferences)) == "built-in:default:10 true")
    #expect(place(Ability(.processes)) == "--limit processes=5:1 5")
    #expect(explanation[.openFiles].first?.decisions == [.unsaid(key: "limits.open_files")])
    let first = try #require(explanation[.processes].first?.decisions.first)
    #expect(first.words == "--limit processes=5")
  }

  @Test
  func
    `What an app declares it has by its policy, if its user allows it, or not at all; and the line that says so is named`()
    throws
  {
    var settings = PolicySettings.closed
    settings.network = .entitlement
    settings.passing = .entitlement
    settings.executing = .entitlement
    let app = DeclaredApp.test(Entitlements(networkClient: true, passGrants: true))
    for (trust, extent) in [(EntitlementTrust.none, Extent.no), (.ask, .ifAllowed), (.declared, .yes)] {
      settings.entitlementTrust = trust
      let explanation = Explanation(settings, app: app)
      for verb in [Ability.Verb.connectOut, .ownLoopback, .passGrants] {
        let entry = try #require(explanation[verb].first)
        #expect(entry.extent == extent, "\(verb) under \(trust)")
        #expect(entry.decisions.contains(.unsaid(key: "entitlements.trust")))
      }
      // What it does not declare nobody is asked about.
      let run = try #require(explanation[.runPicked].first)
      #expect(run.extent == .no && !run.decisions.contains(.unsaid(key: "entitlements.trust")))
    }
    settings.network = .host
    let open = try #require(Explanation(settings, app: app)[.connectOut].first)
    #expect(open.extent == .yes && open.decisions == [.unsaid(key: "network.access")])
  }

  @Test func `An entitlement that decides is named, and so are those that would have`() throws {
    var settings = PolicySettings.closed
    settings.network = .entitlement
    let asking = Explanation(settings, app: .test(Entitlements(networkServer: true)))
    #expect(
      try #require(asking[.connectOut].first).decisions.last
        == .entitlement(file: "Entitlements.plist", key: "com.apple.security.network.server"))
    let silent = Explanation(settings)
    #expect(
      try #require(silent[.connectOut].first).decisions.last
        == .notAsked(keys: ["com.apple.security.network.client", "com.apple.security.network.server"]))
  }

  @Test func `What an app declares is named with the line where it stands, where that is known`() throws {
    var settings = PolicySettings.closed
    settings.network = .entitlement
    settings.access = .readWrite
    let client = "com.apple.security.network.client"
    let app = DeclaredApp.test(
      Entitlements(networkClient: true, sandbox: AppSandbox(selection: .readOnly)), shares: true,
      keys: [client: 12, "com.apple.security.app-sandbox": 3])
    let explanation = Explanation(settings, app: app)
    func words(_ verb: Ability.Verb) -> [String] { explanation[verb].first?.decisions.map(\.words) ?? [] }
    #expect(words(.connectOut).last == "Entitlements.plist:12 \(client)")
    #expect(words(.showDocuments) == ["Info.plist:7 UISupportsDocumentBrowser"])
    // Who is held to Apple's sandbox has asked for it.
    #expect(
      words(.changePicked).suffix(2) == [
        "Entitlements.plist:3 com.apple.security.app-sandbox",
        "the app does not ask: com.apple.security.files.user-selected.read-write",
      ])
    let binary = DeclaredApp.test(Entitlements(networkClient: true))
    #expect(
      Explanation(settings, app: binary)[.connectOut].first?.decisions.last?.words == "Entitlements.plist \(client)")
  }

  @Test func `A list is shown as it is where it is short, and a grant's end with the launch is said`() throws {
    let folder = try TestSupport.TemporaryFolder()
    let path = "\(folder.path)/mine.toml"
    try
      "grants.lifetime = [\"launch\", \"8h\"]\npicker.types = [\"public.image\", \"com.adobe.pdf\", \"public.source-code\", \"public.html\", \"org.idpf.epub-container\"]\n"
      .write(toFile: path, atomically: false, encoding: .utf8)
    let resolved = try PolicyLibrary(directories: []).resolve(path)
    let explanation = Explanation(
      policy: resolved.policy, origins: PolicyOrigins(of: resolved), app: nil, on: .whole)
    let use = try #require(explanation[.useGrants].first)
    #expect(use.extent == .upTo(8 * 3600) && use.manner == "as long as its launch lasts")
    #expect(use.decisions.first?.words.hasSuffix(":1 grants.lifetime = [\"launch\", \"8h\"]") == true)
    #expect(explanation[.pickTypes].first?.decisions.first?.words.hasSuffix("picker.types = […]") == true)
  }

  @Test func `A share of memory is one of this machine's, and a kernel without a second wall is named`() throws {
    var settings = PolicySettings.closed
    settings.limits.memory = .percent(25)
    settings.landlockFiles = true
    #expect(Explanation(settings).extent(of: Ability(.memory)) == .upTo(4_000_000_000))
    #expect(Explanation(settings).extent(of: Ability(.singleWall)) == .no)

    var ground = Ground.whole
    ground.features.landlockABI = nil
    let lacking = Explanation(settings, on: ground)
    #expect(lacking.extent(of: Ability(.singleWall)) == .yes)
    guard case .kernel(.landlock, .notEnforced)? = lacking[.singleWall].first?.decisions.last else {
      Issue.record("\(lacking[.singleWall])")
      return
    }
  }

  @Test func `A folder has what lies in it, and a pattern has the names that it stands for`() {
    #expect(Ability(.readPath, "/opt").covers(Ability(.readPath, "/opt/fonts")))
    #expect(!Ability(.readPath, "/opt").covers(Ability(.readPath, "/optical")))
    #expect(!Ability(.readPath, "/opt/fonts").covers(Ability(.readPath, "/opt")))
    #expect(Ability(.seeVariable, "LC_*").covers(Ability(.seeVariable, "LC_ALL")))
    #expect(Ability(.seeVariable, "LC_*").covers(Ability(.seeVariable, "LC_C*")))
    #expect(!Ability(.seeVariable, "LC_ALL").covers(Ability(.seeVariable, "LC_*")))
    #expect(!Ability(.givenVariable, "LC_*").covers(Ability(.givenVariable, "LC_ALL")))
  }

  @Test(arguments: [
    (AbilityUnit.bytes, 1023, "1023 B"), (.bytes, 1 << 30, "1 GiB"), (.bytes, 1_536 << 20, "1.5 GiB"), (.count, 7, "7"),
    (.seconds, 5400, "1h30m"), (.seconds, 0, "0s"), (.milliprocessors, 1500, "1.5"), (.milliprocessors, 10, "0.01"),
  ])
  func `Amounts are written as policies write them`(unit: AbilityUnit, amount: Int, text: String) {
    #expect(unit.text(amount) == text)
  }
}
