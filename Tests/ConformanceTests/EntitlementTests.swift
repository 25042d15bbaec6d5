import Audit
import Foundation
import TestSupport
import Testing

/// Entitlements that widen what an app has: given when their user has said so, and remembered.
@Suite(.serialized, .waiting)
struct EntitlementTests {
  private static let app = "io.ambit.tests.net"
  /// Says whether it can make an internet socket.
  private static let script = """
    #!/bin/sh
    /usr/bin/python3 -I -c 'import socket; socket.socket()' 2>/dev/null && echo network || echo nothing

    """

  private func entitlements(_ keys: String...) -> String {
    "<plist version=\"1.0\"><dict>\(keys.map { "<key>\($0)</key><true/>" }.joined())</dict></plist>"
  }

  private func bundle(_ world: Workspace) throws -> String {
    try world.bundle(
      "Net", identifier: Self.app, script: Self.script,
      entitlements: entitlements("com.apple.security.network.client"))
  }

  private func lastLaunch(_ world: Workspace) throws -> [String: String] {
    try #require(try world.audit(.launch).last { $0.app == Self.app }).detail
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-19: without a terminal an app runs without them, and says so; the option gives them, and is remembered`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let bundle = try bundle(world)
      let first = try world.ambit("run", bundle)
      #expect(first.output == "nothing\n" && first.exit == .status(0), "\(first)")
      #expect(first.errors.contains("runs without the network") && first.errors.contains("no terminal"), "\(first)")
      #expect(first.errors.contains("--allow-entitlement network.client"), "\(first)")
      var detail = try lastLaunch(world)
      #expect(detail[AuditEvent.Fact.withheld] == "networkClient" && detail[AuditEvent.Fact.entitlements] == nil)
      #expect(detail[AuditEvent.Fact.answered] == nil)

      let allowed = try world.ambit("run", "--allow-entitlement", "network.client", bundle)
      #expect(allowed.output == "network\n" && allowed.errors.isEmpty, "\(allowed)")
      detail = try lastLaunch(world)
      #expect(detail[AuditEvent.Fact.entitlements] == "networkClient" && detail[AuditEvent.Fact.withheld] == nil)
      #expect(detail[AuditEvent.Fact.answered] == "network=yes by=option")
      let plan = try world.ambit("plan", "--format", "json", bundle)
      #expect(JSON(plan.output)?["entitlements"]?["given"]?.array == ["com.apple.security.network.client"], "\(plan)")

      // Another broker knows it as well.
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let next = try world.ambit("run", bundle)
      #expect(next.output == "network\n" && next.errors.isEmpty, "\(next)")
      // What somebody else runs in the container has not been allowed anything.
      let other = try world.ambit("run", "--container", "io.ambit.tests.shared", bundle)
      #expect(other.output == "nothing\n", "\(other)")

      #expect(try world.ambit("app", "remove", Self.app).exit == .status(0))
      #expect(try world.ambit("run", bundle).output == "nothing\n")
    }
  }

  @Test
  func `SBX-19: on a terminal the user is asked once, also when they say no; an update that declares more asks again`()
    throws
  {
    try Workspace.with(.root) { world in
      let bundle = try bundle(world)
      func run(_ keys: String?, _ options: String...) throws -> String {
        let terminal = try world.terminal([try Products.path("ambit"), "run"] + options + [bundle])
        if let keys {
          #expect(try terminal.see("Your choice").contains("asks to"))
          try terminal.type(keys)
        }
        #expect(try terminal.process.waitForExit() == .status(keys == "q\r" ? 125 : 0))
        return terminal.process.allOutput
      }
      // No answer at all is none, and nothing is remembered.
      #expect(try run("q\r").contains("was not run"))
      #expect(try run("w\r").contains("nothing\r\n"))
      #expect(try lastLaunch(world)[AuditEvent.Fact.answered] == "network=no by=user")
      let silent = try run(nil)
      #expect(silent.contains("nothing\r\n") && !silent.contains("Your choice"), "\(silent)")
      #expect(try world.ambit("run", bundle).errors.isEmpty)

      try world.write(
        entitlements("com.apple.security.network.client", "io.ambit.pass-grants"), to: "\(bundle)/Entitlements.plist")
      let update = try run("a\r")
      #expect(update.contains("to hand documents") && !update.contains("internet"), "\(update)")
      #expect(update.contains("nothing\r\n"), "\(update)")
      let detail = try lastLaunch(world)
      #expect(
        detail[AuditEvent.Fact.entitlements] == "passGrants" && detail[AuditEvent.Fact.withheld] == "networkClient")
      // A no is changed by the option.
      #expect(try run(nil, "--allow-entitlement", "network.client").contains("network\r\n"))
      #expect(try run(nil).contains("network\r\n"))
    }
  }

  @Test func `SBX-19: a policy's answer is not the user's, a slip is named, and a machine-wide policy is asked last`()
    throws
  {
    try Workspace.with(.root) { world in
      let bundle = try bundle(world)
      let policy = "\(world.home)/declared.toml"
      try world.write("inherits = \"default\"\nentitlements.trust = \"declared\"\n", to: policy)
      let declared = try world.ambit("run", "--policy", policy, bundle)
      #expect(declared.output == "network\n" && declared.errors.isEmpty, "\(declared)")
      #expect(try world.ambit("run", bundle).output == "nothing\n")

      let strange = try world.ambit("run", "--allow-entitlement", "network.clinet", bundle)
      #expect(strange.exit == .status(64) && strange.errors.contains("did you mean \"network.client\"?"), "\(strange)")
      let undeclared = try world.ambit("run", "--allow-entitlement", "pass-grants", bundle)
      #expect(undeclared.errors.contains("Net does not declare io.ambit.pass-grants"), "\(undeclared)")

      try world.write("entitlements.trust = \"none\"\n", to: "\(world.ambitHome)/machine-policy.toml")
      let machine = try world.ambit("run", "--policy", policy, "--allow-entitlement", "network.client", bundle)
      #expect(machine.output == "nothing\n" && machine.errors.contains("no app gets it"), "\(machine)")
    }
  }
}
