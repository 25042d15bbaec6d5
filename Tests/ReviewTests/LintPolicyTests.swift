import AppModel
import Foundation
import Policy
import TestSupport
import Testing

@testable import Review

@Suite struct `What lint finds in policies` {
  private let folder: TestSupport.TemporaryFolder
  private let library: PolicyLibrary

  init() throws {
    folder = try TestSupport.TemporaryFolder()
    library = PolicyLibrary(directories: [URL(fileURLWithPath: folder.path, isDirectory: true)])
  }

  private func resolved(_ text: String) throws -> ResolvedPolicy {
    let path = "\(folder.path)/mine.toml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try library.resolve(path)
  }

  private func findings(_ text: String) throws -> [LintFinding] {
    Lint.findings(policy: try resolved("inherits = \"default\"\n" + text))
  }

  private func names(_ text: String) throws -> [String] { try findings(text).map(\.rule.rawValue) }

  /// What a policy is open for on purpose: whoever develops runs what is built, and gets packages from the network.
  private static let purposes = ["developer": [LintRule.openExecution, .openExecution, .openNetwork]]

  @Test func `the built-in policies have nothing in them that is worse than a note, but what they are for`() throws {
    for name in library.names {
      let findings = Lint.findings(policy: try library.resolve(name)).filter { $0.severity != .note }
      #expect(findings.map(\.rule) == Self.purposes[name] ?? [], "\(name): \(findings)")
    }
  }

  @Test(
    arguments: [
      ("[system]\nread_only = [\"/opt\"]", ["over-broad-path"]),
      ("[system]\nread_only = [\"/opt/tool\"]", []),
      ("[system]\nread_only = [\"/opt/tool\", \"/opt/tool/share\"]", ["path-in-vain"]),
      ("[system]\nread_only = [\"/usr/share/fonts\"]", ["path-in-vain"]),
      ("[system]\nread_only = [\"/home/someone/.ssh\"]", ["secret-path"]),
      ("[system]\nread_only = [\"/home/someone/texts\"]", ["over-broad-path"]),
      ("[network]\naccess = \"host\"", ["open-network"]),
      ("[network]\naccess = \"none\"\nentitled = \"host\"", ["setting-in-vain"]),
      ("[files]\nexecute = true", ["open-execution"]),
      ("[grants]\nexecute = \"any\"", ["open-execution"]),
      ("[grants]\npass = \"any\"", ["open-passing"]),
      ("[environment]\npass = [\"SSH_AUTH_SOCK\"]", ["secret-variable"]),
      ("[environment]\npass = [\"A*\"]", ["over-broad-variable"]),
      ("[environment.set]\nMY_API_KEY = \"x\"", ["secret-variable"]),
      ("[picker]\ntypes = []\nfolders = false", ["nothing-to-pick"]),
      ("[picker]\ntypes = []", ["nothing-to-pick"]),
      ("[picker]\nmodes = []\nfolders = false", []),
      ("[picker]\ntypes = [\"public.data\"]", ["over-broad-type"]),
      ("[picker]\nmodes = []\ntypes = [\"txt\"]", ["setting-in-vain"]),
      ("[grants]\nlifetime = \"launch\"", ["setting-in-vain", "setting-in-vain"]),
      ("[grants]\nlifetime = \"launch\"\n[bookmarks]\ncreate = false\n[scopes]\nreferences = false", []),
      ("[grants]\nlifetime = \"1h\"\n[bookmarks]\nlifetime = \"2h\"", ["setting-in-vain"]),
      ("[bookmarks]\ncreate = false\nimplicit = true", ["setting-in-vain"]),
      ("[limits]\nfile_size = 9000000\ncontainer = 2000000", ["limit-out-of-reach"]),
      ("[limits]\nprocessors = 1\ncpu_time = \"2h\"\nwall_time = \"1h\"", ["limit-out-of-reach"]),
      ("[scopes]\nlimit = 256\n[limits]\nopen_files = 64", ["limit-out-of-reach"]),
      ("[scopes]\nlimit = 256\n[grants]\npersisted = 10", ["limit-out-of-reach"]),
      ("[limits]\nmemory = \"none\"", ["no-limit"]),
    ] as [(String, [String])])
  func `what opens much, and what can never come to anything`(text: String, expected: [String]) throws {
    #expect(try names(text) == expected)
  }

  @Test func `amounts are written as a policy has them, and no built-in one has a limit out of reach`() throws {
    let finding = try findings("[limits]\nfile_size = 1_073_741_824\ncontainer = \"256 MiB\"").first
    #expect(finding?.what == "One file may be larger (1 GiB) than all together (256 MiB).")
    for name in PolicyLibrary(directories: []).names {
      #expect(!Lint.findings(policy: try library.resolve(name)).contains { $0.rule == .limitOutOfReach }, "\(name)")
    }
  }

  @Test func `only where folders are left to be picked is it no more than a note that no file is`() throws {
    #expect(try findings("[picker]\ntypes = []").map(\.severity) == [.note])
    #expect(try findings("[picker]\ntypes = []\nfolders = false").map(\.severity) == [.warning])
  }

  @Test(arguments: [
    ("[system]\nread_only = [\"/proc\"]", "system.read_only cannot have \"/proc\""),
    ("inherits = \"no such\"", "inherits names no policy"),
    ("[scopes]\nlimits = 1", "Unknown key \"limits\""), ("a = ", "This is not valid TOML"),
  ])
  func `a policy that cannot be read is named with its fields as they are written`(text: String, words: String) throws {
    #expect {
      _ = try resolved(text)
    } throws: { error in
      guard let what = (error as? PolicyError).flatMap({ Lint.findings($0, in: "mine.toml").first?.what }) else {
        return false
      }
      return what.hasPrefix(words) && what.hasSuffix(".") && !what.hasSuffix("..")
    }
  }

  @Test func `a finding says the line, and what is inherited is found where it stands`() throws {
    let finding = try #require(try findings("\n[network]\naccess = \"host\"").first)
    #expect(finding.place.description == "\(folder.path)/mine.toml:4: network.access")
    try Data("inherits = \"mine\"\n".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/child.toml"))
    let inherited = Lint.findings(policy: try library.resolve("child"))
    #expect(inherited.first?.place.file == "\(folder.path)/mine.toml")
  }

  @Test func `a policy that requires a layer and turns it off is a finding with its line`() throws {
    do throws(PolicyError) {
      _ = try library.resolve(write("[require]\nlayers = [\"observer\"]\n[audit]\nobserve = false\n"))
      Issue.record("taken")
    } catch {
      let finding = try #require(Lint.findings(error, in: "mine.toml").first)
      #expect(finding.rule == .unusablePolicy && finding.severity == .error && finding.place.line == 2)
      #expect(finding.what.contains("turns it off"))
    }
  }

  @Test func `all that is wrong with a policy is found at once, each with its line`() throws {
    let text = "[scopes]\nlimt = 8\n[limits]\nmemory = 7\ncpu_tme = \"1 h\"\n[network]\naccess = \"hots\"\n"
    do throws(PolicyError) {
      _ = try library.resolve(write(text))
      Issue.record("taken")
    } catch {
      let findings = Lint.findings(error, in: "mine.toml")
      #expect(findings.map(\.place.line) == [2, 4, 5, 7])
      #expect("\(error)".hasSuffix("More is wrong in lines 4, 5, 7."), "\(error)")
    }
  }

  @Test(arguments: [
    ("wall-time", "limits.wall_time", true), ("memory", "limits.memory", true), ("processes", "limits.processes", true),
    ("rlimits", "limits.open_files", true), ("cgroup", "limits.cgroup", true), ("observer", "audit.observe", true),
    ("landlock", "landlock.files", false), ("cpu-time", "", false), ("container-size", "", false),
  ])
  func `a layer that is required and that no launch can have is found`(
    layer: String, field: String, hasOption: Bool
  ) throws {
    let policy = try resolved("[require]\nlayers = [\"\(layer)\"]\n")
    let found = Lint.findings(policy: policy).filter { $0.rule == .notLaunchable }
    #expect(found.map(\.severity) == [hasOption ? .warning : .error])
    #expect(found.first?.place.line == 2 && found.first?.what.contains("--allow-degraded \(layer)") == true)
    #expect(found.first?.remedy.hasPrefix(field.isEmpty ? "Take the layer out." : "Set \(field), or") == true)
  }

  @Test func `a layer that is required and can be had is not found`() throws {
    let text = """
      [require]
      layers = ["wall-time", "memory", "processes", "rlimits", "cgroup", "observer", "landlock", "seccomp", "network"]
      [limits]
      wall_time = "1h"
      memory = "1 GiB"
      processes = 10
      open_files = 100
      file_size = 1000000
      cgroup = true
      [audit]
      observe = true
      [landlock]
      files = true
      """
    #expect(Lint.findings(policy: try resolved(text)).filter { $0.rule == .notLaunchable } == [])
  }

  private func write(_ text: String) -> String {
    let path = "\(folder.path)/mine.toml"
    try? Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  // MARK: - An app under it

  private func under(_ text: String, _ entitlement: String?, _ manifest: String = "") throws -> [LintFinding] {
    let key = entitlement.map { "<key>\($0)</key><true/><key>com.apple.security.app-sandbox</key><true/>" }
    let policy = try resolved("inherits = \"default\"\n" + text)
    let identity = `What lint finds in apps`.identity
    return Lint.under(
      LintedPolicy(policy), manifest: try `What lint finds in apps`.list(identity + manifest),
      entitlements: try key.map { try `What lint finds in apps`.list($0, "Entitlements.plist") })
  }

  @Test(arguments: [
    ("[network]\naccess = \"none\"", "com.apple.security.network.client", "forbidden-network"),
    ("[network]\naccess = \"loopback\"", "com.apple.security.network.server", "forbidden-network"),
    ("[network]\nentitled = \"loopback\"", "com.apple.security.network.client", "forbidden-network"),
    ("[grants]\nexecute = \"none\"", "com.apple.security.files.user-selected.executable", "forbidden-execution"),
    ("[grants]\npass = \"none\"", "io.ambit.pass-grants", "forbidden-passing"),
    ("[grants]\naccess = \"read-only\"", "com.apple.security.files.user-selected.read-write", "forbidden-writing"),
    ("[bookmarks]\ncreate = false", "com.apple.security.files.bookmarks.app-scope", "forbidden-bookmarks"),
    (
      "[bookmarks]\ndocument_scoped = false", "com.apple.security.files.bookmarks.document-scope", "forbidden-bookmarks"
    ),
  ])
  func `an entitlement that asks for what the policy forbids`(policy: String, key: String, name: String) throws {
    let findings = try under(policy, key)
    #expect(findings.map(\.rule.rawValue) == [name])
    // By whose decision: the policy's field, its value and its place.
    #expect(findings.first?.what.contains("mine.toml:3") == true)
    #expect(try under("", key) == [])
  }

  @Test func `the host's network for an app that has not asked`() throws {
    #expect(try under("[network]\naccess = \"host\"", nil).map(\.rule) == [.unaskedNetwork])
    #expect(try under("[network]\naccess = \"host\"", "com.apple.security.network.client") == [])
  }

  @Test func `types that a policy lets nobody pick, and editors that cannot save`() throws {
    func type(_ name: String, _ rest: String = "") -> String {
      "<key>CFBundleDocumentTypes</key><array><dict><key>LSItemContentTypes</key><string>\(name)</string>\(rest)</dict></array>"
    }
    let text = "[picker]\ntypes = [\"public.plain-text\"]"
    #expect(try under(text, nil, type("public.image")).map(\.rule) == [.forbiddenTypes])
    #expect(try under(text, nil, type("public.text")) == [])
    #expect(try under(text, nil, type("org.other.unknown")) == [], "which may be text")
    #expect(try under("", nil, type("public.image")) == [])
    let editor = type("public.text", "<key>CFBundleTypeRole</key><string>Editor</string>")
    #expect(try under("[grants]\naccess = \"read-only\"", nil, editor).map(\.rule) == [.forbiddenWriting])
  }

  @Test(arguments: ["modes = []", "modes = [\"export\", \"move\"]"])
  func `an app for documents under a policy without a picker is said so once`(text: String) throws {
    let types =
      "<key>CFBundleDocumentTypes</key>\n<array>\n"
      + ["public.image", "public.text"].map {
        "<dict><key>CFBundleTypeRole</key><string>Editor</string><key>LSItemContentTypes</key><array><string>\($0)</string></array></dict>"
      }.joined(separator: "\n") + "</array>"
    let found = try under("[picker]\n\(text)", nil, types)
    #expect(found.map(\.rule) == [.forbiddenPicking])
    #expect(found.first?.what.contains("picker.\(text)") == true, "\(found)")
    let selects = "com.apple.security.files.user-selected.read-only"
    #expect(try under("[picker]\n\(text)", selects).map(\.rule) == [.forbiddenPicking])
    #expect(try under("[picker]\n\(text)", nil).map(\.rule) == [])
    #expect(try under("[picker]\nmodes = [\"open\"]", nil, types).map(\.rule) == [])
  }
}
