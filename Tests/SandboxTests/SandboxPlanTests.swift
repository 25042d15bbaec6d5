import Kernel
import Paths
import TestSupport
import Testing

@testable import Policy
@testable import Sandbox

/// A system as most are laid out today, and as they were before /usr took everything in.
enum Layouts {
  static let merged = SystemLayout(
    entries: [
      ("/usr", .directory), ("/bin", .link("usr/bin")), ("/sbin", .link("usr/sbin")), ("/lib", .link("usr/lib")),
      ("/lib64", .link("usr/lib64")), ("/etc/alternatives", .directory), ("/etc/ld.so.cache", .file),
      ("/etc/localtime", .link("/usr/share/zoneinfo/UTC")), ("/etc/ssl", .directory),
    ])
  static let split = SystemLayout(
    entries: [("/usr", .directory), ("/bin", .directory), ("/lib", .directory), ("/etc/ld.so.cache", .file)])
}

@Suite struct `A sandbox's plan` {
  private func request(_ program: SandboxRequest.Program = .file(path: "/usr/bin/env")) -> SandboxRequest {
    SandboxRequest(
      program: program, arguments: ["one", "two"], bundleIdentifier: "io.ambit.tests",
      container: "/home/ann/.local/share/ambit/containers/io.ambit.tests")
  }

  private func bind(_ plan: SandboxPlan, at path: String) -> (source: String, attributes: MountAttributes)? {
    for case .bind(path, let source, _, let attributes) in plan.root { return (source, attributes) }
    return nil
  }

  @Test(arguments: ["/usr/bin/env", "/bin/ls", "/usr/local/lib/x/run"])
  func `runs a program of the system where it stands`(path: String) {
    let plan = SandboxPlan(request(.file(path: path)), on: Layouts.merged)
    #expect(plan.program == path)
    #expect(plan.arguments == [path, "one", "two"])
    #expect(bind(plan, at: path) == nil)
  }

  @Test(arguments: [
    ("/home/ann/bin/tool", "tool"), ("/opt/x/run.sh", "run.sh"), ("/usrlocal/x", "x"), ("/binary", "binary"),
  ])
  func `shows any other program under Applications, read-only, and nothing beside it`(path: String, name: String) throws
  {
    let plan = SandboxPlan(request(.file(path: path)), on: Layouts.merged)
    #expect(plan.program == "/Applications/\(name)")
    let shown = try #require(bind(plan, at: "/Applications/\(name)"))
    #expect(shown.source == path)
    #expect(shown.attributes == [.readOnly, .noSetuid, .noDevices])
  }

  @Test func `shows a bundle under Applications, read-only`() throws {
    let plan = SandboxPlan(request(.bundle(path: "/home/ann/Editor.app", executable: "edit")), on: Layouts.merged)
    #expect(plan.program == "/Applications/Editor.app/edit")
    let shown = try #require(bind(plan, at: "/Applications/Editor.app"))
    #expect(shown.source == "/home/ann/Editor.app")
    #expect(shown.attributes == [.readOnly, .noSetuid, .noDevices])
  }

  @Test(arguments: [true, false])
  func `SBX-8: lets programs in the container run only where the policy says so`(execute: Bool) throws {
    var request = request()
    request.execute = execute
    let plan = SandboxPlan(request, on: Layouts.merged)
    let home = try #require(bind(plan, at: "/home/user"))
    #expect(home.source == request.container)
    #expect(home.attributes.contains(.noExecute) == !execute)
    #expect(!home.attributes.contains(.readOnly))
    var temporary = 0
    for case .temporary(_, _, _, _, let attributes) in plan.root {
      temporary += 1
      #expect(attributes.contains(.noExecute) == !execute)
    }
    #expect(temporary == 2)
  }

  @Test func `the network changes the namespaces and what Landlock says of it, and nothing else`() {
    var request = request()
    let without = SandboxPlan(request, on: Layouts.merged)
    request.network = .host
    var with = SandboxPlan(request, on: Layouts.merged)
    #expect(without.namespaces.symmetricDifference(with.namespaces) == .network)
    #expect(without.namespaces.contains(.network))
    #expect(with.landlock?.network == true && without.landlock?.network == false)
    with.namespaces = without.namespaces
    with.network = without.network
    with.landlock?.network = false
    #expect(with == without)
    // Of its own, with sockets.
    request.network = .loopback
    var loopback = SandboxPlan(request, on: Layouts.merged)
    #expect(loopback.namespaces == without.namespaces && loopback.landlock?.network == true)
    loopback.network = .none
    loopback.landlock?.network = false
    #expect(loopback == without)
  }

  @Test func `its environment is what the policy gave and what the sandbox needs; that wins`() {
    var request = request()
    let own = SandboxPlan(request, on: Layouts.merged).environment
    #expect(
      Set(own.keys) == ["HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "PATH", "AMBIT_ADDRESS", "AMBIT_APP"])
    #expect(own["HOME"] == "/home/user")
    #expect(own["AMBIT_ADDRESS"] == "unix:/run/ambit/broker")
    request.environment = ["LANG": "C.UTF-8", "HOME": "/root", "AMBIT_APP": "io.other", "USER": "ann"]
    #expect(SandboxPlan(request, on: Layouts.merged).environment == own.merging(["LANG": "C.UTF-8"]) { own, _ in own })
  }

  @Test func `folders that a policy shows appear once, whatever they lie in`() {
    var request = request()
    request.readOnlyPaths = ["/usr/share/x", "/opt/data", "/var/games", "/var/games/old", "/srv", "/etc/ssl/x"]
    let plan = SandboxPlan(request, on: Layouts.merged)
    #expect(bind(plan, at: "/usr/share/x") == nil, "it is shown already")
    #expect(bind(plan, at: "/etc/ssl/x") == nil)
    #expect(bind(plan, at: "/opt/data")?.attributes == [.readOnly, .noSetuid, .noDevices])
    #expect(bind(plan, at: "/var/games") != nil)
    #expect(bind(plan, at: "/var/games/old") == nil)
  }

  // MARK: Any request

  private func anyRequest(_ generator: inout Seeded) -> SandboxRequest {
    let folders = [
      "/opt", "/opt/data", "/srv/x/y", "/var/games", "/var/spool/x", "/usr/share", "/usr", "/mnt/usb",
      "/home/ann/Music",
      "/tmp/x", "/etc/ssl", "/etc/own", "/data", "/data/deep/er",
    ].filter { HostFolder.check($0) == nil }
    let programs: [SandboxRequest.Program] = [
      .file(path: "/usr/bin/env"), .file(path: "/bin/sh"), .file(path: "/home/ann/tool"), .file(path: "/opt/data/tool"),
      .bundle(path: "/home/ann/Editor.app", executable: "edit"), .bundle(path: "/opt/Editor.app", executable: "edit"),
    ]
    return SandboxRequest(
      program: programs.randomElement(using: &generator) ?? programs[0],
      arguments: (0..<Int.random(in: 0...3, using: &generator)).map { "a\($0)" }, bundleIdentifier: "io.ambit.tests",
      container: "/home/ann/containers/io.ambit.tests",
      readOnlyPaths: folders.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }.shuffled(using: &generator),
      execute: .random(using: &generator), network: NetworkReach.allCases.randomElement(using: &generator) ?? .none,
      environment: Bool.random(using: &generator) ? [:] : ["LANG": "C"], limits: [ResourceLimit(.core, 0)],
      hostID: Bool.random(using: &generator) ? nil : 1_879_048_193,
      controlProgram: Bool.random(using: &generator) ? nil : "/usr/local/libexec/ambitctl")
  }

  private func parent(_ path: String) -> String { path.parentPath ?? "/" }

  @Test func `holds its promises for any request`() throws {
    var generator = Seeded(seed: 1)
    for _ in 0..<Rounds.few(500, of: 2000) {
      let request = anyRequest(&generator)
      let layout = Bool.random(using: &generator) ? Layouts.merged : Layouts.split
      let plan = SandboxPlan(request, on: layout)
      #expect(plan == SandboxPlan(request, on: layout), "a plan is a value of its request")

      var folders: Set<String> = ["/"]
      var made: Set<String> = []
      for entry in plan.root {
        #expect(entry.path.hasPrefix("/") && !entry.path.contains("//") && !entry.path.contains(".."))
        try #require(folders.contains(parent(entry.path)), "\(entry) comes before the folder that it lies in")
        let isNew: Bool
        switch entry {
        case .bind(let path, let source, let isDirectory, let attributes):
          isNew = true
          if isDirectory { folders.insert(path) }
          #expect(attributes.contains(.noSetuid), "\(entry)")
          let isDevice = path.hasPrefix("/dev/")
          #expect(attributes.contains(.noDevices) == !isDevice, "\(entry)")
          #expect(attributes.contains(.readOnly) == (path != "/home/user" && !isDevice), "\(entry)")
          // Nothing of the user's that was not named.
          var named = [request.container] + request.readOnlyPaths + [request.controlProgram].compactMap { $0 }
          switch request.program {
          case .file(let path), .bundle(let path, _): named.append(path)
          }
          let isSystem = source == path && (layout.entries.contains { $0.path == source } || isDevice)
          #expect(isSystem || named.contains(source), "\(entry)")
        case .temporary(let path, _, _, _, let attributes):
          isNew = true
          folders.insert(path)
          #expect(attributes.isSuperset(of: [.noSetuid, .noDevices]))
        case .documents(let path), .processes(let path), .terminals(let path):
          isNew = true
          folders.insert(path)
        case .directory(let path):
          isNew = !made.contains(path)
          folders.insert(path)
        case .masked(let path), .readOnly(let path):
          isNew = !made.contains(path)
          #expect(path.hasPrefix("/proc/"))
        case .link(let path, _), .file(let path, _), .listener(let path):
          isNew = !made.contains(path)
        }
        try #require(isNew, "\(entry) is made a second time, which fails")
        made.insert(entry.path)
      }
      #expect(plan.insideID == 1000)
      #expect(plan.hostID == request.hostID)
      #expect(plan.directory == "/home/user")
      #expect(plan.arguments == [plan.program] + request.arguments)
      #expect(plan.namespaces.isSuperset(of: [.user, .mount, .pid, .ipc, .uts, .cgroup]))
      #expect(plan.namespaces.contains(.network) == (request.network != .host))
      #expect(plan.limits == request.limits)
      #expect(plan.root.filter { if case .listener = $0 { true } else { false } }.map(\.path) == ["/run/ambit/broker"])
    }
  }
}
