import Foundation
import Sandbox
import Testing

@testable import Policy

@Suite struct PolicyDecodingTests {
  static let full = """
    description = "Everything said"
    inherits = "default"

    [scopes]
    limit = 12
    references = false
    start_picked = true
    outlived = "end"

    [grants]
    persisted = "android-10"
    pass = "any"
    execute = "none"
    host_paths = true
    access = "read-only"
    lifetime = ["launch", "8h"]

    [picker]
    modes = ["import", "open"]
    types = ["public.png", "tar.gz"]
    folders = false

    [bookmarks]
    replaced = "refuse"
    create = false
    document_scoped = false
    implicit = false
    lifetime = "30d"

    [coordination]
    patience = "30s"
    silent = "proceed"

    [system]
    read_only = ["/opt/tools", "/usr/local/share"]

    [environment]
    pass = ["LANG", "LC_*"]
    set = { EDITOR = "vi", "LC_ALL" = "C" }

    [network]
    access = "host"
    entitled = "loopback"

    [files]
    execute = true

    [limits]
    processes = 512
    open_files = 1024
    file_size = 1_000_000
    memory = "1.5 GiB"
    cpu_time = "1h30m"
    wall_time = 90
    processors = 1.5
    container = "10GB"
    container_files = 5
    cgroup = true

    [audit]
    observe = true
    sync = "full"

    [seccomp]
    profile = "/p/containers.json"

    [landlock]
    files = true

    [require]
    layers = ["seccomp", "file-tree"]
    """

  @Test func `every key of a policy file is read`() throws {
    let overrides = try PolicyOverrides(StrictTOML.parse(Self.full, file: "x.toml"))
    #expect(
      overrides
        == PolicyOverrides(
          description: "Everything said", inherits: ["default"], scopeLimit: 12, references: false,
          startsPicked: true, outlived: .end, persisted: .android10, passing: .any,
          executing: AppPermission.none, tellsHostPaths: true,
          replacedDocuments: .refuse,
          readOnlyPaths: ["/opt/tools", "/usr/local/share"], environmentPass: ["LANG", "LC_*"],
          environmentSet: ["EDITOR": "vi", "LC_ALL": "C"], network: .host, entitledNetwork: .loopback, execute: true,
          processes: 512,
          openFiles: 1024, fileSize: 1_000_000, memory: .at(.bytes(3 << 29)), cpuTime: .at(5400), wallTime: .at(90),
          processors: .at(1500), container: .at(10_000_000_000), containerFiles: .at(5), cgroup: true, observe: true,
          seccompProfile: "/p/containers.json", landlockFiles: true, requiredLayers: [.seccomp, .fileTree],
          pickerModes: [.open, .import], pickedTypes: .only(["public.png", "tar.gz"]), pickedFolders: false,
          access: .readOnly, lifetime: GrantLifetime(withLaunch: true, seconds: 8 * 3600), createsBookmarks: false,
          documentBookmarks: false, implicitBookmarks: false, bookmarkLifetime: .at(30 * 86400), patience: .at(30),
          silentPresenters: .proceed, sync: .full, furtherSeccompProfiles: []))
  }

  @Test(arguments: [
    ("a.json", "/policies/a.json"), ("../a.json", "/policies/../a.json"), ("/b/a.json", "/b/a.json"),
    ("standard", "standard"), ("./standard", "/policies/./standard"),
  ])
  func `a seccomp profile lies beside the policy that names it`(text: String, path: String) throws {
    let parsed = try StrictTOML.parse("seccomp.profile = \"\(text)\"", file: "/policies/x.toml")
    #expect(try PolicyOverrides(parsed).seccompProfile == path)
  }

  @Test func `of several seccomp profiles all hold, and one that is named later takes the place of all`() throws {
    let several = PolicySettings.closed.overridden(
      by: try PolicyOverrides(StrictTOML.parse("seccomp.profile = [\"a\", \"/q/b\"]", file: "/p/x.toml")))
    #expect(several.seccompProfile == "/p/a" && several.furtherSeccompProfiles == ["/q/b"])
    for (text, profile) in [("\"c\"", "/p/c"), ("\"standard\"", nil)] {
      let one = several.overridden(
        by: try PolicyOverrides(StrictTOML.parse("seccomp.profile = \(text)", file: "/p/x.toml")))
      #expect(one.seccompProfile == profile && one.furtherSeccompProfiles.isEmpty)
    }
  }

  @Test func `a seccomp profile is taken over, replaced and taken out again`() throws {
    func settings(_ texts: String...) throws -> String? {
      try texts.reduce(PolicySettings.closed) {
        $0.overridden(by: try PolicyOverrides(StrictTOML.parse($1, file: "/p/x.toml")))
      }.seccompProfile
    }
    #expect(try settings("") == nil)
    #expect(try settings("seccomp.profile = \"a\"", "") == "/p/a")
    #expect(try settings("seccomp.profile = \"a\"", "seccomp.profile = \"b\"") == "/p/b")
    #expect(try settings("seccomp.profile = \"a\"", "seccomp.profile = \"standard\"") == nil)
    for wrong in ["\"\"", "1", "\"a\\u001bb\"", "[]", "[\"a\", \"standard\"]", "[\"a\", \"./b\", \"a\"]", "[1]"] {
      #expect(complaint("seccomp.profile = \(wrong)")?.contains("seccomp.profile") == true, "\(wrong)")
    }
    #expect(complaint("seccomp.profil = \"a\"")?.contains("did you mean \"profile\"?") == true)
  }

  @Test func `an empty file says nothing`() throws {
    #expect(try PolicyOverrides(StrictTOML.parse("", file: "x.toml")) == PolicyOverrides())
    #expect(try PolicyOverrides(StrictTOML.parse("[scopes]\n[network]\n# end", file: "x.toml")) == PolicyOverrides())
  }

  @Test(arguments: [
    ("\"teach\"", 8), ("\"default\"", 256), ("\"stress\"", 4096), ("1", 1), ("0x10", 16), ("100_000", 100_000),
  ])
  func `LIM-1 a limit is a number or a preset`(value: String, limit: Int) throws {
    #expect(try PolicyOverrides(StrictTOML.parse("scopes.limit = \(value)", file: "x.toml")).scopeLimit == limit)
  }

  @Test(arguments: [
    // Unknown words.
    (
      "[scopes]\nlimt = 8",
      "x.toml:2:1: unknown key \"limt\" in [scopes]; did you mean \"limit\"? Known keys: limit, references, start_picked, outlived."
    ),
    (
      "scopes = { limit = 8, referencs = true }",
      "x.toml:1:23: unknown key \"referencs\" in [scopes]; did you mean \"references\"? Known keys: limit, references, start_picked, outlived."
    ),
    (
      "scopes.Limit = 8",
      "x.toml:1:8: unknown key \"Limit\" in [scopes]; did you mean \"limit\"? Known keys: limit, references, start_picked, outlived."
    ),
    (
      "\n  [scope]\nlimit = 8",
      "x.toml:2:4: unknown table \"scope\" at the top of the file; did you mean \"scopes\"? Known keys: description, "
        + "inherits, scopes, picker, grants, entitlements, bookmarks, coordination, system, environment, network, files, limits, audit, seccomp, "
        + "landlock, require."
    ),
    (
      "colour = 1",
      "x.toml:1:1: unknown key \"colour\" at the top of the file. Known keys: description, inherits, scopes, picker, grants, entitlements, bookmarks, "
        + "coordination, system, environment, network, files, limits, audit, seccomp, landlock, require."
    ),
    (
      "[limits]\nmemry = 1\n[files]\nexec = 1",
      "x.toml:2:1: unknown key \"memry\" in [limits]; did you mean \"memory\"? Known keys: processes, "
        + "open_files, file_size, memory, cpu_time, wall_time, processors, container, container_files, cgroup. "
        + "More is wrong in line 4."
    ),
    (
      "[files]\n\"ex\\u0065cut\\u001b\" = true",
      "x.toml:2:1: unknown key \"execut\\u{1b}\" in [files]; did you mean \"execute\"? Known keys: execute."
    ),
    // Wrong types.
    ("description = 1", "x.toml:1:15: description must be a string, and is an integer (1)"),
    ("scopes = 8", "x.toml:1:10: scopes must be a table, and is an integer (8)"),
    ("[[scopes]]\nlimit = 8", "x.toml:1:3: scopes must be a table, and is an array"),
    (
      "[scopes]\nreferences = \"yes\"",
      "x.toml:2:14: scopes.references must be true or false, and is a string (\"yes\")"
    ),
    (
      "[system]\nread_only = \"/opt\"",
      "x.toml:2:13: system.read_only must be an array of strings, and is a string (\"/opt\")"
    ),
    (
      "[system]\nread_only = [\"/opt\",\n  3.5]",
      "x.toml:3:3: system.read_only must be an array of strings, and has in it a number with a fraction (3.5)"
    ),
    ("[environment]\nset = [\"A\"]", "x.toml:2:7: environment.set must be a table, and is an array"),
    (
      "[environment]\nset = { A = 1 }",
      "x.toml:2:13: environment.set.A must be a string, and is an integer (1)"
    ),
    (
      "[environment.set]\n\"A B\" = 2020-01-01",
      "x.toml:2:9: environment.set.\"A B\" must be a string, and is a date or time"
    ),
    ("[files]\nexecute = 1", "x.toml:2:11: files.execute must be true or false, and is an integer (1)"),
    // Out of range.
    (
      "scopes.limit = 0",
      "x.toml:1:16: scopes.limit must be an integer from 1 to 100000, or one of \"teach\" (8), \"default\" (256), "
        + "\"stress\" (4096), and is an integer (0)"
    ),
    (
      "scopes.limit = 100001",
      "x.toml:1:16: scopes.limit must be an integer from 1 to 100000, or one of \"teach\" (8), \"default\" (256), "
        + "\"stress\" (4096), and is an integer (100001)"
    ),
    (
      "scopes.limit = \"tech\"",
      "x.toml:1:16: scopes.limit must be an integer from 1 to 100000, or one of \"teach\" (8), \"default\" (256), "
        + "\"stress\" (4096), and is a string (\"tech\")"
    ),
    (
      "[limits]\nprocesses = -1",
      "x.toml:2:13: limits.processes must be an integer from 1 to 4194304, and is an integer (-1)"
    ),
    (
      "[limits]\nopen_files = 3",
      "x.toml:2:14: limits.open_files must be an integer from 16 to 1048576, and is an integer (3)"
    ),
    (
      "[network]\naccess = \"hosts\"",
      "x.toml:2:10: network.access must be \"none\", \"loopback\", \"host\" or \"entitlement\", and is a string (\"hosts\"); did you "
        + "mean \"host\"?"
    ),
    // Contradictions.
    (
      "inherits = \"./default.toml\"",
      "x.toml:1:12: inherits must be the name of a policy, and is \"./default.toml\": a path is not taken here; put "
        + "the file into a policy folder and name it without .toml"
    ),
    ("inherits = \"\"", "x.toml:1:12: inherits must be the name of a policy, and is \"\": it is empty"),
    (
      "[environment]\npass = [\"A\"]\nset = { B = \"1\", A = \"2\" }",
      "x.toml:3:18: \"A\" is both in environment.set and in environment.pass; take it out of one of them"
    ),
    ("environment.pass = [\"\"]", "x.toml:1:21: environment.pass cannot have \"\": the name is empty"),
    (
      "environment.pass = [\"A\", \"B=1\"]",
      "x.toml:1:26: environment.pass cannot have \"B=1\": a name cannot have '=' in it"
    ),
    (
      "environment.pass = [\"*\"]",
      "x.toml:1:21: environment.pass cannot have \"*\": it would pass the whole environment; name the variables, or "
        + "groups such as \"LC_*\""
    ),
    (
      "environment.pass = [\"A*B\"]",
      "x.toml:1:21: environment.pass cannot have \"A*B\": a '*' can only stand at the end"
    ),
    (
      "environment.pass = [\"A**\"]",
      "x.toml:1:21: environment.pass cannot have \"A**\": a '*' can only stand at the end"
    ),
    ("environment.pass = [\"A\", \"A\"]", "x.toml:1:26: environment.pass has \"A\" twice; take one out"),
    ("environment.set.\"\" = \"1\"", "x.toml:1:17: environment.set cannot have \"\": the name is empty"),
    (
      "environment.set.\"A=B\" = \"1\"",
      "x.toml:1:17: environment.set cannot have \"A=B\": a name cannot have '=' in it"
    ),
    (
      "environment.set = { HOME = \"/\" }",
      "x.toml:1:21: environment.set cannot have \"HOME\": the sandbox sets it itself"
    ),
    (
      "[environment]\nset.AMBIT_ADDRESS = \"\"",
      "x.toml:2:5: environment.set cannot have \"AMBIT_ADDRESS\": the sandbox sets it itself"
    ),
    (
      "environment.pass = [\"TMPDIR\"]",
      "x.toml:1:21: environment.pass cannot have \"TMPDIR\": the sandbox sets it itself"
    ),
    (
      "environment.set.LD_PRELOAD = \"x\"",
      "x.toml:1:17: environment.set cannot have \"LD_PRELOAD\": it would load other code into the app"
    ),
    (
      "environment.pass = [\"LD_*\"]",
      "x.toml:1:21: environment.pass cannot have \"LD_*\": it would load other code into the app"
    ),
    (
      "system.read_only = [\"/opt\", \"opt/x\"]",
      "x.toml:1:29: system.read_only cannot have \"opt/x\": the path must be absolute"
    ),
    ("system.read_only = [\"/opt\", \"/opt\"]", "x.toml:1:29: system.read_only has \"/opt\" twice; take one out"),
  ])
  func `a mistake is named with its place and what is known`(text: String, message: String) {
    #expect(complaint(text) == message)
  }

  @Test(arguments: ["LD_LIBRARY_PATH", "LD_AUDIT", "LD_PRELOAD", "HOME", "TMPDIR", "AMBIT_ADDRESS", "A B", "A\tB"])
  func `these variables can be neither set nor passed`(name: String) {
    #expect(complaint("environment.set.'\(name)' = 'x'")?.hasPrefix("x.toml:1:17: environment.set cannot have") == true)
    #expect(complaint("environment.pass = ['\(name)']")?.hasPrefix("x.toml:1:21: environment.pass cannot have") == true)
  }

  @Test func `a pattern and one variable that it covers may stand together`() throws {
    #expect(complaint("[environment]\npass = ['LC_*']\nset = { LC_ALL = 'C' }") == nil)
  }
}

@Suite struct HostFolderTests {
  @Test(arguments: [
    "/opt/tools", "/usr/local/share", "/srv/data", "/home/ada/tools", "/root/tools", "/etc/ssl", "/opt/ambit",
    "/home/ada/ambit", "/opt/a..b", "/var/lib/x", "/running", "/tmp/x",
  ])
  func `these folders can be shown`(path: String) {
    #expect(HostFolder.check(path) == nil)
  }

  @Test(arguments: [
    ("", "the path is empty"),
    ("opt", "the path must be absolute"),
    ("~/x", "the path must be absolute"),
    ("/", "the whole file system is too much; name a folder in it"),
    ("//", "the path cannot have '//' in it or end in '/'"),
    ("/opt/", "the path cannot have '//' in it or end in '/'"),
    ("/opt//x", "the path cannot have '//' in it or end in '/'"),
    ("/opt/../etc", "the path cannot have '.' or '..' in it"),
    ("/..", "the path cannot have '.' or '..' in it"),
    ("/opt/.", "the path cannot have '.' or '..' in it"),
    ("/opt/\u{1}", "a path cannot have control characters in it"),
    ("/proc", "/proc belongs to the kernel or to the sandbox"),
    ("/proc/1/root", "/proc belongs to the kernel or to the sandbox"),
    ("/sys/fs", "/sys belongs to the kernel or to the sandbox"),
    ("/dev", "/dev belongs to the kernel or to the sandbox"),
    ("/run/user/1000", "/run belongs to the kernel or to the sandbox"),
    ("/var/run/docker", "/var/run belongs to the kernel or to the sandbox"),
    ("/documents/x", "/documents belongs to the kernel or to the sandbox"),
    ("/home", "/home as a whole is too much; name a folder in it"),
    ("/root", "/root as a whole is too much; name a folder in it"),
    ("/etc", "/etc as a whole is too much; name a folder in it"),
    ("/tmp", "/tmp as a whole is too much; name a folder in it"),
    ("/var", "it has /var/run in it; name a folder further in"),
    (
      "/home/ada",
      "a home folder as a whole is too much; let the user pick what the app may see, or name a folder in it"
    ),
    ("/home/ada/.local/state/ambit", "that is where Ambit keeps its own state and the containers of apps"),
    ("/home/ada/.local/share/ambit/containers", "that is where Ambit keeps its own state and the containers of apps"),
    ("/root/.config/ambit", "that is where Ambit keeps its own state and the containers of apps"),
    (
      "/home/ada/.local/share", "it has Ambit's own state and the containers of apps in it; name a folder further in"
    ),
    ("/root/.local", "it has Ambit's own state and the containers of apps in it; name a folder further in"),
  ])
  func `SBX-15 these cannot, for a reason`(path: String, reason: String) {
    #expect(HostFolder.check(path) == reason)
  }
}
