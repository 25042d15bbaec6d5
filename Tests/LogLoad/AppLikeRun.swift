internal import Audit
internal import Foundation
internal import Policy

/// What a machine with some apps writes into its log, without an end: launches, picks, grants, starts and stops, refusals, exits.
/// The entries that go together come together, as the broker writes them. The same seed gives the same run.
struct AppLikeRun {
  /// An app of which there are few entries: one launch in so many.
  static let rareApp = "org.example.rare"
  private static let rareLaunch = 500

  private struct Document {
    let grant: String
    let described: AuditEvent.Document
    var starts = 0
  }

  private struct App {
    let identifier: String
    var instance: String?
    var pid: Int32 = 0
    var documents: [Document] = []
    /// Places in `documents` of those that are started.
    var started: [Int] = []
    var left = 0
  }

  private static let policies: [(name: String, settings: String)] = {
    let library = PolicyLibrary(directories: [])
    return ["default", "editor", "strict", "teach"].compactMap { name in
      (try? library.load(name)).map { (name, $0.settings.text) }
    }
  }()

  private var apps = (0..<24).map { App(identifier: "org.example.app\($0)") } + [App(identifier: rareApp)]
  private var generator: Generator
  /// Microseconds since 1970.
  private var time: Int64
  private let folders = 400
  private let most: Int

  /// - Parameters:
  ///   - start: seconds since 1970.
  ///   - most: the documents that an app keeps at most.
  init(seed: UInt64, start: Int64 = 1_700_000_000, most: Int = 100) {
    generator = Generator(state: seed)
    time = start * 1_000_000
    self.most = most
  }

  /// The next entries that are written in one go.
  mutating func next() -> [AuditEvent] {
    time += Int64(generator.below(2_000_000))
    let place = apps.count - 1 - (generator.below(Self.rareLaunch) == 0 ? 0 : 1 + generator.below(apps.count - 1))
    guard apps[place].instance != nil, apps[place].left > 0 else {
      return apps[place].instance == nil ? launch(place) : exit(place)
    }
    apps[place].left -= 1
    switch generator.below(100) {
    case ..<46: return start(place)
    case ..<92: return stop(place)
    case ..<96: return pick(place)
    case ..<98: return bookmark(place)
    default: return refuse(place)
    }
  }

  // MARK: Entries

  private mutating func launch(_ place: Int) -> [AuditEvent] {
    apps[place].instance = generator.identifier()
    apps[place].pid = Int32(2 + generator.below(4_000_000))
    apps[place].left = 50 + generator.below(400)
    let policy = Self.policies[place % Self.policies.count]
    return [
      event(
        place, .launch,
        detail: [
          AuditEvent.Fact.policy: policy.name, AuditEvent.Fact.limit: "256", AuditEvent.Fact.name: "App \(place)",
          AuditEvent.Fact.settings: policy.settings,
        ])
    ]
  }

  private mutating func exit(_ place: Int) -> [AuditEvent] {
    let ended = apps[place].started.map { started in
      event(
        place, .scopeEnded, document: started, how: AuditEvent.ScopeEnd.app, rule: "TOK-11",
        reason: "the app ended without stopping it", detail: [AuditEvent.Fact.process: "2"])
    }
    for started in apps[place].started { apps[place].documents[started].starts = 0 }
    apps[place].started = []
    let exit = event(place, .exit, detail: [AuditEvent.Fact.status: "0"])
    apps[place].instance = nil
    return ended + [exit]
  }

  private mutating func pick(_ place: Int) -> [AuditEvent] {
    var ended: [AuditEvent] = []
    if apps[place].documents.count >= most {
      guard apps[place].documents[0].starts == 0 else { return stop(place) }
      ended = [event(place, .revoke, document: 0, how: "quota", rule: "LIM-10", reason: "the oldest grant gave way")]
      apps[place].documents.removeFirst()
      apps[place].started = apps[place].started.map { $0 - 1 }
    }
    let number = generator.below(20_000)
    let described = AuditEvent.Document(
      path: "/home/alice/Documents/Project \(number % folders)/Draft \(number).txt",
      volume: "6b1f0c4e2a7d4f0f9c7f5e1f2a3b4c5d", inode: UInt64(3_000_000 + number),
      birth: Date(timeIntervalSince1970: 1_690_000_000 + Double(number)))
    apps[place].documents.append(Document(grant: generator.identifier(), described: described))
    let new = apps[place].documents.count - 1
    return ended + [
      event(place, .pick, document: new, how: "user", detail: [AuditEvent.Fact.documentKind: "file"]),
      event(
        place, .grant, document: new, how: "user",
        detail: [
          AuditEvent.Fact.access: "readWrite", AuditEvent.Fact.documentKind: "file", AuditEvent.Fact.until: "withdrawn",
        ]),
    ]
  }

  private mutating func start(_ place: Int) -> [AuditEvent] {
    guard !apps[place].documents.isEmpty else { return pick(place) }
    let document = generator.below(apps[place].documents.count)
    apps[place].documents[document].starts += 1
    if apps[place].documents[document].starts == 1 { apps[place].started.append(document) }
    return [
      event(
        place, .start, document: document, how: "user",
        detail: [
          AuditEvent.Fact.used: "\(apps[place].started.count)", AuditEvent.Fact.limit: "256",
          AuditEvent.Fact.process: "2", AuditEvent.Fact.access: "readWrite",
          AuditEvent.Fact.caller: "Sources/App/DocumentView.swift:\(document + 20)",
          AuditEvent.Fact.count: "\(apps[place].documents[document].starts)",
        ])
    ]
  }

  private mutating func stop(_ place: Int) -> [AuditEvent] {
    guard !apps[place].started.isEmpty else { return start(place) }
    let position = generator.below(apps[place].started.count)
    let document = apps[place].started[position]
    apps[place].documents[document].starts -= 1
    if apps[place].documents[document].starts == 0 { apps[place].started.remove(at: position) }
    return [
      event(
        place, .stop, document: document,
        detail: [
          AuditEvent.Fact.used: "\(apps[place].started.count)", AuditEvent.Fact.limit: "256",
          AuditEvent.Fact.process: "2", AuditEvent.Fact.count: "\(apps[place].documents[document].starts)",
        ])
    ]
  }

  private mutating func bookmark(_ place: Int) -> [AuditEvent] {
    guard let document = apps[place].started.first else { return start(place) }
    return [event(place, .bookmarkCreated, document: document, detail: [AuditEvent.Fact.scope: "app"])]
  }

  private mutating func refuse(_ place: Int) -> [AuditEvent] {
    var refused = event(
      place, .refuse, how: "observed", rule: "SBX-2", reason: "it is outside",
      detail: [
        AuditEvent.Fact.operation: "read /home/alice/Documents/Project \(generator.below(folders))/notes.txt",
        "remedy": "the user picks it",
      ])
    refused.result = .refused
    return [refused]
  }

  private func event(
    _ place: Int, _ kind: AuditEvent.Kind, document: Int? = nil, how: String? = nil, rule: String? = nil,
    reason: String? = nil, detail: [String: String] = [:]
  ) -> AuditEvent {
    let app = apps[place]
    let document = document.map { app.documents[$0] }
    return AuditEvent(
      kind, time: Timestamp(microseconds: time).date, app: app.identifier, instance: app.instance, pid: app.pid,
      grant: document?.grant, document: document?.described, how: how, rule: rule, reason: reason, detail: detail)
  }
}

/// SplitMix64: quick, and the same everywhere.
private struct Generator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// Ten letters, as grants and launches have.
  mutating func identifier() -> String {
    String(decoding: (0..<10).map { _ in UInt8(ascii: "a") + UInt8(below(26)) }, as: UTF8.self)
  }
}
