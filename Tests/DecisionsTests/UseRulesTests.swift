import Decisions
import Folders
import Kernel
import ScopedAccess
import Testing
import Wire

/// Whether a start is allowed, as a pure rule.
@Suite struct `Whether a grant may be used` {
  private func grant(_ name: String = "a.txt", decided: Int64 = 0) -> Grant {
    Grant(
      id: "g", bundleIdentifier: "org.example.app", kind: .file, rights: .readWrite, origin: .user, created: decided,
      identity: FileIdentity(volume: [1], handle: .init(type: 1, bytes: [1]), inode: 1, birth: 1),
      path: "/home/u/\(name)",
      term: .init(decided: decided))
  }

  @Test func `PCK-7: by the type that its document has now`() {
    let rules = LauncherInterface.GrantRules(types: ["md"])
    #expect(rules.refusal(ofUsing: grant(), isOfThisLaunch: true, now: 0)?.rule == "PCK-7")
    #expect(rules.refusal(ofUsing: grant("a.md"), isOfThisLaunch: true, now: 0) == nil)
  }

  @Test func `AUD-1: for no longer than the policy allows after the decision`() {
    let rules = LauncherInterface.GrantRules(lifetime: 60)
    let given = grant(decided: 1_000_000_000)
    #expect(rules.refusal(ofUsing: given, isOfThisLaunch: true, now: 60_999_999_999) == nil)
    #expect(rules.refusal(ofUsing: given, isOfThisLaunch: true, now: 61_000_000_000)?.rule == "AUD-1")
    #expect(rules.end(of: given) == 61_000_000_000)
  }

  @Test func `AUD-1: in the launch of its decision alone, where the policy says so`() {
    let rules = LauncherInterface.GrantRules(endsWithLaunch: true)
    #expect(rules.refusal(ofUsing: grant(), isOfThisLaunch: false, now: 0)?.rule == "AUD-1")
    #expect(rules.refusal(ofUsing: grant(), isOfThisLaunch: true, now: 0) == nil)
  }
}
