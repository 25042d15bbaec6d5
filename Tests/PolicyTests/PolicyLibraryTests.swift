import AppModel
import Foundation
import Sandbox
import Testing

@testable import Policy

@Suite struct PolicyLibraryTests {
  let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private var library: PolicyLibrary { PolicyLibrary(directories: [temporary.url]) }

  private func message(_ name: String, in library: PolicyLibrary? = nil) -> String {
    do {
      _ = try (library ?? self.library).load(name)
      return "no error"
    } catch {
      return error.description.replacingOccurrences(of: temporary.path, with: "TMP")
    }
  }

  private static let names =
    "apple-identity, batch, browser, default, developer, editor, game, kiosk, media-player, observed, provider, stress, "
    + "strict, teach, thumbnailer, untrusted, viewer"

  /// The folder of policies that people edit.
  private static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Policies")

  @Test func `the built-in policies are word for word the files in Policies`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.shipped.path).filter { $0.hasSuffix(".toml") }
    #expect(Set(files) == Set(BuiltinPolicies.all.keys.map { $0 + ".toml" }))
    for (name, text) in BuiltinPolicies.all {
      let file = try String(contentsOf: Self.shipped.appendingPathComponent(name + ".toml"), encoding: .utf8)
      #expect(BuiltinPolicies.overrides(name) == (try PolicyOverrides(StrictTOML.parse(text, file: name))))
      #expect(text == file, "run the text of Policies/\(name).toml into BuiltinPolicies.swift")
    }
  }

  @Test(arguments: [("default", 256), ("teach", 8), ("stress", 4096)])
  func `LIM-1 the presets are there without a file`(name: String, limit: Int) throws {
    let policy = try PolicyLibrary(directories: []).load(name)
    #expect(policy.name == name)
    #expect(policy.file == "built-in:\(name)")
    #expect(policy.settings.scopeLimit == limit)
    #expect(policy.settings.references)
    #expect(policy.settings.network == .entitlement)
    #expect(!policy.settings.execute)
    #expect(policy.settings.environmentPass.contains("LC_*"))
    #expect(policy.description?.isEmpty == false)
    #expect(policy.lineage.last == "built-in:default")
  }

  @Test func `a file in a folder stands before the built-in policy, and an earlier folder before a later`() throws {
    let first = try temporary.folder("first")
    let second = try temporary.folder("second")
    try temporary.write("first/teach.toml", "scopes.limit = 1")
    try temporary.write("second/teach.toml", "scopes.limit = 2")
    try temporary.write("second/stress.toml", "scopes.limit = 3")
    let library = PolicyLibrary(directories: [first, second])
    #expect(try library.load("teach").settings.scopeLimit == 1)
    #expect(try library.load("stress").settings.scopeLimit == 3)
    #expect(try library.load("default").settings.scopeLimit == 256)
    #expect(try library.load("teach").file == temporary.path + "/first/teach.toml")
    #expect(library.names.joined(separator: ", ") == Self.names)
  }

  @Test func `a file without inherits starts from what is closed`() throws {
    try temporary.write("bare.toml", "description = \"bare\"")
    let policy = try library.load("bare")
    #expect(policy.settings == .closed)
    #expect(policy.settings.network == .none)
    #expect(policy.settings.environmentPass == [])
    #expect(policy.description == "bare")
    #expect(policy.lineage == [temporary.path + "/bare.toml"])
  }

  @Test func `a path is read as it is, and inherits from the library`() throws {
    let path = try temporary.write("mine.toml", "inherits = 'teach'\nfiles.execute = true")
    let policy = try PolicyLibrary(directories: []).load(path)
    #expect(policy.name == "mine")
    #expect(policy.settings.scopeLimit == 8)
    #expect(policy.settings.execute)
    #expect(policy.description == nil)
    #expect(policy.lineage == [path, "built-in:teach", "built-in:default"])
  }

  @Test func `a policy that inherits its own name means the one that it stands before`() throws {
    try temporary.write("default.toml", "inherits = 'default'\nscopes.limit = 3")
    #expect(try library.load("default").settings.scopeLimit == 3)
    #expect(try library.load("default").settings.network == .entitlement)
    #expect(try library.load("default").lineage == [temporary.path + "/default.toml", "built-in:default"])
    // Others inherit the nearer one.
    try temporary.write("other.toml", "inherits = 'default'")
    #expect(try library.load("other").settings.scopeLimit == 3)
  }

  // MARK: - Errors

  @Test func `a name that nobody has is answered with the nearest and the places`() {
    #expect(
      message("teech")
        == "There is no policy called \"teech\"; did you mean \"teach\"? Known policies: \(Self.names). Looked "
        + "in TMP and among the built-in ones.")
    #expect(
      message("zzz", in: PolicyLibrary(directories: []))
        == "There is no policy called \"zzz\". Known policies: \(Self.names)."
    )
    #expect(message("").hasPrefix("There is no policy called \"\"."))
    #expect(message("..").hasPrefix("There is no policy called \"..\"."))
  }

  @Test func `a file that cannot be read is named`() throws {
    #expect(message("TMP/none.toml") == "The policy file TMP/none.toml cannot be read: there is no such file.")
    #expect(message("none.toml") == "The policy file none.toml cannot be read: there is no such file.")
    _ = try temporary.folder("folder.toml")
    let folder = message(temporary.path + "/folder.toml")
    #expect(folder.hasPrefix("The policy file TMP/folder.toml cannot be read: "), "\(folder)")
    let byName = message("folder")
    #expect(byName.hasPrefix("The policy file TMP/folder.toml cannot be read: "), "\(byName)")
    let large = try temporary.write("large.toml", "name = \"\(String(repeating: "x", count: 1 << 20))\"")
    #expect(message(large) == "TMP/large.toml:1:1: the file is larger than 1 MiB; is it the right one?")
  }

  @Test func `what is no regular file is refused at once, and nobody waits for a pipe`() throws {
    let pipe = "\(temporary.path)/pipe.toml"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(message(pipe) == "The policy file TMP/pipe.toml cannot be read: it is no regular file.")
    #expect(message("pipe") == "The policy file TMP/pipe.toml cannot be read: it is no regular file.")
    #expect(message("/dev/zero") == "The policy file /dev/zero cannot be read: it is no regular file.")
  }

  @Test func `a parent that nobody has is named with the place`() throws {
    try temporary.write("a.toml", "\ninherits = 'stres'")
    #expect(
      message("a")
        == "TMP/a.toml:2:12: inherits names no policy: there is none called \"stres\"; did you mean \"stress\"? Known "
        + "policies: a, \(Self.names). Looked in TMP and among the built-in ones."
    )
    try temporary.write("b.toml", "inherits = 'b'")
    #expect(
      message("b")
        == "TMP/b.toml:1:12: inherits names the policy itself, and there is no other called \"b\" that it stands "
        + "before; take it out")
  }

  @Test func `a circle is an error, with every step`() throws {
    try temporary.write("a.toml", "inherits = 'b'")
    try temporary.write("b.toml", "inherits = 'c'")
    try temporary.write("c.toml", "inherits = 'b'")
    #expect(
      message("a")
        == "TMP/c.toml:1:12: inherits goes round in a circle: TMP/a.toml → TMP/b.toml → TMP/c.toml → TMP/b.toml; take one "
        + "of the steps out")
    try temporary.write("default.toml", "inherits = 'teach'")
    #expect(message("default").contains("goes round in a circle: TMP/default.toml → built-in:teach → TMP/default.toml"))
  }

  @Test func `an error in a parent names the parent's file`() throws {
    try temporary.write("a.toml", "inherits = 'b'")
    try temporary.write("b.toml", "[scopes]\nlimits = 1")
    #expect(message("a").hasPrefix("TMP/b.toml:2:1: unknown key \"limits\" in [scopes]; did you mean \"limit\"?"))
  }

  // MARK: - Capabilities

  @Test(arguments: [
    (NetworkAccess.none, false, false, Capabilities.Network.none), (.none, true, true, .none),
    (.host, false, false, .host), (.host, true, true, .host),
    (.loopback, false, false, .loopback), (.loopback, true, true, .loopback),
    (.entitlement, false, false, .none), (.entitlement, true, false, .host), (.entitlement, false, true, .host),
    (.entitlement, true, true, .host),
  ])
  func `the network opens for an entitlement only where the policy leaves it to the entitlements`(
    access: NetworkAccess, client: Bool, server: Bool, expected: Capabilities.Network
  ) {
    var settings = PolicySettings.closed
    settings.network = access
    let policy = Policy(name: "p", file: "p.toml", description: nil, lineage: [], settings: settings)
    let entitlements = Entitlements(networkClient: client, networkServer: server)
    #expect(Capabilities(policy: policy, entitlements: entitlements).network == expected)
    // What an entitlement opens is the policy's to say, and of nothing else.
    settings.entitledNetwork = .loopback
    let lesser = Policy(name: "p", file: "p.toml", description: nil, lineage: [], settings: settings)
    #expect(
      Capabilities(policy: lesser, entitlements: entitlements).network
        == (access == .entitlement && expected == .host ? .loopback : expected))
  }

  @Test func `capabilities hold what the file says, and survive JSON`() throws {
    let path = try temporary.write("full.toml", PolicyDecodingTests.full)
    let capabilities = Capabilities(policy: try library.load(path), entitlements: .none)
    #expect(capabilities.scopeLimit == 12)
    #expect(!capabilities.references)
    #expect(capabilities.replacedDocuments == .refuse)
    #expect(capabilities.readOnlyPaths == ["/opt/tools", "/usr/local/share"])
    #expect(capabilities.environmentPass == ["LANG", "LC_*"])
    #expect(capabilities.environmentSet == ["EDITOR": "vi", "LC_ALL": "C"])
    #expect(capabilities.network == .host)
    #expect(capabilities.execute)
    #expect(
      capabilities.limits
        == Capabilities.Limits(
          processes: 512, openFiles: 1024, fileSize: 1_000_000, memory: .bytes(3 << 29), cpuTime: 5400, wallTime: 90,
          processors: 1500, container: 10_000_000_000, containerFiles: 5, cgroup: true))
    #expect(capabilities.policyName == "full")
    let data = try JSONEncoder().encode(capabilities)
    #expect(try JSONDecoder().decode(Capabilities.self, from: data) == capabilities)
  }

  @Test func `variables pass by name and by pattern, and never those that a policy may not name`() throws {
    try temporary.write("e.toml", "[environment]\npass = ['LANG', 'LC_*', 'L*', 'HOME*']")
    let capabilities = Capabilities(policy: try library.load("e"), entitlements: .none)
    let names = ["LANG", "LC_ALL", "LC_TIME", "LD_PRELOAD", "HOME", "HOMEBREW", "SECRET", "", "lang"]
    #expect(names.filter(capabilities.passes) == ["LANG", "LC_ALL", "LC_TIME", "HOMEBREW"])
  }
}
