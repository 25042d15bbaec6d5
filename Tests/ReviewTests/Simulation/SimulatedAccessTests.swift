import Audit
import Foundation
import Policy
import Review
import Testing

@Suite("What a sandbox refused, under another policy")
struct SimulatedAccessTests {
  private static func settings(_ change: (inout PolicySettings) -> Void = { _ in }) -> PolicySettings {
    var settings = PolicySettings.closed
    settings.observe = true
    change(&settings)
    return settings
  }

  /// A launch that is refused these, each as its launcher writes it.
  private static func story(
    under settings: PolicySettings, entitlements: String = "",
    _ refused: [(operation: String, rule: String)], suppressed: String? = nil
  ) -> [AuditEvent] {
    var events = [
      AuditEvent(
        .launch, time: Date(timeIntervalSince1970: 1_750_000_000), app: "org.example.A", instance: "i",
        detail: ["settings": settings.text, "policy": "p", "entitlements": entitlements], sequence: 1)
    ]
    for (operation, rule) in refused {
      var detail = ["operation": operation, "errno": "EPERM"]
      detail["suppressed"] = suppressed
      events.append(
        AuditEvent(
          .refuse, .refused, time: Date(timeIntervalSince1970: 1_750_000_000 + Double(events.count)),
          app: "org.example.A", instance: "i", how: "observed", rule: rule, reason: "no", detail: detail,
          sequence: Int64(events.count + 1)))
    }
    return events
  }

  private static func simulated(
    _ events: [AuditEvent], under settings: PolicySettings
  ) -> (differences: [SimulatedDifference], simulation: Simulation) {
    var simulation = Simulation(
      policy: Policy(name: "other", file: "", description: nil, lineage: [], settings: settings))
    return (events.flatMap { simulation.take($0) }, simulation)
  }

  private static let everything = [
    ("read /srv/data/plan.txt", "SBX-2"), ("write /srv/data/plan.txt", "SBX-2"), ("read /srv/database", "SBX-2"),
    ("read /srv", "SBX-2"), ("create /usr/x", "SBX-1"), ("read /proc/kcore", "proc"), ("call ptrace", "seccomp"),
    ("socket AF_INET", "network"), ("socket AF_NETLINK", "seccomp"), ("socket AF_UNIX SOCK_DGRAM", "sockets"),
    ("connect an internet address", "network"), ("connect /srv/data/socket", "SBX-2"),
    ("read /documents/g/plan.txt", "TOK-1"),
  ]

  @Test("Under the same policy, and under one that opens nothing of it, all is as it was")
  func same() {
    for other in [
      Self.settings(), Self.settings { $0.scopeLimit = 1 }, Self.settings { $0.readOnlyPaths = ["/opt/tools"] },
    ] {
      let (differences, simulation) = Self.simulated(Self.story(under: Self.settings(), Self.everything), under: other)
      #expect(differences.isEmpty, "\(differences)")
      #expect(simulation.judged == Self.everything.count)
      #expect(simulation.gaps.isEmpty, "\(simulation.gaps)")
    }
  }

  @Test("A folder that is shown is read, with what lies in it and on the way to it, and is not written")
  func folders() {
    let events = Self.story(under: Self.settings(), Self.everything)
    let (differences, simulation) = Self.simulated(
      events, under: Self.settings { $0.readOnlyPaths = ["/srv/data"] })
    #expect(differences.map(\.operation) == ["read /srv/data/plan.txt", "read /srv"])
    #expect(differences.allSatisfy { $0.outcome == .allowed && $0.field == "system.read_only" && $0.rule == "SBX-2" })
    #expect(simulation.gaps.isEmpty)
  }

  @Test("A network that is given lets sockets of it be made, and nothing else")
  func network() {
    let events = Self.story(under: Self.settings(), Self.everything)
    for (reach, words) in [(NetworkAccess.host, "the host's network"), (.loopback, "a loopback of its own")] {
      let (differences, simulation) = Self.simulated(events, under: Self.settings { $0.network = reach })
      #expect(differences.map(\.operation) == ["socket AF_INET", "connect an internet address"])
      #expect(differences.allSatisfy { $0.field == "network.access" && $0.reason.contains(words) }, "\(differences)")
      #expect(simulation.gaps.isEmpty)
    }
    // What asks for it decides, where that is left to it.
    for (entitlements, count) in [("", 0), ("networkClient", 2)] {
      let then = Self.settings { $0.network = .none }
      let (differences, simulation) = Self.simulated(
        Self.story(under: then, entitlements: entitlements, Self.everything),
        under: Self.settings { $0.network = .entitlement })
      #expect(differences.count == count && simulation.gaps.isEmpty)
    }
  }

  @Test("An abstract name is refused where the network is the host's, and nowhere else")
  func abstract() {
    let events = Self.story(under: Self.settings { $0.network = .host }, [("connect @bus", "sockets")])
    let (differences, simulation) = Self.simulated(events, under: Self.settings())
    #expect(differences.map(\.operation) == ["connect @bus"] && differences.first?.field == "network.access")
    // It had the network; nobody wrote down what it did with it.
    #expect(
      simulation.gaps.decisions == ["launches that had more of a network: a log does not have what is connected": 1])
  }

  @Test("What was allowed is in no log, and what nobody observed neither: launches of that are counted")
  func unrecorded() {
    func gaps(_ then: PolicySettings, _ now: PolicySettings) -> [String: Int] {
      let (differences, simulation) = Self.simulated(Self.story(under: then, []), under: now)
      #expect(differences.isEmpty && simulation.gaps.fields.keys.allSatisfy { $0 == "audit.observe" })
      return simulation.gaps.decisions
    }
    let shown = Self.settings { $0.readOnlyPaths = ["/srv/data"] }
    #expect(gaps(shown, Self.settings()).keys.contains { $0.contains("a log does not have what is read") })
    #expect(gaps(shown, Self.settings { $0.readOnlyPaths = ["/srv"] }).isEmpty)
    let unseen = Self.settings { $0.observe = false }
    #expect(gaps(unseen, shown).keys.contains { $0.contains("not observed: what they were refused") })
    #expect(gaps(unseen, Self.settings { $0.network = .host }).keys.contains { $0.contains("sockets") })
    #expect(
      gaps(Self.settings { $0.network = .loopback }, Self.settings { $0.network = .host }).keys.contains {
        $0.contains("did not find there")
      })
    // An app that asks for no network has none under either.
    #expect(gaps(Self.settings { $0.network = .entitlement }, Self.settings()).isEmpty)
  }

  @Test("What was only counted is counted, and a log that is made for it is read to its end")
  func counted() {
    let events = Self.story(
      under: Self.settings(), [("more", "SBX-16"), ("read /srv/x", "SBX-2"), ("", "SBX-2"), ("read ", "x")],
      suppressed: "7")
    let (differences, simulation) = Self.simulated(events, under: Self.settings { $0.readOnlyPaths = ["/srv/x"] })
    #expect(differences.map(\.operation) == ["read /srv/x"])
    #expect(simulation.gaps.decisions == ["refusals of the sandbox that the log counts and does not name": 28])
    let hostile = Self.story(
      under: Self.settings(), [("read ../..//x", "SBX-2"), ("connect ", "a"), ("dance /x", "b"), ("read /", "SBX-2")],
      suppressed: "\(Int.max)")
    let (none, after) = Self.simulated(hostile, under: Self.settings { $0.readOnlyPaths = ["/srv/x"] })
    #expect(none.isEmpty && after.gaps.decisions.values.contains { $0 > 1 << 33 })
  }

  @Test("A document whose start would have been allowed could have been opened")
  func unstarted() {
    let then = Self.settings { $0.scopeLimit = 1 }
    var events = Self.story(under: then, [])
    let document = AuditEvent.Document(path: "/home/alice/plan.txt", volume: "0a", inode: 5)
    func add(
      _ kind: AuditEvent.Kind, _ result: AuditEvent.Result, _ grant: String, rule: String?, _ detail: [String: String]
    ) {
      events.append(
        AuditEvent(
          kind, result, time: Date(timeIntervalSince1970: 1_750_000_000 + Double(events.count)), app: "org.example.A",
          instance: "i", grant: kind == .refuse ? nil : grant, document: kind == .refuse ? nil : document,
          how: kind == .refuse ? "observed" : "user", rule: rule, detail: detail, sequence: Int64(events.count + 1)))
    }
    for grant in ["g", "h"] { add(.grant, .allowed, grant, rule: nil, ["access": "readWrite", "kind": "file"]) }
    let scope = ["process": "2", "access": "readWrite", "limit": "1", "used": "1"]
    add(.start, .allowed, "g", rule: nil, scope.merging(["count": "1"]) { $1 })
    add(.start, .refused, "h", rule: "LIM-1", scope)
    add(.refuse, .refused, "h", rule: "TOK-1", ["operation": "read /documents/h/plan.txt"])
    let (differences, _) = Self.simulated(events, under: Self.settings { $0.scopeLimit = 2 })
    #expect(differences.map(\.kind) == [.start, .refuse] && differences.allSatisfy { $0.field == "scopes.limit" })
    #expect(differences.last?.because == differences.first?.sequence)
    #expect(Self.simulated(events, under: then).differences.isEmpty)
  }
}
