import AppModel
import Testing

@testable import Policy

@Suite struct `What a policy says of grants` {
  private func settings(_ text: String) throws -> PolicySettings {
    PolicySettings.closed.overridden(by: try PolicyOverrides(StrictTOML.parse(text, file: "x.toml")))
  }

  @Test(
    arguments: [
      ("\"unlimited\"", nil, false), ("\"android\"", 512, true), ("\"android-10\"", 128, true),
      ("\"windows\"", 1000, false), ("\"xdp\"", nil, false), ("7", 7, false), ("1000000", 1_000_000, false),
    ] as [(String, Int?, Bool)])
  func `LIM-10, LIM-11, LIM-12: a profile is a number and a rule`(text: String, quota: Int?, releases: Bool) throws {
    let persisted = try settings("grants.persisted = \(text)").persisted
    #expect(persisted.quota == quota && persisted.releasesOldest == releases)
    #expect("\"\(persisted.name)\"" == text || persisted.name == text)
    #expect(persisted.recent == (text == "\"windows\"" ? 25 : nil))
  }

  @Test(
    arguments: [
      ("[5, \"windows\"]", 5, 25, false), ("[\"windows\", \"android\"]", 512, 25, true),
      ("[\"android-10\", \"windows\"]", 128, 25, true), ("[\"windows\", 2000]", 1000, 25, false),
      ("[\"android\", 512]", 512, nil, false), ("[7]", 7, nil, false), ("[\"xdp\", 9]", 9, nil, false),
    ] as [(String, Int?, Int?, Bool)])
  func `of an array all hold together, and it is written as one again`(
    text: String, quota: Int?, recent: Int?, releases: Bool
  ) throws {
    let persisted = try settings("grants.persisted = \(text)").persisted
    #expect(persisted.quota == quota && persisted.recent == recent && persisted.releasesOldest == releases)
    #expect(try settings("grants.persisted = \(persisted.text)").persisted == persisted, "\(persisted.text)")
  }

  @Test func `what stands twice in an array is refused`() {
    #expect { try settings("grants.persisted = [5, \"windows\", 5]") } throws: {
      "\($0)".contains("has an integer (5) twice")
    }
  }

  @Test(arguments: ["0", "-1", "1000001", "1.5", "true", "\"iOS\"", "\"\"", "[]", "[5, \"iOS\"]", "[[5]]"])
  func `anything else is refused with what is possible`(text: String) {
    #expect { try settings("grants.persisted = \(text)") } throws: { error in
      "\(error)".contains("grants.persisted") && "\(error)".contains("\"android-10\"")
    }
  }

  @Test func `TOK-18: passing on takes the entitlement, unless the policy says otherwise`() throws {
    func mayPass(_ passing: String, _ entitled: Bool) throws -> Bool {
      let policy = Policy(
        name: "x", file: "x", description: nil, lineage: [], settings: try settings("grants.pass = \"\(passing)\""))
      return Capabilities(policy: policy, entitlements: Entitlements(passGrants: entitled)).mayPass
    }
    #expect(try !mayPass("entitlement", false) && mayPass("entitlement", true))
    #expect(try !mayPass("none", true) && mayPass("any", false))
  }

  @Test func `SBX-8: running what is picked takes the entitlement, unless the policy says otherwise`() throws {
    func executes(_ executing: String, _ entitled: Bool) throws -> Bool {
      let policy = Policy(
        name: "x", file: "x", description: nil, lineage: [],
        settings: try settings("grants.execute = \"\(executing)\""))
      return Capabilities(policy: policy, entitlements: Entitlements(executePicked: entitled)).executesPicked
    }
    #expect(try !executes("entitlement", false) && executes("entitlement", true))
    #expect(try !executes("none", true) && executes("any", false))
    #expect(try settings("").executing == .entitlement && settings("files.execute = true").executing == .entitlement)
    #expect(try PolicyLibrary(directories: []).load("strict").settings.executing == .none)
  }

  @Test func `TOK-16: only strict ends an app over what it has open`() throws {
    #expect(try settings("").outlived == .allow && settings("scopes.outlived = \"end\"").outlived == .end)
    #expect(try PolicyLibrary(directories: []).load("strict").settings.outlived == .end)
    #expect(try PolicyLibrary(directories: []).load("default").settings.outlived == .allow)
  }
}
