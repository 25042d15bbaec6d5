import Policy
import Terminal
import TestSupport
import Testing

@testable import AmbitCommands

@Suite struct `A learned policy` {
  private func refusal(_ operation: String, _ subject: String, _ rule: String) -> LearnedPolicy.Refusal {
    .init(operation: operation, subject: subject, rule: rule, remedy: "remedy")
  }

  private func settings(_ refusals: [LearnedPolicy.Refusal], exists: Bool = true) throws -> (Policy, String) {
    let text = LearnedPolicy(app: "Ed.app", base: "default", refusals: refusals).text { _ in exists }
    let folder = try TemporaryFolder()
    let file = try folder.write("learned.toml", text)
    return (try PolicyLibrary(directories: []).load(file), text)
  }

  @Test func `shows what was read, once, and marks what is a user's own`() throws {
    let (policy, text) = try settings([
      refusal("read", "/srv/b", "SBX-2"), refusal("read", "/opt/a", "SBX-2"), refusal("read", "/srv/b", "SBX-2"),
    ])
    #expect(policy.settings.readOnlyPaths == ["/opt/a", "/srv/b"])
    #expect(text.contains("\"/srv/b\",  # RISKY") && !text.contains("\"/opt/a\",  # RISKY"))
    #expect(policy.settings.network == .entitlement)
  }

  @Test func `opens the network only where it was asked for, and says that it is risky`() throws {
    let (policy, text) = try settings([refusal("socket", "AF_INET", "network")])
    #expect(policy.settings.network == .host)
    #expect(text.contains("RISKY: the host's network"))
  }

  @Test func `what no policy grants is a comment`() throws {
    let (policy, text) = try settings([
      refusal("create", "/srv/x", "SBX-2"), refusal("read", "/home/ann", "SBX-2"), refusal("call", "ptrace", "seccomp"),
      refusal("read", "/documents/g/a", "TOK-1"), refusal("write", "/usr/x", "SBX-1"),
    ])
    #expect(policy.settings.readOnlyPaths == [])
    for line in [
      "# create /srv/x (SBX-2)", "# read /home/ann: no policy shows it", "# call ptrace (seccomp)", "TOK-1", "SBX-1",
    ] {
      #expect(text.contains(line), "\(line)")
    }
    #expect(try settings([refusal("read", "/srv/none", "SBX-2")], exists: false).0.settings.readOnlyPaths == [])
    let added = LearnedPolicy(
      app: "a", base: "/p.toml", shown: ["/opt/old"], refusals: [refusal("read", "/opt/new", "SBX-2")]
    ).text { _ in true }
    #expect(added.contains("\"/opt/old\",\n  \"/opt/new\"") && !added.contains("inherits"))
    #expect(try settings([]).1.contains("Nothing was refused"))
  }

  @Test func `is a policy whatever an app has been asking for`() throws {
    var generator = Seeded(seed: 9)
    let pieces = [
      "/srv", "/", "\"", "\\", "\n", "\u{1b}", "#", "]", "é", "'", " ", "\u{7f}", "x", "..", "//", "\u{2028}",
      "\u{202e}", "\u{2066}", "\u{200f}", "\u{9b}", "\u{85}",
    ]
    for _ in 0..<500 {
      let refusals = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
        refusal(
          ["read", "write", "create", "call", "socket"].randomElement(using: &generator) ?? "",
          "/"
            + (0..<Int.random(in: 0...6, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
            .joined(), ["SBX-1", "SBX-2", "TOK-1", "network", "seccomp"].randomElement(using: &generator) ?? "")
      }
      let (policy, text) = try settings(refusals)
      #expect(!text.unicodeScalars.contains { isHazardous($0) && $0 != "\n" }, "\(text.debugDescription)")
      #expect(policy.settings.readOnlyPaths.allSatisfy { path in refusals.contains { $0.subject == path } }, "\(text)")
      #expect((policy.settings.network == .host) == refusals.contains { $0.rule == "network" })
    }
  }
}
