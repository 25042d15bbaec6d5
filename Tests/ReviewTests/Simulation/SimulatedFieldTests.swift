import Audit
import Foundation
import Policy
import Review
import Testing

@Suite("Each field of a policy, alone, over one story")
struct SimulatedFieldTests {
  /// An app is granted a text and a folder, starts and bookmarks the text, hands a descriptor out, passes it on, keeps it open,
  /// saves it, is told where it lies, is launched again and finds it by bookmark and by reference.
  private func story(under settings: PolicySettings) -> [AuditEvent] {
    let (a, b) = ("org.example.A", "org.example.B")
    let text = AuditEvent.Document(path: "/home/alice/plan.txt", volume: "0a", inode: 5)
    let folder = AuditEvent.Document(path: "/home/alice/Papers", volume: "0a", inode: 6)
    let launched = ["settings": settings.text, "policy": "p", "entitlements": "passGrants"]
    let scope = ["process": "2", "access": "readWrite", "limit": "256", "used": "1"]
    var events: [AuditEvent] = []
    func add(
      _ kind: AuditEvent.Kind, _ app: String, _ instance: String?, _ grant: String? = nil,
      _ document: AuditEvent.Document? = nil,
      how: String? = nil, rule: String? = nil, facts detail: [String: String] = [:]
    ) {
      events.append(
        AuditEvent(
          kind, time: Date(timeIntervalSince1970: 1_750_000_000 + Double(events.count) * 60), app: app,
          instance: instance, grant: grant, document: document, how: how, rule: rule, detail: detail,
          sequence: Int64(events.count + 1)))
    }
    add(.brokerStarted, "", nil)
    add(.launch, a, "i", facts: launched)  // 2
    add(.launch, b, "j", facts: launched)
    add(.pick, a, "i", "g", text, how: "user", facts: ["kind": "file"])  // 4
    add(.grant, a, "i", "g", text, how: "user", facts: ["access": "readWrite", "kind": "file"])
    add(.reference, a, "i", "g", text, facts: ["name": "plan.txt.ambitref"])  // 6
    add(.pick, a, "i", "f", folder, how: "user", facts: ["kind": "folder"])
    add(.grant, a, "i", "f", folder, how: "user", facts: ["access": "readOnly", "kind": "folder"])  // 8
    add(.start, a, "i", "g", text, how: "user", facts: scope.merging(["count": "1"]) { $1 })
    add(.bookmarkCreated, a, "i", "g", text, facts: ["scope": "implicit", "access": "readWrite"])  // 10
    add(.descriptor, a, "i", "g", text, facts: ["access": "readWrite"])
    add(.passed, a, "i", "g", text, facts: ["to": b, "access": "readOnly", "child": "h"])  // 12
    add(
      .grant, b, "j", "h", text, how: "passed", facts: ["access": "readOnly", "kind": "file", "parent": "g", "by": a])
    add(.replaced, a, "i", "g", text, how: "app", facts: ["oldInode": "5", "newInode": "9"])  // 14
    add(.hostPath, a, "i", "g", text, facts: ["known": "true"])
    add(.stop, a, "i", "g", text, facts: ["process": "2", "count": "0"])  // 16
    add(.outlived, a, "i", "g", text, rule: "TOK-16", facts: ["holders": "process 2 can read"])
    add(.exit, a, "i", facts: ["status": "0"])  // 18
    add(.launch, a, "k", facts: launched)
    add(
      .bookmarkResolved, a, "k", "g", text,
      facts: ["scope": "implicit", "made": Timestamp(events[9].time).text, "matchedBy": "identity"])  // 20
    add(.referenceResolved, a, "k", "g", text)
    add(.start, a, "k", "g", text, how: "bookmark", facts: scope.merging(["count": "1"]) { $1 })  // 22
    add(.start, b, "j", "h", text, how: "passed", facts: scope.merging(["count": "1", "access": "readOnly"]) { $1 })
    return events
  }

  private func differences(
    _ then: PolicySettings = telling, to now: (inout PolicySettings) -> Void
  ) -> (list: [String], gaps: SimulationGaps) {
    var settings = then
    now(&settings)
    var simulation = Simulation(
      policy: Policy(name: "other", file: "", description: nil, lineage: [], settings: settings))
    let found = story(under: then).flatMap { simulation.take($0) }
    return (found.map { "\($0.sequence) \($0.outcome.rawValue)" }, simulation.gaps)
  }

  private static var telling: PolicySettings {
    var settings = PolicySettings.closed
    settings.tellsHostPaths = true
    return settings
  }

  @Test("No more comes out differently than was judged")
  func judged() {
    // Handed over, and nothing else: it would have been for reading, and have ended before the next entry.
    var events = story(under: Self.telling).filter { [2, 5, 18].contains($0.sequence) }
    events[1].how = "cli"
    var settings = Self.telling
    settings.access = .readOnly
    settings.lifetime = GrantLifetime(seconds: 1)
    var simulation = Simulation(
      policy: Policy(name: "other", file: "", description: nil, lineage: [], settings: settings))
    let found = events.flatMap { simulation.take($0) }
    #expect(found.map(\.outcome) == [.narrowed, .ended] && simulation.judged == 2)
  }

  @Test("Nothing differs under the same one")
  func same() {
    let (list, gaps) = differences { _ in }
    #expect(list.isEmpty && gaps.isEmpty)
  }

  @Test("Exactly what a field decides comes out differently, and what follows from it")
  func each() {
    let expected: [(String, (inout PolicySettings) -> Void, [String])] = [
      ("host_paths", { $0.tellsHostPaths = false }, ["15 refused"]),
      ("folders", { $0.picker.folders = false }, ["7 refused", "8 refused"]),
      ("outlived", { $0.outlived = .end }, ["17 ended"]),
      ("references", { $0.references = false }, ["6 refused", "21 refused"]),
      ("pass", { $0.passing = .none }, ["12 refused", "13 refused", "23 refused"]),
      ("bookmark lifetime", { $0.bookmarks.lifetime = 300 }, ["20 refused"]),
      ("implicit", { $0.bookmarks.implicit = false }, ["10 refused", "20 refused"]),
      ("create", { $0.bookmarks.create = false }, ["10 refused", "20 refused"]),
      (
        "access", { $0.access = .readOnly },
        ["5 narrowed", "9 narrowed", "11 refused", "14 refused", "22 narrowed"]
      ),
      // Two grants, then the third: the one that was passed on is another app's.
      ("persisted", { $0.persisted = .refusing(1) }, ["8 refused"]),
      (
        "lifetime", { $0.lifetime = GrantLifetime(seconds: 600) },
        // Decided with entry 4 and 7 and 13: over before 15, 18, and 24.
        ["14 ended", "14 ended", "15 refused", "17 ended", "20 refused", "21 refused", "22 refused", "23 refused"]
      ),
      (
        "launch", { $0.lifetime = GrantLifetime(withLaunch: true) },
        ["18 ended", "18 ended", "18 ended", "20 refused", "21 refused", "22 refused", "23 refused"]
      ),
      (
        "types", { $0.picker.types = .only(["pdf"]) },
        [
          "4 refused", "5 refused", "9 refused", "10 refused", "11 refused", "12 refused", "13 refused", "14 refused",
          "15 refused", "20 refused", "21 refused", "22 refused", "23 refused",
        ]
      ),
    ]
    for (name, change, outcome) in expected {
      let (list, gaps) = differences(to: change)
      #expect(list == outcome, "\(name)")
      #expect(gaps.isEmpty, "\(name): \(gaps)")
    }
  }

  @Test("A policy that allows more allows what the one of then refused")
  func more() {
    var strict = Self.telling
    strict.tellsHostPaths = false
    strict.outlived = .end
    var events = story(under: strict)
    events[14].result = .refused
    events[16].result = .refused
    var open = strict
    open.tellsHostPaths = true
    open.outlived = .allow
    var simulation = Simulation(policy: Policy(name: "o", file: "", description: nil, lineage: [], settings: open))
    let found = events.flatMap { simulation.take($0) }.map { "\($0.sequence) \($0.outcome.rawValue)" }
    #expect(found == ["15 allowed", "17 kept"])
    #expect(!simulation.gaps.decisions.isEmpty)
  }

  @Test("What a log cannot tell is counted by name, and nothing is judged in silence")
  func gaps() {
    let (list, gaps) = differences {
      $0.seccompProfile = "/profiles/tight.json"
      $0.limits.memory = .bytes(1 << 20)
      $0.network = .host
    }
    #expect(list.isEmpty)
    #expect(gaps.fields == ["seccomp.profile": 3, "limits.memory": 3])
    #expect(
      gaps.decisions == [
        "launches that had no network and were not observed: sockets that they were refused are not in the log": 3
      ])
    // Every field is either judged or named.
    #expect(Simulation.judgedFields.isSubset(of: Set(PolicyField.all.map(\.name))))
    // A log whose launches do not say their policy: they are counted.
    var simulation = Simulation(
      policy: Policy(name: "other", file: "", description: nil, lineage: [], settings: .closed))
    var old = story(under: .closed)
    for index in old.indices { old[index].detail["settings"] = nil }
    #expect(old.flatMap { simulation.take($0) }.isEmpty && simulation.gaps.launches == 3)
  }
}
