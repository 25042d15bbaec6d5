import Foundation
import TestSupport
import Testing

/// SBX-8: programs that lie in what the user picked.
@Suite(.serialized, .waiting)
struct ExecutionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let isEntitled: Bool
    let policy: String
    let runs: Bool
    var testDescription: String { "\(isEntitled ? "entitled" : "not entitled") under “\(policy)”" }
  }

  /// The policies that are about this alone have a scenario.
  static let cases = [
    // Running what it wrote is another thing.
    Case(isEntitled: false, policy: "files.execute = true", runs: false),
    // The second wall has to agree.
    Case(isEntitled: true, policy: "landlock.files = true", runs: true),
    Case(isEntitled: false, policy: "landlock.files = true", runs: false),
    Case(isEntitled: true, policy: "audit.observe = true", runs: true),
  ]

  private let entitled = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>com.apple.security.files.user-selected.executable</key><true/>
    </dict></plist>
    """

  private func tool(_ world: Workspace, _ place: String) throws -> String {
    let path = try world.document(place, "#!/bin/sh\nexit 42\n")
    #expect(unsafe chmod(path, 0o4755) == 0)
    return path
  }

  @Test(arguments: TestUser.inTurn(cases))
  func `SBX-8: a program in a picked folder, or picked itself, runs only with the entitlement or by the policy`(
    user: TestUser, example: Case
  ) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/p.toml"
      try world.write("inherits = \"default\"\n\(example.policy)\n", to: policy)
      try world.bundle(
        "Runner", identifier: Workspace.identifier("Runner"), entitlements: example.isEntitled ? entitled : nil)
      let inFolder = try tool(world, "Papers/Tools/tool")
      let alone = try tool(world, "tool")
      // The control: outside they run.
      for path in [inFolder, alone] { #expect(try world.run([path]).exit == .status(42)) }

      let allowed = example.isEntitled ? ["--allow-entitlement", "files.user-selected.executable"] : []
      let app = try world.probe(
        "Runner", picks: ["\(world.home)/Papers/Tools", alone], options: ["--policy", policy] + allowed)
      try app.pick(as: "folder", ["kind": "folder"])
      try app.pick(as: "file")
      for name in ["folder", "file"] { #expect(try app.start(name)) }
      _ = try app.tell("child", ["of": "folder", "name": "tool", "as": "inside"])
      for name in ["inside", "file"] {
        #expect(try app.tell("read", ["of": .string(name)]).isDone)
        let answer = try app.tell("run", ["of": .string(name)])
        #expect(example.runs ? answer["status"] == 42 : answer.errno == "EACCES", "\(name): \(answer.text)")
      }
      // Set-uid bits and devices never count, and what the app writes stays its own matter.
      let mounts = try #require(try app.tell("mounts").content).split(separator: "\n")
        .filter { $0.contains(" /documents/") && ($0.contains("/Tools ") || $0.contains("/tool ")) }
      #expect(mounts.count == 2)
      for mount in mounts {
        let options = mount.split(separator: " ")[5].split(separator: ",")
        #expect(options.contains("nosuid") && options.contains("nodev"), "\(mount)")
        #expect(options.contains("noexec") != example.runs, "\(mount)")
      }
      let beside = try #require(try app.tell("mounts").content).split(separator: "\n")
        .filter { $0.split(separator: " ")[4].hasPrefix("/documents/") && !mounts.contains($0) }
      #expect(beside.allSatisfy { $0.contains("noexec") }, "\(beside)")
    }
  }
}
